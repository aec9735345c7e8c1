//! One requirement in full: what it says, how it is attacked, what the control is, and what the last run saw.

use crate::{
    page::{Page, Style, Tone},
    results::{CheckResult, ControlKind, Level, Subject},
    text::seeing,
    words,
};

/// What `watertight explain ID` tells about one requirement.
#[derive(Clone, Debug)]
pub struct ExplainInput<'a> {
    pub id: &'a str,
    pub slug: &'a str,
    /// The smallest profile that has it.
    pub profile: &'a str,
    pub level: Level,
    pub subject: Subject,
    /// The normative sentence.
    pub sentence: &'a str,
    /// What `CONFORMANCE.md` says beyond it: why it matters, how it was broken before. Paragraphs by empty lines.
    pub paragraph: &'a str,
    /// Name within the check, and what is done.
    pub attempts: Vec<(String, String)>,
    pub control: ControlKind,
    /// What closes a failure of it, for whoever maintains the target.
    pub closes: &'a str,
    /// Slug, and what is wrong with it.
    pub mutants: Vec<(String, String)>,
    /// What a manifest may declare absent so that it does not apply, if anything.
    pub waived_by: Option<&'a str>,
    pub target: Option<Says<'a>>,
    /// Its result in the last run, sanitised.
    pub last: Option<&'a CheckResult>,
}

/// What a target's manifest says about one requirement.
#[derive(Clone, Debug)]
pub struct Says<'a> {
    /// The target's.
    pub name: &'a str,
    pub lines: Vec<String>,
    /// The words of the command that makes the attempts through this target.
    pub by_hand: Vec<String>,
}

/// Shows it.
pub fn render(input: &ExplainInput<'_>, style: &Style) -> String {
    let mut page = Page::new(style);
    page.labelled(0, (&format!("{}  ", input.id), Tone::Strong), input.slug);
    let kind =
        format!("{}, about {}, profile {}", words::level(input.level), words::about(input.subject), input.profile);
    page.paragraph(0, Tone::Faint, &kind);
    page.gap();
    page.paragraph(2, Tone::Strong, input.sentence);
    for paragraph in input.paragraph.split("\n\n").filter(|text| !text.trim().is_empty()) {
        page.gap();
        page.paragraph(2, Tone::Plain, &paragraph.replace('\n', " "));
    }
    attempts(&mut page, input);
    heading(&mut page, "Control");
    page.paragraph(2, Tone::Plain, words::control(input.control));
    if !input.closes.is_empty() {
        heading(&mut page, "What closes a failure");
        page.paragraph(2, Tone::Plain, input.closes);
    }
    mutants(&mut page, input);
    waiver(&mut page, input);
    if let Some(says) = &input.target {
        heading(&mut page, &format!("Target {}", says.name));
        says.lines.iter().for_each(|line| page.paragraph(2, Tone::Plain, line));
        page.paragraph(2, Tone::Plain, "Without manifest, controls and verdict, both sides of its attempts:");
        page.command(4, &says.by_hand);
    }
    heading(&mut page, "Last run");
    match input.last {
        Some(check) => last(&mut page, check),
        None => {
            let how =
                format!("none known; `watertight check --profile {} --filter {}` makes one", input.profile, input.id);
            page.paragraph(2, Tone::Plain, &how);
        }
    }
    page.finish()
}

fn heading(page: &mut Page, text: &str) {
    page.gap();
    page.paragraph(0, Tone::Strong, text);
}

fn attempts(page: &mut Page, input: &ExplainInput<'_>) {
    heading(page, "Attempts");
    if input.attempts.is_empty() {
        page.paragraph(2, Tone::Plain, "none inside: what is judged is seen from outside");
    }
    let widest = input.attempts.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).min(28);
    for (name, description) in &input.attempts {
        page.hanging(2, (&format!("{name:<widest$}  "), Tone::Plain), widest + 4, description);
    }
}

fn mutants(page: &mut Page, input: &ExplainInput<'_>) {
    heading(page, "Mutants");
    if input.mutants.is_empty() {
        page.paragraph(2, Tone::Plain, "none of its own");
        return;
    }
    page.paragraph(2, Tone::Plain, "Broken copies of the reference on which this check must fail:");
    let widest = input.mutants.iter().map(|(slug, _)| slug.chars().count()).max().unwrap_or(0).min(34);
    for (slug, sentence) in &input.mutants {
        page.hanging(2, (&format!("{slug:<widest$}  "), Tone::Plain), 4, sentence);
    }
}

fn waiver(page: &mut Page, input: &ExplainInput<'_>) {
    heading(page, "Waiver");
    let words = match input.waived_by {
        Some(capability) => {
            format!("a manifest that declares `{capability}` absent, with a reason, makes it not applicable")
        }
        None => "none: it applies to every target".into(),
    };
    page.paragraph(2, Tone::Plain, &words);
}

fn last(page: &mut Page, check: &CheckResult) {
    let label = format!("{}  ", words::verdict(check.verdict));
    page.labelled(2, (&label, words::tone(check.verdict)), words::seen(check.seen));
    for reason in &check.reason {
        page.labelled(2, ("why        ", Tone::Faint), reason);
    }
    for seen in &check.observations {
        seeing(page, 2, seen, check.control);
    }
    for witness in &check.witness {
        page.labelled(2, ("witness    ", Tone::Faint), witness);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn a_requirement_is_explained_with_attack_control_mutants_and_last_evidence() {
        let results = testing::vsock_failed();
        let last = results.checks.iter().find(|check| check.id == "EGRESS-14");
        insta::assert_snapshot!(render(&testing::explained(last), &Style::default()));
    }

    #[test]
    fn what_is_not_there_is_said() {
        let input = ExplainInput { attempts: vec![], mutants: vec![], paragraph: "", ..testing::explained(None) };
        insta::assert_snapshot!(render(&input, &Style::default()));
    }

    #[test]
    fn a_waiver_and_a_target_are_told() {
        let lines = vec!["It declares nothing absent that would waive it.".to_owned()];
        let by_hand = ["watertight", "try", "ROUTE-2", "--", "bwrap", "{probe}"].map(str::to_owned).into();
        let target = Some(Says { name: "bubblewrap", lines, by_hand });
        let input = ExplainInput { waived_by: Some("instance"), target, ..testing::explained(None) };
        let text = render(&input, &Style { width: 200, ..Style::default() });
        assert!(text.contains("declares `instance` absent, with a reason, makes it not applicable"), "{text}");
        assert!(text.contains("Target bubblewrap\n  It declares nothing"), "{text}");
        assert!(text.contains("\n    watertight try ROUTE-2 -- bwrap '{probe}'\n"), "{text}");
    }

    #[test]
    fn hostile_evidence_stays_on_lines_of_ours() {
        for hostile in &testing::hostile() {
            let mut results = testing::every_text(hostile);
            crate::sanitise::results(&mut results);
            let text = render(&testing::explained(results.checks.first()), &Style::default());
            for line in text.lines() {
                assert!(!line.trim_start().starts_with("::") && !line.contains(char::is_control), "{line:?}");
            }
        }
    }
}

//! One page for a reviewer. It needs no script and loads nothing: whatever a sandbox wrote, it stays text.

mod facts;
mod requirement;

use super::{
    markup::Markup,
    run::{Run, Weight, class},
};
use crate::{
    results::{CheckResult, Results, Status, Verdict},
    text, words,
};

const STYLE: &str = include_str!("style.css");
/// Nothing is loaded or executed, even if some text became markup.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

pub(super) fn render(run: Run<'_>) -> String {
    let results = run.results;
    let mut page = Markup::new("<!doctype html>\n");
    page.inside("html", &[("lang", "en")], |page| {
        page.line();
        let title = format!("{}: {} (Watertight)", results.target.name, status(results.status));
        page.inside("head", &[], |page| head(page, &title, POLICY, STYLE));
        page.line();
        page.inside("body", &[], |page| {
            verdict(page, run);
            page.inside("main", &[], |page| body(page, run));
            footer(page, run);
        });
        page.line();
    });
    page.finish()
}

/// The head of a page that loads nothing but what `policy` lets it.
pub(super) fn head(page: &mut Markup, title: &str, policy: &'static str, style: &'static str) {
    page.void("meta", &[("charset", "utf-8")]);
    page.void("meta", &[("http-equiv", "Content-Security-Policy"), ("content", policy)]);
    page.void("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")]);
    page.void("meta", &[("name", "color-scheme"), ("content", "light dark")]);
    page.void("meta", &[("name", "referrer"), ("content", "no-referrer")]);
    page.element("title", &[], title);
    page.line();
    page.inside("style", &[], |page| page.trusted(style));
}

fn body(page: &mut Markup, run: Run<'_>) {
    facts::write(page, run);
    not_claimed(page, run);
    glance(page, run);
    let checks = run.worst_first();
    let of = |wanted: &[Weight]| -> Vec<&CheckResult> {
        checks.iter().copied().filter(|check| wanted.contains(&Weight::of(check))).collect()
    };
    list(page, run, "What does not hold, or was not judged", &of(&[Weight::Red]));
    list(page, run, "Recommendations that do not hold, or were not judged", &of(&[Weight::Told]));
    facts::edits(page, run);
    list(page, run, "Not applicable, as the manifest declares", &of(&[Weight::Waived]));
    list(page, run, "What passed", &of(&[Weight::Passed]));
}

/// What everybody reads, and many read nothing else.
fn verdict(page: &mut Markup, run: Run<'_>) {
    let results = run.results;
    page.line();
    page.inside("header", &[("class", &format!("top {}", class(results.status)))], |page| {
        page.element("p", &[("class", "eyebrow")], "Watertight conformance report");
        let name = &results.target.name;
        page.element("h1", &[], if name.is_empty() { "a target without a name" } else { name });
        page.element("p", &[("class", "status")], status(results.status));
        page.element("p", &[("class", "lead")], &text::plainly(results));
        page.element("p", &[("class", "line")], &results.status_line());
        warnings(page, run);
        counts(page, results);
    });
}

fn status(status: Status) -> &'static str {
    match status {
        Status::Conformant => "Conformant",
        Status::Nonconformant => "Nonconformant",
        Status::Incomplete => "Incomplete",
    }
}

/// What takes weight from the verdict stands beside it.
fn warnings(page: &mut Markup, run: Run<'_>) {
    let results = run.results;
    if let Some(why) = run.unfinished() {
        page.element("p", &[("class", "warning")], &format!("Incomplete: {why}."));
    }
    let uncaught = results.uncaught().count();
    if uncaught > 0 {
        let edits = words::number(results.sensitivity.len(), "edit");
        let text = format!(
            "Its passes say less than they seem to: of {edits} that open it, {uncaught} {} not caught as declared.",
            if uncaught == 1 { "was" } else { "were" }
        );
        page.element("p", &[("class", "warning")], &text);
    }
}

fn counts(page: &mut Markup, results: &Results) {
    let counts = &results.counts;
    page.inside("dl", &[("class", "counts")], |page| {
        for (number, name, tone) in [
            (counts.fail, "failed", "bad"),
            (counts.harness_error, "harness error", "bad"),
            (counts.inconclusive, "inconclusive", "doubt"),
            (counts.should_fail, "SHOULD failed", "doubt"),
            (counts.not_applicable, "not applicable", "idle"),
            (counts.pass, "passed", "good"),
        ] {
            let class = if number == 0 { "none" } else { tone };
            page.inside("div", &[("class", class)], |page| {
                page.element("dt", &[], name);
                page.element("dd", &[], &number.to_string());
            });
        }
    });
}

fn not_claimed(page: &mut Markup, run: Run<'_>) {
    let list = &run.context.suite.not_claimed;
    if list.is_empty() {
        return;
    }
    section(page, "What is not claimed", |page| {
        page.element("p", &[], "That a target is conformant says nothing about:");
        page.inside("ul", &[("class", "columns")], |page| {
            list.iter().for_each(|one| page.inside("li", &[], |page| prose(page, one)));
        });
    });
}

/// Every requirement as one mark, by area, with a way to it.
fn glance(page: &mut Markup, run: Run<'_>) {
    let areas = text::by_area(&run.results.checks);
    if areas.is_empty() {
        return;
    }
    section(page, "At a glance", |page| {
        page.inside("dl", &[("class", "areas")], |page| {
            for (area, checks) in areas {
                let passed = checks.iter().filter(|check| check.verdict == Verdict::Pass).count();
                page.inside("div", &[], |page| {
                    page.inside("dt", &[], |page| {
                        page.text(area);
                        page.element("small", &[], &format!(" {passed} of {}", checks.len()));
                    });
                    page.inside("dd", &[], |page| checks.iter().for_each(|check| mark(page, check)));
                });
            }
        });
    });
}

fn mark(page: &mut Markup, check: &CheckResult) {
    let number = check.id.rsplit('-').next().unwrap_or_default();
    let title = format!("{} {}", check.id, words::verdict(check.verdict));
    let class = format!("mark {}", tone(check));
    match anchor(check) {
        Some(id) => {
            let attributes = [("class", class.as_str()), ("href", &format!("#{id}")), ("title", &title)];
            page.element("a", &attributes, number);
        }
        None => page.element("span", &[("class", &class), ("title", &title)], number),
    }
}

/// Where a link can lead: an id as `CONFORMANCE.md` has them.
fn anchor(check: &CheckResult) -> Option<&str> {
    let (area, number) = check.id.split_once('-')?;
    let plain = !area.is_empty() && area.bytes().all(|byte| byte.is_ascii_uppercase());
    (plain && number.parse::<u32>().is_ok_and(|parsed| parsed.to_string() == number)).then_some(check.id.as_str())
}

fn tone(check: &CheckResult) -> &'static str {
    match (Weight::of(check), check.verdict) {
        (Weight::Red, Verdict::Fail | Verdict::HarnessError) => "bad",
        (Weight::Red | Weight::Told, _) => "doubt",
        (Weight::Passed, _) => "good",
        (Weight::Waived, _) => "idle",
    }
}

fn list(page: &mut Markup, run: Run<'_>, heading: &str, checks: &[&CheckResult]) {
    if checks.is_empty() {
        return;
    }
    section(page, heading, |page| {
        if checks.iter().all(|check| matches!(Weight::of(check), Weight::Passed | Weight::Waived)) {
            page.element(
                "p",
                &[("class", "meta")],
                "Each opens: every attempt with both sides, the control, the mutants.",
            );
        }
        checks.iter().for_each(|check| requirement::write(page, run, check));
    });
}

fn section(page: &mut Markup, heading: &str, fill: impl FnOnce(&mut Markup)) {
    page.line();
    page.inside("section", &[], |page| {
        page.element("h2", &[], heading);
        fill(page);
    });
}

/// Characters of a text that stand there before its reader asks for the rest.
const SHOWN: usize = 240;

/// A text that may be long: whole, and where it is, behind its beginning.
fn long(page: &mut Markup, text: &str) {
    if text.chars().count() <= SHOWN + SHOWN / 2 {
        return page.text(text);
    }
    page.inside("details", &[("class", "long plain")], |page| {
        page.inside("summary", &[], |page| {
            page.element("span", &[], &text.chars().take(SHOWN).chain(['…', ' ']).collect::<String>());
            page.element("b", &[], "all of it");
        });
        page.text(text);
    });
}

/// A sentence of `CONFORMANCE.md`, whose only markup is code in backticks.
fn prose(page: &mut Markup, text: &str) {
    if text.matches('`').count() % 2 == 1 {
        return page.text(text);
    }
    for (index, part) in text.split('`').enumerate() {
        if index % 2 == 1 { page.element("code", &[], part) } else { page.text(part) }
    }
}

fn footer(page: &mut Markup, run: Run<'_>) {
    page.line();
    page.inside("footer", &[], |page| {
        let program = &run.context.suite.program;
        page.inside("p", &[], |page| {
            page.text(&format!("Shown by watertight {program} from the results document. To repeat the run: "));
            let target = text::argument(&run.results.target.name);
            let profile = text::argument(run.profile());
            page.element("code", &[], &format!("watertight check {target} --profile {profile}"));
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{render::tests::shown, testing};

    #[test]
    fn a_page_is_shown_whole() {
        let page = shown(&testing::small(), render);
        insta::assert_snapshot!(page.replace(STYLE, "").replace("><", ">\n<"));
    }

    #[test]
    fn of_attempts_those_that_speak_against_the_verdict_come_first() {
        let mut results = testing::small();
        results.checks[0].observations.reverse();
        let page = shown(&results, render);
        let at = |name: &str| page.find(&format!("<code>{name}</code>")).expect("an attempt");
        assert!(at("stream") < at("seqpacket") && at("datagram") < at("seqpacket"));
    }

    #[test]
    fn every_requirement_stands_on_the_page_once_and_can_be_linked_to() {
        let results = testing::mixed();
        let page = shown(&results, render);
        for check in &results.checks {
            assert_eq!(page.matches(&format!(" id=\"{}\"", check.id)).count(), 1, "{}", check.id);
            assert_eq!(page.matches(&format!(" href=\"#{}\"", check.id)).count(), 1, "{}", check.id);
        }
    }

    #[test]
    fn failures_are_open_and_come_before_what_passed() {
        let page = shown(&testing::mixed(), render);
        let at = |id: &str| page.find(&format!("<details id=\"{id}\"")).expect(id);
        assert!(at("EGRESS-5") < at("AUTH-2") && at("AUTH-2") < at("DNS-1") && at("DNS-1") < at("PRIV-3"));
        assert!(at("PRIV-3") < at("ROUTE-3") && at("ROUTE-3") < at("ROUTE-1"));
        assert!(page.contains("<details id=\"EGRESS-5\" class=\"bad\" open=\"\">"));
        assert!(page.contains("<details id=\"ROUTE-1\" class=\"good\">"));
    }

    #[test]
    fn it_is_one_file_without_scripts_that_loads_nothing() {
        let page = shown(&testing::mixed(), render);
        assert!(page.contains(&POLICY.replace('\'', "&#39;")));
        for loads in ["<script", "<link", "<img", "<iframe", " src=", "url(", "@import", " onload", "http:", "https:"] {
            assert!(!page.contains(loads), "{loads}");
        }
    }

    #[test]
    fn a_long_text_is_there_whole_behind_its_beginning() {
        let mut results = testing::small();
        results.checks[0].observations[0].inside = "word ".repeat(200);
        let page = shown(&results, render);
        assert!(page.contains(&"word ".repeat(200)));
        assert_eq!(page.matches("<details class=\"long plain\">").count(), 1);
    }

    #[test]
    fn what_takes_weight_from_the_verdict_stands_beside_it() {
        let mut results = testing::green();
        let warnings = |results: &Results| shown(results, render).matches("class=\"warning\"").count();
        assert_eq!(warnings(&results), 0);
        results.sensitivity = testing::edits();
        assert_eq!(warnings(&results), 1);
        results.status = Status::Incomplete;
        assert_eq!(warnings(&results), 2);
    }

    #[test]
    fn an_anchor_is_an_id_of_the_catalogue_and_nothing_else() {
        let of = |id: &str| anchor(&CheckResult { id: id.into(), ..testing::green().checks[0].clone() }).is_some();
        assert!(of("EGRESS-14"));
        for id in ["", "-", "EGRESS", "EGRESS-014", "EGRESS-+4", "egress-1", "A-1 x", "</a>-1"] {
            assert!(!of(id), "{id}");
        }
    }
}

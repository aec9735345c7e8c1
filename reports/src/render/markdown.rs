//! Markdown (CommonMark with GitHub's tables). What a sandbox wrote stands in code spans, where nothing is markup.

use std::time::Duration;

use super::run::{Run, Weight, control, outcome};
use crate::{
    mutants::Mutant,
    results::{CheckResult, Fact, Verdict},
    text, words,
};

/// A part that can be left out where there is no room, and whether a requirement is told in it.
pub(super) struct Block {
    pub text: String,
    pub requirement: bool,
}

pub(super) fn render(run: Run<'_>) -> String {
    blocks(run).into_iter().map(|block| block.text).collect()
}

/// The document in parts, what matters most first. Together they are all of it.
pub(super) fn blocks(run: Run<'_>) -> Vec<Block> {
    let mut blocks = vec![aside(head(run)), aside(not_claimed(run))];
    let checks = run.worst_first();
    let (trouble, quiet): (Vec<_>, Vec<_>) =
        checks.into_iter().partition(|check| matches!(Weight::of(check), Weight::Red | Weight::Told));
    if !trouble.is_empty() {
        blocks.push(aside("\n## What does not hold or was not judged\n".into()));
    }
    blocks.extend(trouble.into_iter().map(|check| Block { text: one(run, check), requirement: true }));
    if !run.results.sensitivity.is_empty() {
        blocks.push(aside("\n## Edits of this target that open it\n\n".into()));
        blocks.extend(run.results.sensitivity.iter().map(|mutant| aside(edit(mutant))));
    }
    if !quiet.is_empty() {
        let head = "\n## What passed or does not apply\n\n\
                    | requirement | verdict | what it says | attempts | seen | mutants |\n\
                    | --- | --- | --- | --- | --- | --- |\n";
        blocks.push(aside(head.into()));
        blocks.extend(quiet.into_iter().map(|check| Block { text: row(run, check), requirement: true }));
    }
    blocks
}

fn aside(text: String) -> Block {
    Block { text, requirement: false }
}

fn head(run: Run<'_>) -> String {
    let results = run.results;
    let mut text = format!(
        "# Watertight: {}\n\n**{}**\n\n{}\n\n",
        escaped(&results.target.name),
        escaped(&results.status_line()),
        escaped(&text::plainly(results))
    );
    let mut fact = |name: &str, value: String| text.push_str(&format!("- {name}: {value}\n"));
    if let Some(why) = run.unfinished() {
        fact("**incomplete**", code(&why));
    }
    let uncaught: Vec<_> = results.uncaught().map(|mutant| code(&mutant.slug)).collect();
    if !uncaught.is_empty() {
        fact("**edits that open it and were not caught as declared**", uncaught.join(", "));
    }
    fact("counts", words::counts(&results.counts));
    fact("target", format!("{}, version {}", code(&results.target.name), code(&results.target.version)));
    fact("route", code(&results.target.route));
    fact("launched as", code(&results.target.launched_as));
    fact(
        "signed",
        match run.context.signature {
            Some(signature) => {
                let keys: Vec<_> = signature.keys.iter().map(|key| code(key)).collect();
                format!(
                    "statement {} by {}, as the bundle says; `watertight verify` tells whether it holds",
                    code(&format!("sha256:{}", signature.statement)),
                    keys.join(", ")
                )
            }
            None => "this document is not; a bundle that `watertight verify` accepts vouches for its run".into(),
        },
    );
    for (name, known) in &results.environment {
        match known {
            Fact::Known(value) => fact(&escaped(name), code(value)),
            Fact::Unavailable(why) => fact(&escaped(name), format!("not known: {}", code(why))),
        }
    }
    fact("spec", format!("{}, profile {}", code(&results.spec), code(&results.profile)));
    let elapsed = text::elapsed(Duration::from_millis(results.wall_ms));
    fact("run", format!("{}, {elapsed}, exit status {}", code(&results.started_at), results.exit_code()));
    let untestable: Vec<_> = results.untestable.iter().map(|attempt| code(attempt)).collect();
    fact("untestable here", if untestable.is_empty() { "nothing".into() } else { untestable.join(", ") });
    text
}

fn not_claimed(run: Run<'_>) -> String {
    let list = &run.context.suite.not_claimed;
    if list.is_empty() {
        return String::new();
    }
    let each: String = list.iter().map(|one| format!("- {one}\n")).collect();
    format!("\n## What is not claimed\n\nThat a target is conformant says nothing about:\n\n{each}")
}

/// One result in full.
fn one(run: Run<'_>, check: &CheckResult) -> String {
    let mut text = format!(
        "\n### {} {} {}\n\n{}\n\n{}, {}, {}\n\n",
        words::verdict(check.verdict),
        escaped(&check.id),
        code(&check.slug),
        sentence(run, check),
        words::level(check.level),
        words::subject(check.subject),
        words::seen(check.seen),
    );
    for reason in &check.reason {
        text.push_str(&format!("- why: {}\n", code(reason)));
    }
    for seen in text::relevant(check) {
        text.push_str(&format!(
            "- attempt {}{}\n  - inside: {}\n  - outside: {}\n  - control: {}\n",
            code(&seen.attempt),
            outcome(seen),
            code(&seen.inside),
            code(&seen.outside),
            code(control(check, seen)),
        ));
    }
    for line in &check.witness {
        text.push_str(&format!("- witness: {}\n", code(line)));
    }
    if !check.mutants.is_empty() {
        text.push_str(&format!("- mutants: {}\n", mutants(run, check)));
    }
    if let Some(closes) = run.closes(check) {
        text.push_str(&format!("- what closes it: {}\n", escaped(closes)));
    }
    text.push_str(&format!("- next: {}\n", code(&format!("watertight explain {}", check.id))));
    text
}

/// A requirement that passed or is waived, in one row.
fn row(run: Run<'_>, check: &CheckResult) -> String {
    let why = match check.verdict {
        Verdict::NotApplicable => format!(" ({})", escaped(&check.reason.join("; "))),
        Verdict::Pass | Verdict::Fail | Verdict::Inconclusive | Verdict::HarnessError => String::new(),
    };
    let sentence = match run.requirement(&check.id) {
        // Its own Markdown stays, but for what ends a cell.
        Some(known) => known.sentence.replace('|', "\\|"),
        None => escaped(&check.slug),
    };
    let mutants: Vec<_> = check.mutants.iter().map(|slug| fated(run, slug, escaped(slug))).collect();
    format!(
        "| {} | {}{why} | {sentence} | {} | {} | {} |\n",
        escaped(&check.id),
        words::verdict(check.verdict),
        check.observations.len(),
        words::seen(check.seen),
        mutants.join(", "),
    )
}

fn sentence(run: Run<'_>, check: &CheckResult) -> String {
    run.requirement(&check.id).map_or_else(|| escaped(&check.slug), |known| known.sentence.clone())
}

fn mutants(run: Run<'_>, check: &CheckResult) -> String {
    let each = check.mutants.iter().map(|slug| fated(run, slug, code(slug)));
    each.collect::<Vec<_>>().join(", ")
}

fn fated(run: Run<'_>, slug: &str, shown: String) -> String {
    run.fate(slug).map_or(shown.clone(), |fate| format!("{shown} ({fate})"))
}

fn edit(mutant: &Mutant) -> String {
    let kills: Vec<_> = mutant.kills.iter().map(|id| code(id)).collect();
    let mut text = format!(
        "- {} {}: {}; failed on it: {}\n",
        mutant.status.name().to_uppercase(),
        code(&mutant.slug),
        code(&mutant.sentence),
        if kills.is_empty() { "nothing".into() } else { kills.join(", ") },
    );
    let missed: Vec<_> = mutant.missed().map(code).collect();
    if !missed.is_empty() {
        text.push_str(&format!("  - did not fail: {}\n", missed.join(", ")));
    }
    let lines = mutant.error.iter().map(|why| format!("why: {}", code(why)));
    let more = mutant.unclear.iter().map(|unclear| format!("not judged: {}", code(unclear)));
    let collateral = mutant
        .collateral()
        .map(|id| format!("must not fail: {}: {}", code(id), code(mutant.reasons.get(id).map_or("", String::as_str))));
    lines.chain(more).chain(collateral).for_each(|line| text.push_str(&format!("  - {line}\n")));
    text
}

/// The text as a code span, whatever backticks are in it.
pub(super) fn code(text: &str) -> String {
    if text.is_empty() {
        return "(empty)".into();
    }
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    // A space on both sides is taken away again; it keeps a backtick from the fence.
    let stripped = text.starts_with(' ') && text.ends_with(' ') && !text.trim().is_empty();
    let pad = if text.starts_with('`') || text.ends_with('`') || stripped { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// The text with every character escaped that could be markup where it stands: of a list, a link, an element or a cell.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        let markup = match character {
            '.' => out.ends_with("www") || numbers(&out),
            ')' => numbers(&out),
            '/' => out.ends_with(':'),
            '-' => out.is_empty(),
            ',' | ';' | ':' | '\'' | '"' | '(' => false,
            other => other.is_ascii_punctuation(),
        };
        if markup {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

/// Digits alone, as before the dot of a numbered list.
fn numbers(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{render::tests::shown, testing};

    #[test]
    fn a_document_is_shown_whole() {
        insta::assert_snapshot!(shown(&testing::small(), render));
    }

    #[test]
    fn every_requirement_is_told_once() {
        let results = testing::mixed();
        let text = shown(&results, render);
        let told = text.lines().filter(|line| line.starts_with("### ") || line.contains(" | seen from ")).count();
        assert_eq!(told, results.checks.len(), "{text}");
        assert!(text.contains("\n### FAIL EGRESS-5 `egress::tcp_to_internet`\n"), "{text}");
        assert!(text.contains("- SURVIVED `bind-run`: "), "{text}");
    }

    #[test]
    fn a_code_span_holds_any_text() {
        for (text, span) in [
            ("a", "`a`"),
            ("", "(empty)"),
            ("a`b", "``a`b``"),
            ("``", "``` `` ```"),
            ("`x", "`` `x ``"),
            (" x ", "`  x  `"),
        ] {
            assert_eq!(code(text), span);
        }
    }

    #[test]
    fn escaped_text_has_no_markup() {
        for (text, shown) in [
            ("<b>*x*_|[y](z)", "\\<b\\>\\*x\\*\\_\\|\\[y\\](z)"),
            ("EGRESS-14 (core 1.0)", "EGRESS-14 (core 1.0)"),
            ("- a", "\\- a"),
            ("1. a", "1\\. a"),
            ("12) a", "12\\) a"),
            ("www.a.b http://c", "www\\.a.b http:\\//c"),
        ] {
            assert_eq!(escaped(text), shown);
        }
    }
}

//! The Test Anything Protocol: <https://testanything.org/tap-version-14-specification.html>, and version 13.
//!
//! A SHOULD that does not hold is `TODO`, which readers show and do not count as a failure.

use super::run::{Run, Weight, control, message, word};
use crate::{mutants::Fate, results::CheckResult, text, words};

/// Attempts shown of one result.
const SHOWN: usize = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    V13,
    V14,
}

/// One line `ok` or `not ok`, and what is told below it.
struct Point {
    ok: bool,
    name: String,
    directive: String,
    diagnostics: String,
}

pub(super) fn render(run: Run<'_>, version: Version) -> String {
    let results = run.results;
    let mut out = match version {
        Version::V13 => "TAP version 13\n",
        Version::V14 => "TAP version 14\n",
    }
    .to_owned();
    let points: Vec<Point> =
        results.checks.iter().map(|check| point(run, check)).chain(edits(run)).chain(unfinished(run)).collect();
    out.push_str(&format!("1..{}\n", points.len()));
    for fact in [results.status_line(), words::counts(&results.counts)] {
        out.push_str(&format!("# {fact}\n"));
    }
    out.push_str(&format!("# target {}, exit status {}\n", results.target.name, results.exit_code()));
    for (index, Point { ok, name, directive, diagnostics }) in points.iter().enumerate() {
        let ok = if *ok { "ok" } else { "not ok" };
        out.push_str(&format!("{ok} {} - {}{directive}\n{diagnostics}", index + 1, description(name)));
    }
    out
}

fn point(run: Run<'_>, check: &CheckResult) -> Point {
    let weight = Weight::of(check);
    let directive = match weight {
        Weight::Passed | Weight::Red => String::new(),
        Weight::Waived => format!(" # SKIP {}", description(&check.reason.join("; "))),
        Weight::Told => format!(" # TODO {}", description(&message(check))),
    };
    let ok = matches!(weight, Weight::Passed | Weight::Waived);
    let diagnostics = if ok { String::new() } else { diagnostics(run, check) };
    Point { ok, name: format!("{} {}", check.id, check.slug), directive, diagnostics }
}

fn edits<'a>(run: Run<'a>) -> impl Iterator<Item = Point> + 'a {
    run.results.sensitivity.iter().map(|mutant| {
        let ok = mutant.status == Fate::Killed;
        let fields = [("status", mutant.status.name().to_owned()), ("what", mutant.sentence.clone())];
        Point {
            ok,
            name: format!("mutant {} is caught by exactly its checks", mutant.slug),
            directive: String::new(),
            diagnostics: if ok { String::new() } else { yaml(&fields, &[]) },
        }
    })
}

fn unfinished(run: Run<'_>) -> Option<Point> {
    let why = run.unfinished()?;
    Some(Point {
        ok: false,
        name: "RUN every requirement is checked".into(),
        directive: String::new(),
        diagnostics: yaml(&[("message", why)], &[]),
    })
}

fn diagnostics(run: Run<'_>, check: &CheckResult) -> String {
    let fields = [
        ("message", message(check)),
        ("severity", word(check.verdict).to_owned()),
        ("level", words::level(check.level).to_owned()),
        ("requirement", run.sentence(check).to_owned()),
        ("seen", words::seen(check.seen).to_owned()),
    ];
    let attempts = text::relevant(check);
    let attempts: Vec<_> = attempts
        .iter()
        .take(SHOWN)
        .map(|seen| {
            [
                ("attempt", seen.attempt.as_str()),
                ("outcome", seen.outcome.word()),
                ("inside", &seen.inside),
                ("outside", &seen.outside),
                ("control", control(check, seen)),
            ]
        })
        .collect();
    yaml(&fields, &attempts)
}

/// A diagnostic block. Every scalar is quoted as JSON quotes it, which YAML reads.
fn yaml(fields: &[(&str, String)], attempts: &[[(&str, &str); 5]]) -> String {
    let mut out = "  ---\n".to_owned();
    for (name, value) in fields {
        out.push_str(&format!("  {name}: {}\n", quoted(value)));
    }
    if !attempts.is_empty() {
        out.push_str("  attempts:\n");
    }
    for attempt in attempts {
        for (index, (name, value)) in attempt.iter().enumerate() {
            let dash = if index == 0 { "-" } else { " " };
            out.push_str(&format!("    {dash} {name}: {}\n", quoted(value)));
        }
    }
    out.push_str("  ...\n");
    out
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Text in which nothing is a directive.
fn description(text: &str) -> String {
    text.replace('\\', "\\\\").replace('#', "\\#")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        render::tests::shown,
        results::{Results, Status},
        testing,
    };

    fn tap(results: &Results) -> String {
        shown(results, |run| render(run, Version::V14))
    }

    #[test]
    fn a_failure_is_told_in_a_block_of_its_own() {
        insta::assert_snapshot!(tap(&testing::small()));
    }

    #[test]
    fn every_requirement_is_a_point_and_the_plan_counts_them() {
        let results = testing::mixed();
        let text = tap(&results);
        let all = results.checks.len() + results.sensitivity.len();
        assert!(text.contains(&format!("\n1..{all}\n")), "{text}");
        let points: Vec<_> =
            text.lines().filter(|line| line.starts_with("ok ") || line.starts_with("not ok ")).collect();
        assert_eq!(points.len(), all);
        assert!(points.iter().any(|line| line.contains("ROUTE-3") && line.contains("# SKIP the manifest declares")));
        assert!(
            points.iter().any(|line| line.starts_with("not ok") && line.contains("PRIV-3") && line.contains("# TODO"))
        );
        assert!(text.starts_with("TAP version 14\n"));
        assert!(shown(&results, |run| render(run, Version::V13)).starts_with("TAP version 13\n"));
    }

    #[test]
    fn red_is_exactly_what_exits_with_another_status_than_0() {
        let cut = Results { status: Status::Incomplete, ..testing::green() };
        let none = Results { checks: vec![], ..cut.clone() };
        for results in [testing::green(), testing::vsock_failed(), testing::dead(), testing::mixed(), cut, none] {
            let text = tap(&results);
            let red = text.lines().any(|line| line.starts_with("not ok ") && !line.contains(" # TODO "));
            assert_eq!(red, results.exit_code() != 0, "{}", results.status_line());
        }
    }

    #[test]
    fn what_looks_like_a_directive_is_none() {
        assert_eq!(description("x # SKIP \\# TODO"), "x \\# SKIP \\\\\\# TODO");
    }
}

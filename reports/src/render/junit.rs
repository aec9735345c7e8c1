//! JUnit XML as Jenkins' schema has it and GitLab, Azure and GitHub's actions read it.
//!
//! A MUST that failed is a failure, one that was not judged an error; what has no weight on the status is skipped, and
//! says why. Whatever makes the exit status other than 0 is a failure or an error of some case.

use super::{
    markup::Markup,
    run::{Run, Weight, message},
    time::seconds,
};
use crate::{
    mutants::Fate,
    results::Verdict,
    text::{self, Style},
    words,
};

/// Cases of one suite, and how many of them are what.
#[derive(Default)]
struct Suite {
    name: String,
    cases: Vec<Case>,
    microseconds: u64,
    timestamp: String,
    properties: Vec<(&'static str, String)>,
}

struct Case {
    class: String,
    name: String,
    microseconds: u64,
    /// Element, type, message and text of what is not a plain pass.
    outcome: Option<(&'static str, String, String, String)>,
}

pub(super) fn render(runs: &[Run<'_>]) -> String {
    let suites: Vec<Suite> = runs.iter().flat_map(|run| [Some(checks(run)), edits(run)]).flatten().collect();
    let sum = |element| suites.iter().map(|suite| suite.count(element)).sum::<usize>().to_string();
    let time: u64 = suites.iter().map(|suite| suite.microseconds).sum();
    let mut xml = Markup::new("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let attributes = [
        ("name", "watertight"),
        ("tests", &suites.iter().map(|suite| suite.cases.len()).sum::<usize>().to_string()),
        ("failures", &sum("failure")),
        ("errors", &sum("error")),
        ("time", &seconds(time, 3)),
    ];
    xml.inside("testsuites", &attributes, |xml| {
        suites.iter().for_each(|suite| write(xml, suite));
        xml.line();
    });
    xml.finish()
}

impl Suite {
    fn count(&self, element: &str) -> usize {
        self.cases.iter().filter(|case| case.outcome.as_ref().is_some_and(|(tag, ..)| *tag == element)).count()
    }
}

fn checks(run: &Run<'_>) -> Suite {
    let results = run.results;
    let mut cases: Vec<Case> = results
        .checks
        .iter()
        .map(|check| {
            let element = match (Weight::of(check), check.verdict) {
                (Weight::Passed, _) => None,
                (Weight::Told | Weight::Waived, _) => Some("skipped"),
                (Weight::Red, Verdict::Fail) => Some("failure"),
                (Weight::Red, _) => Some("error"),
            };
            Case {
                class: class(run, words::area(&check.id)),
                name: format!("{} {}", check.id, check.slug),
                microseconds: check.duration_us,
                // The message stands in the text as well: not every reader shows the attribute.
                outcome: element.map(|tag| {
                    let message = message(check);
                    let text = format!("{message}\n{}", run.details(check));
                    (tag, super::run::word(check.verdict).into(), message, text)
                }),
            }
        })
        .collect();
    cases.extend(run.unfinished().map(|why| Case {
        class: class(run, "RUN"),
        name: "RUN every requirement is checked".into(),
        microseconds: 0,
        outcome: Some(("error", "incomplete".into(), format!("incomplete: {why}"), format!("incomplete: {why}\n"))),
    }));
    Suite {
        name: format!("watertight.{}", results.target.name),
        cases,
        microseconds: results.wall_ms.saturating_mul(1_000),
        timestamp: results.started_at.clone(),
        properties: vec![
            ("status", results.status_line()),
            ("counts", words::counts(&results.counts)),
            ("exit_status", results.exit_code().to_string()),
            ("spec", results.spec.clone()),
            ("target_version", results.target.version.clone()),
            ("untestable", results.untestable.join(", ")),
        ],
    }
}

/// Edits of the target that open it: one that is not caught as it must be is an error of the suite's run.
fn edits(run: &Run<'_>) -> Option<Suite> {
    let results = run.results;
    let cases: Vec<Case> = results
        .sensitivity
        .iter()
        .map(|mutant| {
            let text = format!(
                "{}\n{}",
                mutant.sentence,
                text::mutants::render(std::slice::from_ref(mutant), &Style::default())
            );
            let message = format!("{}: {}", mutant.status.name(), mutant.sentence);
            Case {
                class: class(run, "mutants"),
                name: mutant.slug.clone(),
                microseconds: mutant.micros,
                outcome: (mutant.status != Fate::Killed).then(|| ("error", mutant.status.name().into(), message, text)),
            }
        })
        .collect();
    (!cases.is_empty()).then(|| Suite {
        name: format!("watertight.{}.mutants", results.target.name),
        microseconds: cases.iter().map(|case| case.microseconds).sum(),
        cases,
        timestamp: results.started_at.clone(),
        properties: vec![],
    })
}

/// GitLab shows it as the suite, and keeps only the first of two cases with the same class and name.
fn class(run: &Run<'_>, group: &str) -> String {
    format!("watertight.{}.{}.{group}", run.profile(), run.results.target.name)
}

fn write(xml: &mut Markup, suite: &Suite) {
    xml.line();
    let count = |element| suite.count(element).to_string();
    let attributes = [
        ("name", suite.name.as_str()),
        ("tests", &suite.cases.len().to_string()),
        ("failures", &count("failure")),
        ("errors", &count("error")),
        ("skipped", &count("skipped")),
        ("timestamp", &suite.timestamp),
        ("time", &seconds(suite.microseconds, 3)),
    ];
    xml.inside("testsuite", &attributes, |xml| {
        if !suite.properties.is_empty() {
            xml.line();
            xml.inside("properties", &[], |xml| {
                for (name, value) in &suite.properties {
                    xml.empty("property", &[("name", name), ("value", value)]);
                }
            });
        }
        for case in &suite.cases {
            xml.line();
            let time = seconds(case.microseconds, 6);
            let attributes = [("classname", case.class.as_str()), ("name", &case.name), ("time", &time)];
            xml.inside("testcase", &attributes, |xml| {
                if let Some((tag, kind, message, text)) = &case.outcome {
                    xml.element(tag, &[("message", message), ("type", kind)], text);
                }
            });
        }
        xml.line();
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{render::tests::shown, results::Results, testing};

    fn xml(results: &Results) -> String {
        shown(results, |run| render(&[run]))
    }

    #[test]
    fn each_requirement_is_a_case_and_what_has_no_weight_is_skipped() {
        insta::assert_snapshot!(xml(&testing::small()));
        let mixed = xml(&testing::mixed());
        for (part, number) in [
            ("<failure ", 2),
            ("<error message=\"harness-error: ", 1),
            ("<error message=\"inconclusive: ", 5),
            ("<skipped message=\"SHOULD, fail: ", 1),
            ("<skipped message=\"not-applicable: ", 1),
            ("<error message=\"survived: ", 1),
            ("<error message=\"failed: ", 1),
        ] {
            assert_eq!(mixed.matches(part).count(), number, "{part}");
        }
    }

    #[test]
    fn red_is_exactly_what_exits_with_another_status_than_0() {
        let mut cut = testing::green();
        cut.status = crate::results::Status::Incomplete;
        let uncaught = Results { sensitivity: testing::edits(), ..testing::green() };
        for results in [testing::green(), testing::vsock_failed(), testing::dead(), testing::mixed(), cut, uncaught] {
            let text = xml(&results);
            let red = text.contains("<failure ") || text.contains("<error ");
            assert_eq!(red, results.exit_code() != 0, "{}", results.status_line());
        }
    }

    #[test]
    fn several_runs_are_several_suites_whose_numbers_add_up() {
        let (green, failed) = (testing::green(), testing::vsock_failed());
        let text = shown(&green, |first| shown(&failed, |second| render(&[first, second])));
        assert_eq!(text.matches("<testsuite ").count(), 2);
        let all = green.checks.len() + failed.checks.len();
        assert!(text.contains(&format!("<testsuites name=\"watertight\" tests=\"{all}\" failures=\"1\" errors=\"0\"")));
    }
}

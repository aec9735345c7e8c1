//! What GitHub Actions shows of a step: its summary and its annotations.
//!
//! <https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions>

use super::{
    markdown,
    run::{Run, Weight, message},
};
use crate::words;

/// A summary beyond 1 MiB is not shown at all; the rest is room for what the step's other commands wrote.
const BUDGET: usize = 1_000_000;
/// Annotations of one kind that a step shows; the last one says how many there are beyond.
const SHOWN: usize = 10;

/// Markdown for `$GITHUB_STEP_SUMMARY`. Where it is too long, the least important is left out and counted.
pub(super) fn summary(runs: &[Run<'_>]) -> String {
    runs.iter().map(|run| within(*run, BUDGET / runs.len().max(1))).collect::<Vec<_>>().join("\n")
}

fn within(run: Run<'_>, budget: usize) -> String {
    let mut text = String::new();
    let mut left_out = 0;
    for block in markdown::blocks(run) {
        if left_out == 0 && text.len() + block.text.len() <= budget {
            text.push_str(&block.text);
        } else if block.requirement {
            left_out += 1;
        }
    }
    if left_out > 0 {
        let all = run.results.checks.len();
        text.push_str(&format!("\n**{left_out} of {all} requirements are left out here, for want of room.**\n"));
    }
    text
}

/// An annotation: `error`, `warning` or `notice`.
struct Annotation {
    kind: &'static str,
    place: Option<(String, usize)>,
    title: String,
    message: String,
}

/// One workflow command a line. A step shows ten of each kind, so the worst come first.
pub(super) fn annotations(runs: &[Run<'_>]) -> String {
    let all: Vec<Annotation> = runs.iter().flat_map(|run| of(*run)).collect();
    let mut text = String::new();
    for kind in ["error", "warning", "notice"] {
        let of_kind: Vec<_> = all.iter().filter(|annotation| annotation.kind == kind).collect();
        let shown = if of_kind.len() > SHOWN { SHOWN - 1 } else { SHOWN };
        of_kind.iter().take(shown).for_each(|annotation| text.push_str(&command(annotation)));
        if of_kind.len() > shown {
            let more = words::number(of_kind.len() - shown, "more result");
            text.push_str(&command(&Annotation {
                kind,
                place: None,
                title: "Watertight".into(),
                message: format!("{more} of this kind: see the report"),
            }));
        }
    }
    text
}

fn of(run: Run<'_>) -> Vec<Annotation> {
    let results = run.results;
    let name = &results.target.name;
    let plain = |kind, title: &str, message: String| Annotation { kind, place: None, title: title.into(), message };
    let mut all: Vec<_> = run
        .worst_first()
        .into_iter()
        .filter_map(|check| {
            let kind = match Weight::of(check) {
                Weight::Red => "error",
                Weight::Told => "warning",
                Weight::Passed | Weight::Waived => return None,
            };
            let (file, line) = run.place(check);
            Some(Annotation {
                kind,
                place: Some((file.to_owned(), line)),
                title: format!("{} on {name}", check.id),
                message: format!("{}\n{}", run.sentence(check), message(check)),
            })
        })
        .collect();
    all.extend(run.unfinished().map(|why| plain("error", &format!("incomplete: {name}"), why)));
    all.extend(results.uncaught().map(|mutant| {
        let title = format!("mutant {} of {name}: {}", mutant.slug, mutant.status.name());
        plain("error", &title, mutant.sentence.clone())
    }));
    all.push(plain("notice", name, results.status_line()));
    all
}

fn command(annotation: &Annotation) -> String {
    let mut properties = String::new();
    if let Some((file, line)) = &annotation.place {
        properties.push_str(&format!("file={},line={line},", property(file)));
    }
    properties.push_str(&format!("title={}", property(&annotation.title)));
    format!("::{} {properties}::{}\n", annotation.kind, data(&annotation.message))
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        render::tests::shown,
        results::{Results, Status},
        testing,
    };

    fn of(results: &Results) -> String {
        shown(results, |run| annotations(&[run]))
    }

    #[test]
    fn the_worst_is_annotated_first_and_the_status_always() {
        insta::assert_snapshot!(of(&testing::mixed()));
        assert_eq!(of(&testing::green()).lines().count(), 1);
    }

    #[test]
    fn more_than_ten_of_a_kind_are_counted() {
        let text = of(&testing::dead());
        let errors: Vec<_> = text.lines().filter(|line| line.starts_with("::error ")).collect();
        assert_eq!(errors.len(), SHOWN);
        let musts = testing::dead().checks.iter().filter(|check| Weight::of(check) == Weight::Red).count();
        assert!(errors[9].ends_with(&format!("::{} more results of this kind: see the report", musts - 9)), "{text}");
    }

    #[test]
    fn nothing_ends_a_command_or_a_property_early() {
        assert_eq!(property("a,b:c%\n"), "a%2Cb%3Ac%25%0A");
        assert_eq!(data("50% a,b:c\r\n::error::x"), "50%25 a,b:c%0D%0A::error::x");
    }

    #[test]
    fn a_run_that_is_cut_short_is_an_error() {
        let cut = Results { status: Status::Incomplete, ..testing::green() };
        assert!(of(&cut).starts_with("::error title=incomplete%3A bubblewrap::not every requirement"), "{}", of(&cut));
    }

    #[test]
    fn a_summary_keeps_to_its_room_and_counts_what_is_left_out() {
        let mut results = testing::mixed();
        let whole = shown(&results, |run| summary(&[run]));
        assert_eq!(whole, shown(&results, markdown::render));
        for check in &mut results.checks {
            check.reason = vec!["x".repeat(2_000); 100];
        }
        let text = shown(&results, |run| summary(&[run, run]));
        assert!(text.len() < 1 << 20, "{}", text.len());
        let told = text.matches("\n### ").count() + text.matches(" | seen from ").count();
        let left = text.lines().filter_map(|line| line.strip_prefix("**")?.split_once(" of ")?.0.parse::<usize>().ok());
        assert_eq!(told + left.sum::<usize>(), 2 * results.checks.len());
    }
}

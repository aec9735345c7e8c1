//! One run as every document looks at it: which results count against it, in which order, and in which words.

use super::{Context, Requirement};
use crate::{
    results::{AttemptOutcome, CheckResult, Fact, Level, Results, Seeing, Status, Verdict},
    text, words,
};

/// Most reasons, attempts and witness lines of one result in a document that people page through.
const SHOWN: usize = 20;
/// Bytes of one result's details.
const LONG: usize = 32 * 1024;

/// A run and what is known beside its results.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    pub results: &'a Results,
    pub context: &'a Context<'a>,
}

/// The class of a status in the style sheets.
pub(super) fn class(status: Status) -> &'static str {
    match status {
        Status::Conformant => "good",
        Status::Nonconformant => "bad",
        Status::Incomplete => "doubt",
    }
}

/// What a result means for the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    /// It keeps the run from being conformant.
    Red,
    /// It would, if it were a MUST.
    Told,
    Passed,
    Waived,
}

impl Weight {
    pub fn of(check: &CheckResult) -> Self {
        match (check.verdict, check.level) {
            (Verdict::Pass, _) => Self::Passed,
            (Verdict::NotApplicable, _) => Self::Waived,
            (Verdict::Fail | Verdict::HarnessError | Verdict::Inconclusive, Level::Must) => Self::Red,
            (Verdict::Fail | Verdict::HarnessError | Verdict::Inconclusive, Level::Should) => Self::Told,
        }
    }
}

impl<'a> Run<'a> {
    /// What `CONFORMANCE.md` says; nothing where the results are of another version of it.
    pub fn requirement(&self, id: &str) -> Option<&'a Requirement> {
        let suite = self.context.suite;
        suite.requirements.get(id).filter(|_| suite.spec == self.results.spec)
    }

    /// What closes this failure.
    pub(super) fn closes(&self, check: &CheckResult) -> Option<&'a str> {
        let closes = self.requirement(&check.id).map(|requirement| requirement.closes.as_str());
        closes.filter(|closes| check.verdict == Verdict::Fail && !closes.is_empty())
    }

    /// The sentence that binds, or else the same in the words of the check's name.
    pub(super) fn sentence(&self, check: &'a CheckResult) -> &'a str {
        self.requirement(&check.id).map_or(check.slug.as_str(), |requirement| &requirement.sentence)
    }

    /// What keeps the run from being conformant first, what passed last; otherwise as they stand.
    pub(super) fn worst_first(&self) -> Vec<&'a CheckResult> {
        let mut checks: Vec<_> = self.results.checks.iter().collect();
        checks.sort_by_key(|check| (Weight::of(check), rank(check.verdict)));
        checks
    }

    /// File and line that a result points to.
    pub(super) fn place(&self, check: &CheckResult) -> (&'a str, usize) {
        match self.context.manifest {
            Some(manifest) => (manifest, 1),
            None => ("CONFORMANCE.md", self.requirement(&check.id).map_or(1, |requirement| requirement.line)),
        }
    }

    /// Why the run is no success although no result says so: programs that look at single results must not take it
    /// for one.
    pub(super) fn unfinished(&self) -> Option<String> {
        let red = self.results.checks.iter().any(|check| Weight::of(check) == Weight::Red);
        if self.results.status != Status::Incomplete || red {
            return None;
        }
        Some(match self.results.environment.get("filter") {
            Some(Fact::Known(filter)) => format!("only checks that match {filter} were run: that is never conformant"),
            Some(Fact::Unavailable(_)) | None if self.results.checks.is_empty() => "no check was run".into(),
            Some(Fact::Unavailable(_)) | None => "not every requirement was checked".into(),
        })
    }

    /// What became of a broken reference in the selftest that is known, as a word: `killed`.
    pub(super) fn fate(&self, mutant: &str) -> Option<&'static str> {
        self.context.matrix.get(mutant).map(|fate| fate.name())
    }

    /// `core` of `core 1.0`.
    pub(super) fn profile(&self) -> &'a str {
        self.results.profile.split(' ').next().unwrap_or_default()
    }

    /// Everything that supports one result, a line each: sentence, causes, attempts with both sides, witness.
    pub(super) fn details(&self, check: &'a CheckResult) -> String {
        let mut lines = vec![
            format!("{}, {}: {}", words::level(check.level), words::seen(check.seen), self.sentence(check)),
            format!("verdict: {}", word(check.verdict)),
        ];
        few(&mut lines, &check.reason, "reasons", |reason| vec![format!("why: {reason}")]);
        let attempts = text::relevant(check);
        few(&mut lines, &attempts, "attempts", |seen| {
            vec![
                format!("attempt {}{}", seen.attempt, outcome(seen)),
                format!("  inside: {}", seen.inside),
                format!("  outside: {}", seen.outside),
                format!("  control: {}", control(check, seen)),
            ]
        });
        few(&mut lines, &check.witness, "lines of the witness", |line| vec![format!("witness: {line}")]);
        if !check.mutants.is_empty() {
            lines.push(format!("mutants: {}", check.mutants.join(", ")));
        }
        lines.push(format!("next: watertight explain {}", check.id));
        capped(&lines)
    }
}

fn rank(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Fail => 0,
        Verdict::HarnessError => 1,
        Verdict::Inconclusive => 2,
        Verdict::NotApplicable | Verdict::Pass => 3,
    }
}

/// The verdict as the results document writes it.
pub(super) fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "pass",
        Verdict::Fail => "fail",
        Verdict::Inconclusive => "inconclusive",
        Verdict::NotApplicable => "not-applicable",
        Verdict::HarnessError => "harness-error",
    }
}

/// Verdict and first cause in a line: `fail: stream: the socket was made (and 1 more)`.
pub(super) fn message(check: &CheckResult) -> String {
    let word = match Weight::of(check) {
        Weight::Told => format!("SHOULD, {}", word(check.verdict)),
        Weight::Red | Weight::Passed | Weight::Waived => word(check.verdict).into(),
    };
    match check.reason.as_slice() {
        [] => word,
        [only] => format!("{word}: {only}"),
        [first, more @ ..] => format!("{word}: {first} (and {} more)", more.len()),
    }
}

/// `: got through`, and nothing for what a whole rule judges.
pub(super) fn outcome(seen: &Seeing) -> String {
    match seen.outcome {
        AttemptOutcome::Recorded => String::new(),
        outcome => format!(": {}", outcome.word().replace('-', " ")),
    }
}

/// How the attempt's own control went, or else what the check's is.
pub(super) fn control<'a>(check: &CheckResult, seen: &'a Seeing) -> &'a str {
    if seen.control.is_empty() { words::control(check.control) } else { &seen.control }
}

fn few<T>(lines: &mut Vec<String>, all: &[T], noun: &str, shown: impl Fn(&T) -> Vec<String>) {
    lines.extend(all.iter().take(SHOWN).flat_map(shown));
    if all.len() > SHOWN {
        lines.push(format!("and {} more {noun}", all.len() - SHOWN));
    }
}

/// The lines that have room, and how many have not.
fn capped(lines: &[String]) -> String {
    let mut text = String::new();
    for (index, line) in lines.iter().enumerate() {
        if text.len() + line.len() > LONG {
            text.push_str(&format!("and {} more lines\n", lines.len() - index));
            break;
        }
        text.push_str(line);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{render::tests::shown, testing};

    #[test]
    fn what_decides_comes_first_and_a_should_after_every_must() {
        let results = testing::mixed();
        shown(&results, |run| {
            let ids: Vec<_> = run.worst_first().iter().map(|check| check.id.as_str()).collect();
            assert_eq!(ids.len(), results.checks.len());
            assert_eq!(ids[..3], ["EGRESS-5", "EGRESS-14", "AUTH-2"]);
            let weights: Vec<_> = run.worst_first().into_iter().map(Weight::of).collect();
            assert!(weights.is_sorted(), "{weights:?}");
        });
    }

    #[test]
    fn a_run_that_no_result_spoils_is_still_not_taken_for_a_success() {
        let of = |results: &Results| shown(results, |run| run.unfinished());
        assert_eq!(of(&testing::green()), None);
        assert_eq!(of(&testing::dead()), None, "its results say so");
        let mut cut = Results { status: Status::Incomplete, ..testing::green() };
        assert_eq!(of(&cut).as_deref(), Some("not every requirement was checked"));
        cut.environment.insert("filter".into(), Fact::Known("egress".into()));
        assert!(of(&cut).is_some_and(|why| why.contains("match egress")));
        cut.checks.clear();
        cut.environment.clear();
        assert_eq!(of(&cut).as_deref(), Some("no check was run"));
    }

    #[test]
    fn results_of_another_version_of_the_text_have_no_sentences_of_ours() {
        let mut results = testing::vsock_failed();
        let of = |results: &Results| shown(results, |run| run.requirement("EGRESS-14").is_some());
        assert!(of(&results));
        results.spec = "9.9".into();
        assert!(!of(&results));
    }

    #[test]
    fn details_are_bounded_and_say_what_is_left_out() {
        let mut results = testing::small();
        let check = &mut results.checks[0];
        check.reason = (0..50).map(|number| format!("cause {number}")).collect();
        check.observations = vec![check.observations[0].clone(); 50];
        check.observations.iter_mut().for_each(|seen| seen.inside = "x".repeat(2_000));
        let text = shown(&results, |run| run.details(&results.checks[0]));
        assert!(text.len() <= LONG + 100, "{}", text.len());
        assert!(text.contains("and 30 more reasons\n") && text.ends_with("more lines\n"), "{text}");
    }
}

//! The results document: what `--format json` prints and every report is made from.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use serde::{Deserialize, Serialize};

use crate::mutants::{Fate, Mutant};

/// The document's own version.
pub const SCHEMA: &str = "watertight/results/v1";

/// One run against one target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Results {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// Version of `CONFORMANCE.md`.
    pub spec: String,
    pub target: Target,
    /// `core 1.0`.
    pub profile: String,
    pub status: Status,
    pub counts: Counts,
    /// Attempts that this kernel and identity cannot make even without a sandbox, by id.
    pub untestable: Vec<String>,
    pub checks: Vec<CheckResult>,
    /// What became of edits of the target that open it: whether the checks catch through its adapter what they must.
    /// Empty where they were not run.
    pub sensitivity: Vec<Mutant>,
    pub environment: BTreeMap<String, Fact>,
    /// RFC 3339, UTC.
    pub started_at: String,
    pub wall_ms: u64,
}

/// What was tested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    pub name: String,
    /// What its version command printed, sanitised.
    pub version: String,
    /// `sockets`, `proxy`, `direct` or `none`.
    pub route: String,
    /// Whom it was launched as: `root` or `user`.
    pub launched_as: String,
    /// The launch as executed, for people who want to repeat it.
    pub argv: Vec<String>,
}

/// A fact about the machine, or why it could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    Known(String),
    Unavailable(String),
}

/// What the whole run amounts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Every MUST that applies passed.
    Conformant,
    /// A MUST failed.
    Nonconformant,
    /// No MUST failed, and not every MUST was judged.
    Incomplete,
}

/// What became of one requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Pass,
    Fail,
    /// Judged neither way; the reason says why. Red.
    Inconclusive,
    /// Waived by a declaration of the manifest, from the closed list.
    NotApplicable,
    /// The suite's own fault, or a target that did not run the probe.
    HarnessError,
}

/// How strongly a requirement binds (RFC 2119).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Level {
    Must,
    Should,
}

/// What a requirement is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Subject {
    /// The sandbox's own walls.
    Isolation,
    /// The relays that carry the permitted routes.
    Relay,
    /// What starts and ends the sandbox.
    Launcher,
}

/// From where a result was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Seen {
    /// Inside by the probe and outside by a fixture, the capture or `/proc`.
    TwoSided,
    InsideOnly,
}

/// What shows that an attempt means something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ControlKind {
    /// The same attempt without a sandbox succeeds, as the launching user.
    Unconfined,
    /// The same, as the world's root.
    UnconfinedRoot,
    /// The permitted sibling through the same target in the same launch succeeds.
    Twin,
    /// The detector finds what was planted.
    KnownPositive,
}

/// How many requirements came out how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    pub pass: u32,
    pub fail: u32,
    pub inconclusive: u32,
    pub not_applicable: u32,
    pub harness_error: u32,
    /// SHOULDs that failed: shown, and without weight on the status. Not counted in `fail`.
    pub should_fail: u32,
}

/// One requirement's result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckResult {
    pub id: String,
    pub slug: String,
    pub level: Level,
    pub subject: Subject,
    pub verdict: Verdict,
    /// One line a cause; empty for a plain pass.
    pub reason: Vec<String>,
    pub seen: Seen,
    pub control: ControlKind,
    /// One an attempt.
    pub observations: Vec<Seeing>,
    /// What the witness adds that belongs to no single attempt.
    pub witness: Vec<String>,
    /// Slugs of the mutants that this check must catch.
    pub mutants: Vec<String>,
    pub duration_us: u64,
}

/// One attempt as a reader wants it: what was tried, seen inside, seen outside, and the control.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seeing {
    pub attempt: String,
    pub inside: String,
    pub outside: String,
    pub control: String,
    pub outcome: AttemptOutcome,
}

/// What one attempt amounts to, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttemptOutcome {
    Denied,
    /// Connected or sent, and something between answered.
    AnsweredLocally,
    /// Ended by its deadline, and nothing was seen outside.
    TimedOut,
    GotThrough,
    Undecided,
    /// Not even the control can make it here.
    UntestableHere,
    AsRequired,
    NotAsRequired,
    /// Looked at by a rule that judges several attempts together.
    Recorded,
    NoReport,
}

impl AttemptOutcome {
    /// The word as every document writes it: `got-through`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Denied => "denied",
            Self::AnsweredLocally => "answered-locally",
            Self::TimedOut => "timed-out",
            Self::GotThrough => "got-through",
            Self::Undecided => "undecided",
            Self::UntestableHere => "untestable-here",
            Self::AsRequired => "as-required",
            Self::NotAsRequired => "not-as-required",
            Self::Recorded => "recorded",
            Self::NoReport => "no-report",
        }
    }
}

impl fmt::Display for AttemptOutcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.word())
    }
}

impl Counts {
    /// Counts results by verdict.
    pub fn of(checks: &[CheckResult]) -> Self {
        let mut counts = Self::default();
        for check in checks {
            match (check.verdict, check.level) {
                (Verdict::Pass, _) => counts.pass += 1,
                (Verdict::Fail, Level::Must) => counts.fail += 1,
                (Verdict::Fail, Level::Should) => counts.should_fail += 1,
                (Verdict::Inconclusive, _) => counts.inconclusive += 1,
                (Verdict::NotApplicable, _) => counts.not_applicable += 1,
                (Verdict::HarnessError, _) => counts.harness_error += 1,
            }
        }
        counts
    }
}

impl Status {
    /// The word as every document writes it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Conformant => "conformant",
            Self::Nonconformant => "nonconformant",
            Self::Incomplete => "incomplete",
        }
    }

    /// What the results amount to. `complete` is false when the run was cut short or checks were filtered out.
    pub fn of(checks: &[CheckResult], complete: bool) -> Self {
        let must = |verdict| checks.iter().any(|check| check.level == Level::Must && check.verdict == verdict);
        // What was waived for want of a capability says nothing by itself: something must have been judged and passed.
        if must(Verdict::Fail) {
            Self::Nonconformant
        } else if complete && must(Verdict::Pass) && !must(Verdict::Inconclusive) && !must(Verdict::HarnessError) {
            Self::Conformant
        } else {
            Self::Incomplete
        }
    }
}

impl Results {
    /// The process's exit status: 0 conformant; 1 a MUST failed; 4 else, a harness error; 3 else, incomplete, or an edit
    /// that opens the target was not caught.
    pub fn exit_code(&self) -> u8 {
        let harness_error = self.checks.iter().any(|check| check.verdict == Verdict::HarnessError);
        match self.status {
            Status::Conformant if self.uncaught().next().is_some() => 3,
            Status::Conformant => 0,
            Status::Nonconformant => 1,
            Status::Incomplete if harness_error => 4,
            Status::Incomplete => 3,
        }
    }

    /// Edits of the target that were not caught by exactly the checks that must. They leave its verdict as it is.
    pub fn uncaught(&self) -> impl Iterator<Item = &Mutant> {
        self.sensitivity.iter().filter(|mutant| mutant.status != Fate::Killed)
    }

    /// What the document says that its own results do not bear out, if anything. One from elsewhere may claim whatever
    /// it likes.
    pub fn contradiction(&self) -> Option<String> {
        let mut ids = BTreeSet::new();
        if let Some(twice) = self.checks.iter().find(|check| !ids.insert(&check.id)) {
            return Some(format!("it has two results of {}", twice.id));
        }
        let (counts, status) = (Counts::of(&self.checks), Status::of(&self.checks, true));
        if counts != self.counts {
            return Some("its counts are not those of its results".into());
        }
        // A run that was cut short is incomplete although all that it judged passed.
        let cut = self.status == Status::Incomplete && status == Status::Conformant;
        (self.status != status && !cut).then(|| "its status does not follow from its results".into())
    }

    /// The whole of it in one line: `conformant (core 1.0, route sockets, 0 not applicable, 3 attempts untestable here)`.
    pub fn status_line(&self) -> String {
        format!(
            "{} ({}, route {}, {} not applicable, {} attempts untestable here)",
            self.status.word(),
            self.profile,
            self.target.route,
            self.counts.not_applicable,
            self.untestable.len()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(level: Level, verdict: Verdict) -> CheckResult {
        CheckResult {
            id: "X-1".into(),
            slug: "x::y".into(),
            level,
            subject: Subject::Isolation,
            verdict,
            reason: vec![],
            seen: Seen::TwoSided,
            control: ControlKind::Unconfined,
            observations: vec![],
            witness: vec![],
            mutants: vec![],
            duration_us: 0,
        }
    }

    const VERDICTS: [Verdict; 5] =
        [Verdict::Pass, Verdict::Fail, Verdict::Inconclusive, Verdict::NotApplicable, Verdict::HarnessError];

    #[test]
    fn only_passes_and_waivers_of_musts_make_a_run_conformant() {
        for verdict in VERDICTS {
            let checks = [check(Level::Must, Verdict::Pass), check(Level::Must, verdict)];
            let expected = match verdict {
                Verdict::Pass | Verdict::NotApplicable => Status::Conformant,
                Verdict::Fail => Status::Nonconformant,
                Verdict::Inconclusive | Verdict::HarnessError => Status::Incomplete,
            };
            assert_eq!(Status::of(&checks, true), expected, "{verdict:?}");
        }
    }

    #[test]
    fn a_run_in_which_every_must_was_waived_is_incomplete() {
        let waived = check(Level::Must, Verdict::NotApplicable);
        assert_eq!(Status::of(&[waived.clone(), waived.clone()], true), Status::Incomplete);
        let should = check(Level::Should, Verdict::Pass);
        assert_eq!(Status::of(&[waived, should], true), Status::Incomplete, "a SHOULD does not change the status");
    }

    #[test]
    fn a_should_never_changes_the_status_and_is_counted_apart() {
        for verdict in VERDICTS {
            let checks = [check(Level::Must, Verdict::Pass), check(Level::Should, verdict)];
            assert_eq!(Status::of(&checks, true), Status::Conformant, "{verdict:?}");
        }
        let counts = Counts::of(&[check(Level::Should, Verdict::Fail), check(Level::Must, Verdict::Fail)]);
        assert_eq!((counts.should_fail, counts.fail), (1, 1));
    }

    #[test]
    fn an_attempts_outcome_is_one_word_in_every_document() {
        for word in [
            "denied",
            "answered-locally",
            "timed-out",
            "got-through",
            "undecided",
            "untestable-here",
            "as-required",
            "not-as-required",
            "recorded",
            "no-report",
        ] {
            let outcome: AttemptOutcome = serde_json::from_value(word.into()).expect(word);
            assert_eq!(outcome.word(), word);
            assert_eq!(serde_json::to_value(outcome).expect(word), word);
        }
    }

    #[test]
    fn a_failure_outweighs_what_was_not_judged_and_nothing_run_is_never_green() {
        let checks = [check(Level::Must, Verdict::HarnessError), check(Level::Must, Verdict::Fail)];
        assert_eq!(Status::of(&checks, false), Status::Nonconformant);
        assert_eq!(Status::of(&[], true), Status::Incomplete);
        assert_eq!(Status::of(&[check(Level::Must, Verdict::Pass)], false), Status::Incomplete);
    }
}

//! The table of deny-checks: what one attempt amounts to, with what shows that it means something.

use watertight_probe::observation::Outcome;
use watertight_reports::{evidence::AttemptRecord, results::AttemptOutcome};

use super::{Reach, Shows, describe, reach};

/// What one attempt of a deny-check amounts to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judged {
    Denied,
    /// Connected or sent, and no byte of the fixture came: something between answered.
    AnsweredLocally,
    /// The deadline passed, both controls are alive and nothing was seen outside.
    TimedOutUnseen,
    /// Evidence of a breach, in words.
    GotThrough(String),
    /// Neither way, and why.
    Undecided(String),
    /// Not even the control can make this attempt here, and why.
    Untestable(String),
    /// Evidence is missing or the suite contradicts itself.
    Error(String),
}

/// What the judge reads of one attempt of a deny-check.
#[derive(Clone, Copy)]
pub struct Evidenced<'a> {
    pub shows: Shows,
    /// The target's launch, if the attempt stands in it.
    pub target: Option<&'a AttemptRecord>,
    /// The unconfined launches before and after that must have made it.
    pub controls: &'a [Control<'a>],
    pub banners: &'a [String],
    /// Whether the outside record has gaps.
    pub gaps: bool,
}

/// The same attempt without a sandbox.
#[derive(Clone, Copy)]
pub struct Control<'a> {
    pub record: Option<&'a AttemptRecord>,
    /// Its launch did not answer, did not finish, or lost lines.
    pub broken: bool,
}

/// The table of deny-checks.
pub fn attempt(evidence: Evidenced<'_>) -> Judged {
    let Some(target) = evidence.target else { return Judged::Error("the attempt was not planned".into()) };
    let contradicts = match reach::of(target, evidence.banners) {
        Reach::Outside => return Judged::GotThrough(format!("outside, {}", describe::sightings(&target.sightings))),
        Reach::Banner => return Judged::GotThrough("the secret of a canary was read inside".into()),
        Reach::Inside(what) => return Judged::GotThrough(what),
        Reach::Foreign => true,
        Reach::Nowhere => false,
    };
    if let Some(problem) = controls(evidence) {
        return problem;
    }
    if contradicts {
        return Judged::Error("the report is of another kind than the attempt".into());
    }
    if !target.began {
        return Judged::Error("the attempt never began".into());
    }
    let Some(observation) = &target.observation else { return Judged::Error("the attempt has no report".into()) };
    let judged = match &observation.outcome {
        Outcome::Refused { .. } | Outcome::Killed { signal: libc::SIGSYS } => Judged::Denied,
        Outcome::Killed { signal } => Judged::Undecided(format!("the attempt's process died by signal {signal}")),
        Outcome::TimedOut { step } => match evidence.shows {
            Shows::Outside => Judged::TimedOutUnseen,
            Shows::Inside => Judged::Undecided(format!("timed out at {step}")),
        },
        Outcome::Silent { .. } | Outcome::Heard { .. } => Judged::AnsweredLocally,
        // Looked, and found nothing that counts as getting through.
        Outcome::Found { .. } => Judged::Denied,
        absent @ Outcome::Absent { .. } => Judged::Undecided(describe::outcome(absent)),
        Outcome::Broken { message } => Judged::Error(format!("the probe failed: {message}")),
    };
    match judged {
        Judged::Denied | Judged::AnsweredLocally | Judged::TimedOutUnseen
            if evidence.gaps && evidence.shows == Shows::Outside =>
        {
            Judged::Undecided("the outside record has gaps, so silence means nothing".into())
        }
        judged => judged,
    }
}

/// Errnos of a kernel that does not have the thing at all.
const UNSUPPORTED: [i32; 4] = [libc::EAFNOSUPPORT, libc::EPROTONOSUPPORT, libc::ESOCKTNOSUPPORT, libc::ENOSYS];

/// Why the controls do not support a judgement, if they do not. The suite's own faults come first; an attempt is
/// untestable only where no control could make it.
fn controls(evidence: Evidenced<'_>) -> Option<Judged> {
    if evidence.controls.is_empty() {
        return Some(Judged::Error("the attempt has no control".into()));
    }
    let problems: Vec<Judged> = evidence.controls.iter().filter_map(|one| problem(*one, evidence)).collect();
    let error = problems.iter().find(|problem| matches!(problem, Judged::Error(_)));
    let unsupported = |problem: &Judged| matches!(problem, Judged::Untestable(_));
    if let Some(error) = error {
        return Some(error.clone());
    }
    if problems.len() == evidence.controls.len() && problems.iter().all(unsupported) {
        return problems.into_iter().next();
    }
    problems.into_iter().next().map(|problem| match problem {
        Judged::Untestable(why) => Judged::Undecided(format!("one control could not make it: {why}")),
        problem => problem,
    })
}

/// What is wrong with one control.
fn problem(control: Control<'_>, evidence: Evidenced<'_>) -> Option<Judged> {
    let Some(record) = control.record else { return Some(Judged::Error("a control was not made".into())) };
    if control.broken {
        return Some(Judged::Undecided("the launch of a control is broken".into()));
    }
    match (reach::of(record, evidence.banners), evidence.shows) {
        (Reach::Outside, _) | (Reach::Inside(_), Shows::Inside) => return None,
        (Reach::Banner, Shows::Outside) => {
            return Some(Judged::Error(
                "a control read a canary's secret that no ledger has: the fixture's fault".into(),
            ));
        }
        (Reach::Foreign, _) => {
            return Some(Judged::Error("a control's report is of another kind than the attempt".into()));
        }
        (Reach::Banner | Reach::Inside(_) | Reach::Nowhere, _) => {}
    }
    let Some(observation) = &record.observation else {
        return Some(Judged::Undecided("a control has no report".into()));
    };
    if let Outcome::Refused { errno, .. } = &observation.outcome
        && UNSUPPORTED.contains(errno)
    {
        return Some(Judged::Untestable(describe::outcome(&observation.outcome)));
    }
    Some(Judged::Undecided(format!(
        "the control without a sandbox did not get through: {}; outside, {}",
        describe::outcome(&observation.outcome),
        describe::sightings(&record.sightings)
    )))
}

impl Judged {
    /// The same in the results' word.
    pub fn outcome(&self) -> AttemptOutcome {
        match self {
            Self::Denied => AttemptOutcome::Denied,
            Self::AnsweredLocally => AttemptOutcome::AnsweredLocally,
            Self::TimedOutUnseen => AttemptOutcome::TimedOut,
            Self::GotThrough(_) => AttemptOutcome::GotThrough,
            Self::Undecided(_) => AttemptOutcome::Undecided,
            Self::Untestable(_) => AttemptOutcome::UntestableHere,
            Self::Error(_) => AttemptOutcome::NoReport,
        }
    }
}

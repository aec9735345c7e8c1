//! The rules of judgement: evidence in, verdicts out. Pure: `verify` replays it over a stored bundle.
//!
//! For a deny-check, each attempt is judged by one table (see [`attempt`]); silence, crashes and attempts without a
//! living control never read as a denial.

use watertight_probe::observation::Outcome;
use watertight_reports::{
    evidence::{AttemptRecord, Evidence, LaunchKind},
    results::{CheckResult, Level, Seeing, Seen, Verdict},
};

use crate::{
    case::{Case, Ruling},
    check::{Check, Item, Need, Rule, Shows},
    describe,
    reach::{self, Reach},
};

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
    pub controls: &'a [Option<&'a AttemptRecord>],
    pub banners: &'a [String],
    /// Whether the outside record is whole.
    pub gaps: bool,
}

/// The table of deny-checks.
pub fn attempt(evidence: Evidenced<'_>) -> Judged {
    let Some(target) = evidence.target else { return Judged::Error("the attempt was not planned".into()) };
    match reach::of(target, evidence.banners) {
        Reach::Outside => return Judged::GotThrough(format!("outside, {}", describe::sightings(&target.sightings))),
        Reach::Banner => return Judged::GotThrough("the secret of a canary was read inside".into()),
        Reach::Inside(what) => return Judged::GotThrough(what),
        Reach::Nowhere => {}
    }
    if let Some(problem) = control(evidence) {
        return problem;
    }
    if !target.began {
        return Judged::Error("the attempt never began".into());
    }
    let Some(observation) = &target.observation else { return Judged::Error("the attempt has no report".into()) };
    let judged = match &observation.outcome {
        Outcome::Refused { .. } | Outcome::Killed { signal: SIGSYS } => Judged::Denied,
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

const SIGSYS: i32 = 31;
/// Errnos of a kernel that does not have the thing at all.
const UNSUPPORTED: [i32; 4] = [libc::EAFNOSUPPORT, libc::EPROTONOSUPPORT, libc::ESOCKTNOSUPPORT, libc::ENOSYS];

/// Why the controls do not support a judgement, if they do not.
fn control(evidence: Evidenced<'_>) -> Option<Judged> {
    if evidence.controls.is_empty() {
        return Some(Judged::Error("the attempt has no control".into()));
    }
    for record in evidence.controls {
        let Some(record) = record else { return Some(Judged::Error("a control was not made".into())) };
        let reached = match (reach::of(record, evidence.banners), evidence.shows) {
            (Reach::Outside, _) | (Reach::Inside(_), Shows::Inside) => true,
            (Reach::Banner | Reach::Inside(_) | Reach::Nowhere, _) => false,
        };
        if reached {
            continue;
        }
        let Some(observation) = &record.observation else {
            return Some(Judged::Undecided("a control has no report".into()));
        };
        if let Outcome::Refused { errno, .. } = &observation.outcome
            && UNSUPPORTED.contains(errno)
        {
            return Some(Judged::Untestable(describe::outcome(&observation.outcome)));
        }
        return Some(Judged::Undecided(format!(
            "the control without a sandbox did not get through: {}; outside, {}",
            describe::outcome(&observation.outcome),
            describe::sightings(&record.sightings)
        )));
    }
    None
}

/// Judges one check. `items` are what its `plan` declares.
pub fn check(check: &Check, items: &[Item], evidence: &Evidence) -> (CheckResult, Vec<String>) {
    let mut result = CheckResult {
        id: check.id.into(),
        slug: check.slug.into(),
        level: check.level,
        subject: check.subject,
        verdict: Verdict::HarnessError,
        reason: vec![],
        seen: seen(items, check),
        control: check.control,
        observations: vec![],
        witness: vec![],
        mutants: check.mutants.iter().map(|mutant| (*mutant).to_owned()).collect(),
        duration_us: duration(check, evidence),
    };
    let mut untestable = vec![];
    match check.rule {
        Rule::Denied => denied(check, items, evidence, &mut result, &mut untestable),
        Rule::Facts(rule) => {
            let mut case = Case::new(check.slug, evidence);
            rule(&mut case);
            found(check, items, evidence, case.ruling, &mut result);
        }
    }
    if let Some(problem) = alive(evidence) {
        // A breach stands however the launch ended; anything milder needs a workload that really ran.
        if result.verdict != Verdict::Fail || check.level == Level::Should {
            result.verdict = Verdict::HarnessError;
        }
        result.reason.push(problem);
    }
    (result, untestable)
}

/// Why the target's launches say nothing, if they do not: every verdict needs a live workload in its launch.
fn alive(evidence: &Evidence) -> Option<String> {
    let mut targets = evidence.of_kind(LaunchKind::Target).peekable();
    if targets.peek().is_none() {
        return Some("the target was not launched".into());
    }
    targets.find_map(|target| {
        let words = || last_words(&target.errors, &target.stderr);
        if target.hello.is_none() {
            Some(format!("the probe did not answer from inside the target: {}", words()))
        } else if !target.done {
            Some(format!("the probe did not finish: {}", words()))
        } else {
            target.errors.first().map(|error| format!("the probe's channel is broken: {error}"))
        }
    })
}

fn last_words(errors: &[String], stderr: &str) -> String {
    match (errors.last(), stderr.trim()) {
        (Some(error), "") => error.clone(),
        (None, "") => "no reason is known".into(),
        (Some(error), stderr) => format!("{error}; its standard error ends: {stderr}"),
        (None, stderr) => format!("its standard error ends: {stderr}"),
    }
}

fn denied(check: &Check, items: &[Item], evidence: &Evidence, result: &mut CheckResult, untestable: &mut Vec<String>) {
    let mut verdicts = vec![];
    for item in items.iter().filter(|item| item.launches.contains(&LaunchKind::Target)) {
        let id = format!("{}/{}", check.slug, item.name);
        if let Some(why) = &item.untestable {
            untestable.push(id.clone());
            result.observations.push(Seeing {
                attempt: id,
                inside: "not tried".into(),
                outside: "nothing".into(),
                control: why.clone(),
                outcome: "untestable-here".into(),
            });
            continue;
        }
        let controls: Vec<_> =
            item.launches.iter().filter(|kind| is_control(**kind)).map(|kind| record(evidence, *kind, &id)).collect();
        let target = record(evidence, LaunchKind::Target, &id);
        let judged = attempt(Evidenced {
            shows: item.shows,
            target,
            controls: &controls,
            banners: &evidence.banners,
            gaps: !evidence.gaps.is_empty(),
        });
        result.observations.push(seeing(&id, target, controls.first().copied().flatten(), outcome_word(&judged)));
        if let Judged::Untestable(_) = judged {
            untestable.push(id.clone());
        }
        let (verdict, reason) = verdict_of(&judged, item.need);
        if let Some(reason) = reason {
            result.reason.push(format!("{}: {reason}", item.name));
        }
        verdicts.extend(verdict);
    }
    if verdicts.is_empty() {
        result.reason.push("no attempt of it could be made here".into());
    }
    result.verdict = combine(&verdicts);
}

/// What an attempt contributes to its requirement; nothing where it is left out.
fn verdict_of(judged: &Judged, need: Need) -> (Option<Verdict>, Option<String>) {
    match judged {
        Judged::Denied => (Some(Verdict::Pass), None),
        Judged::AnsweredLocally => (Some(Verdict::Pass), Some("answered-locally".into())),
        Judged::TimedOutUnseen => (Some(Verdict::Pass), Some("timed out, and nothing was seen outside".into())),
        Judged::GotThrough(how) => (Some(Verdict::Fail), Some(how.clone())),
        Judged::Undecided(why) => (Some(Verdict::Inconclusive), Some(why.clone())),
        Judged::Untestable(why) => match need {
            Need::Required => (Some(Verdict::Inconclusive), Some(format!("untestable here: {why}"))),
            Need::WhereSupported => (None, None),
        },
        Judged::Error(what) => (Some(Verdict::HarnessError), Some(what.clone())),
    }
}

/// A requirement's verdict from its attempts': the worst that is certain first.
pub fn combine(verdicts: &[Verdict]) -> Verdict {
    let has = |verdict| verdicts.contains(&verdict);
    if has(Verdict::Fail) {
        Verdict::Fail
    } else if has(Verdict::HarnessError) {
        Verdict::HarnessError
    } else if has(Verdict::Inconclusive) || verdicts.is_empty() {
        Verdict::Inconclusive
    } else {
        Verdict::Pass
    }
}

fn found(check: &Check, items: &[Item], evidence: &Evidence, ruling: Ruling, result: &mut CheckResult) {
    for item in items {
        for kind in item.launches.iter().filter(|kind| !is_control(**kind)) {
            let id = format!("{}/{}", check.slug, item.name);
            let shown = if *kind == LaunchKind::Target { id.clone() } else { format!("{id} ({kind:?})") };
            let mut seeing = seeing(&id, record(evidence, *kind, &id), None, "recorded");
            seeing.attempt = shown;
            result.observations.push(seeing);
        }
    }
    result.verdict = ruling_verdict(&ruling);
    result.reason = [ruling.breaches, ruling.faults, ruling.missing, ruling.control_faults].concat();
    result.witness = ruling.notes;
}

/// A breach is certain; without one, missing evidence and dead controls leave nothing to judge.
pub fn ruling_verdict(ruling: &Ruling) -> Verdict {
    if !ruling.breaches.is_empty() {
        Verdict::Fail
    } else if !ruling.missing.is_empty() {
        Verdict::HarnessError
    } else if !ruling.control_faults.is_empty() {
        Verdict::Inconclusive
    } else if !ruling.faults.is_empty() {
        Verdict::Fail
    } else {
        Verdict::Pass
    }
}

fn is_control(kind: LaunchKind) -> bool {
    match kind {
        LaunchKind::ControlBefore | LaunchKind::ControlAfter | LaunchKind::RootBefore | LaunchKind::RootAfter => true,
        LaunchKind::Target | LaunchKind::NoInstance | LaunchKind::Second | LaunchKind::Own => false,
    }
}

fn record<'a>(evidence: &'a Evidence, kind: LaunchKind, id: &str) -> Option<&'a AttemptRecord> {
    evidence.of_kind(kind).find_map(|launch| launch.attempts.get(id))
}

fn seeing(id: &str, target: Option<&AttemptRecord>, control: Option<&AttemptRecord>, outcome: &str) -> Seeing {
    let inside = |record: &AttemptRecord| {
        record
            .observation
            .as_ref()
            .map_or("no report".to_owned(), |observation| describe::outcome(&observation.outcome))
    };
    Seeing {
        attempt: id.to_owned(),
        inside: target.map_or("no report".into(), inside),
        outside: target.map_or("nothing".into(), |record| describe::sightings(&record.sightings)),
        control: control.map_or(String::new(), |record| {
            format!("{}; outside, {}", inside(record), describe::sightings(&record.sightings))
        }),
        outcome: outcome.to_owned(),
    }
}

fn outcome_word(judged: &Judged) -> &'static str {
    match judged {
        Judged::Denied => "denied",
        Judged::AnsweredLocally => "answered-locally",
        Judged::TimedOutUnseen => "timed-out",
        Judged::GotThrough(_) => "got-through",
        Judged::Undecided(_) => "undecided",
        Judged::Untestable(_) => "untestable-here",
        Judged::Error(_) => "no-report",
    }
}

fn seen(items: &[Item], check: &Check) -> Seen {
    let two_sided =
        items.iter().any(|item| item.shows == Shows::Outside) || !check.scenarios.is_empty() || check.witnessed;
    if two_sided { Seen::TwoSided } else { Seen::InsideOnly }
}

fn duration(check: &Check, evidence: &Evidence) -> u64 {
    let prefix = format!("{}/", check.slug);
    let target = evidence.of_kind(LaunchKind::Target).flat_map(|launch| &launch.attempts);
    target
        .filter(|(id, _)| id.starts_with(&prefix))
        .filter_map(|(_, record)| record.observation.as_ref())
        .map(|observation| observation.micros)
        .sum()
}

#[cfg(test)]
mod tests;

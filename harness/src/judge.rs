//! The rules of judgement: evidence in, verdicts out. Pure: `verify` replays it over a stored bundle.
//!
//! For a deny-check, each attempt is judged by one table (see [`attempt`]); silence, crashes and attempts without a
//! living control never read as a denial.

mod absent;
mod attempt;

pub use attempt::{Control, Evidenced, Judged, attempt};

use watertight_reports::{
    evidence::{AttemptRecord, Evidence, Launch, LaunchKind},
    results::{AttemptOutcome, CheckResult, Level, Seeing, Seen, Verdict},
};

use crate::{
    case::{Case, Ruling, is_unseen},
    check::{Check, Item, Need, Rule, Shows},
    describe,
    reach::{self, Reach},
};

/// Judges one check. `items` are what its `plan` declares. Also the ids of its attempts that are untestable here.
pub fn check(check: &Check, items: &[Item], evidence: &Evidence) -> (CheckResult, Vec<String>) {
    let mut result = CheckResult {
        id: check.id.into(),
        slug: check.slug.into(),
        level: check.level,
        subject: check.subject,
        verdict: Verdict::HarnessError,
        reason: vec![],
        seen: seen(items, check, evidence),
        control: check.control,
        observations: vec![],
        witness: vec![],
        mutants: check.mutants.iter().chain(check.mutants_of_root).map(|mutant| (*mutant).to_owned()).collect(),
        duration_us: duration(check, evidence),
    };
    let mut untestable = vec![];
    let certain = if let Some(reasons) = absent::declared(check, evidence) {
        absent::judge(check, items, evidence, reasons, &mut result)
    } else {
        match check.rule {
            Rule::Denied => denied(check, items, evidence, &mut result, &mut untestable),
            Rule::Facts(rule) => {
                let mut case = Case::new(check.slug, evidence);
                rule(&mut case);
                found(check, items, evidence, case.ruling, &mut result)
            }
        }
    };
    if let Some(problem) = alive(evidence) {
        // A proven breach stands however the launch ended; anything milder needs a workload that really ran.
        if !certain || check.level == Level::Should {
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

/// Whether a breach was proven.
fn denied(
    check: &Check,
    items: &[Item],
    evidence: &Evidence,
    result: &mut CheckResult,
    untestable: &mut Vec<String>,
) -> bool {
    let mut verdicts = vec![];
    for item in items.iter().filter(|item| item.launches.contains(&LaunchKind::Target)) {
        let id = format!("{}/{}", check.slug, item.name);
        if let Some(why) = &item.untestable {
            let judged = Judged::Untestable(why.clone());
            result.observations.push(not_tried(&id, why));
            take(item, &judged, &mut verdicts, result);
            untestable.push(id);
            continue;
        }
        let controls: Vec<_> =
            item.launches.iter().filter(|kind| is_control(**kind)).map(|kind| control(evidence, *kind, &id)).collect();
        let target = record(evidence, LaunchKind::Target, &id);
        let evidenced = Evidenced {
            shows: item.shows,
            target,
            controls: &controls,
            banners: &evidence.banners,
            gaps: !evidence.gaps.is_empty(),
        };
        let judged = attempt(evidenced);
        let first = controls.first().and_then(|control| control.record);
        result.observations.push(seeing(&id, target, first, judged.outcome()));
        if let Judged::Untestable(_) = judged {
            untestable.push(id.clone());
        }
        take(item, &judged, &mut verdicts, result);
        for (launch, record) in elsewhere(evidence, &id) {
            // Other launches of the target may be ended before they report, so of them only a breach counts.
            let judged = attempt(Evidenced { target: Some(record), ..evidenced });
            if let Judged::GotThrough(_) = judged {
                result.observations.push(seeing(
                    &format!("{id} ({})", launch.id),
                    Some(record),
                    first,
                    judged.outcome(),
                ));
                take(item, &judged, &mut verdicts, result);
            }
        }
    }
    if verdicts.is_empty() {
        result.reason.push("no attempt of it could be made here".into());
    }
    result.verdict = combine(&verdicts);
    result.verdict == Verdict::Fail
}

/// Adds what one attempt contributes.
fn take(item: &Item, judged: &Judged, verdicts: &mut Vec<Verdict>, result: &mut CheckResult) {
    let (verdict, reason) = verdict_of(judged, item.need);
    result.reason.extend(reason.map(|reason| format!("{}: {reason}", item.name)));
    verdicts.extend(verdict);
}

/// The same attempt in the target's other launches.
fn elsewhere<'a>(evidence: &'a Evidence, id: &str) -> impl Iterator<Item = (&'a Launch, &'a AttemptRecord)> {
    let others =
        evidence.launches.iter().filter(|launch| launch.kind != LaunchKind::Target && !is_control(launch.kind));
    others.filter_map(move |launch| Some((launch, launch.attempts.get(id)?)))
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
    } else if has(Verdict::Pass) && verdicts.iter().all(|verdict| *verdict == Verdict::Pass) {
        Verdict::Pass
    } else {
        Verdict::Inconclusive
    }
}

/// Whether a breach was proven.
fn found(check: &Check, items: &[Item], evidence: &Evidence, ruling: Ruling, result: &mut CheckResult) -> bool {
    for item in items {
        for kind in item.launches.iter().filter(|kind| !is_control(**kind)) {
            let id = format!("{}/{}", check.slug, item.name);
            let shown = if *kind == LaunchKind::Target { id.clone() } else { format!("{id} ({kind:?})") };
            let target = record(evidence, *kind, &id);
            let mut seeing = seeing(&id, target, None, outcome_by(&ruling, &item.name, target));
            seeing.attempt = shown;
            result.observations.push(seeing);
        }
    }
    let gaps = !evidence.gaps.is_empty();
    result.verdict = ruling_verdict(&ruling, gaps);
    let certain = !ruling.breaches.is_empty();
    result.reason = [ruling.breaches, ruling.faults, ruling.missing, ruling.control_faults].concat();
    if gaps && ruling.looked_outside {
        result.reason.push("the outside record has gaps, so silence there means nothing".into());
    }
    result.witness = ruling.notes;
    certain
}

/// What an attempt amounts to where its rule spoke of it by name: `name: what is wrong`.
fn outcome_by(ruling: &Ruling, name: &str, record: Option<&AttemptRecord>) -> AttemptOutcome {
    let names =
        |texts: &[String]| texts.iter().any(|text| text.strip_prefix(name).is_some_and(|rest| rest.starts_with(": ")));
    if record.is_none_or(|record| record.observation.is_none()) {
        AttemptOutcome::NoReport
    } else if names(&ruling.breaches) || names(&ruling.faults) {
        AttemptOutcome::NotAsRequired
    } else if names(&ruling.control_faults) || names(&ruling.missing) {
        AttemptOutcome::Undecided
    } else {
        AttemptOutcome::Recorded
    }
}

/// A breach is certain; without one, missing evidence, dead controls and gaps in what was read leave nothing to judge.
pub fn ruling_verdict(ruling: &Ruling, gaps: bool) -> Verdict {
    if !ruling.breaches.is_empty() {
        Verdict::Fail
    } else if !ruling.missing.is_empty() {
        Verdict::HarnessError
    } else if !ruling.control_faults.is_empty() || (gaps && ruling.looked_outside) {
        Verdict::Inconclusive
    } else if !ruling.faults.is_empty() {
        Verdict::Fail
    } else {
        Verdict::Pass
    }
}

/// Whether launches of this kind run the probe without a sandbox.
pub fn is_control(kind: LaunchKind) -> bool {
    match kind {
        LaunchKind::ControlBefore | LaunchKind::ControlAfter | LaunchKind::RootBefore | LaunchKind::RootAfter => true,
        LaunchKind::Target | LaunchKind::NoInstance | LaunchKind::Second | LaunchKind::Own => false,
    }
}

fn record<'a>(evidence: &'a Evidence, kind: LaunchKind, id: &str) -> Option<&'a AttemptRecord> {
    evidence.of_kind(kind).find_map(|launch| launch.attempts.get(id))
}

fn control<'a>(evidence: &'a Evidence, kind: LaunchKind, id: &str) -> Control<'a> {
    let launch = evidence.of_kind(kind).find(|launch| launch.attempts.contains_key(id));
    Control {
        record: launch.and_then(|launch| launch.attempts.get(id)),
        broken: launch.is_some_and(|launch| launch.problem().is_some()),
    }
}

fn seeing(
    id: &str,
    target: Option<&AttemptRecord>,
    control: Option<&AttemptRecord>,
    outcome: AttemptOutcome,
) -> Seeing {
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
        outcome,
    }
}

fn not_tried(id: &str, why: &str) -> Seeing {
    Seeing {
        attempt: id.to_owned(),
        inside: "not tried".into(),
        outside: "nothing".into(),
        control: why.to_owned(),
        outcome: AttemptOutcome::UntestableHere,
    }
}

fn seen(items: &[Item], check: &Check, evidence: &Evidence) -> Seen {
    let witnessed = check.witnessed && !evidence.of_kind(LaunchKind::Target).any(is_unseen);
    let two_sided = items.iter().any(|item| item.shows == Shows::Outside) || !check.scenarios.is_empty() || witnessed;
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

//! Compares two runs, requirement by requirement.

use std::collections::{BTreeMap, BTreeSet};

use super::{Change, Diff, Kind, SCHEMA, Side};
use crate::{
    bundle::shown::Shown,
    mutants::{Fate, Mutant},
    results::{AttemptOutcome, CheckResult, ControlKind, Fact, Level, Results, Seen, Verdict},
    sanitise,
};

/// What is different in `after`.
pub fn of(before: &Shown, after: &Shown) -> Diff {
    let mut changes = vec![];
    circumstances(before, after, &mut changes);
    let find = |results: &'_ Results, id: &str| results.checks.iter().find(|check| check.id == id).cloned();
    for check in &before.results.checks {
        match find(&after.results, &check.id) {
            Some(now) => requirement(check, &now, &mut changes),
            None => changes.push(change(Kind::RequirementRemoved, &check.id, word(check.verdict), "no result")),
        }
    }
    for check in &after.results.checks {
        if find(&before.results, &check.id).is_none() {
            changes.push(change(Kind::RequirementAdded, &check.id, "no result", word(check.verdict)));
            if check.verdict == Verdict::Fail && check.level == Level::Must {
                changes.push(change(Kind::NewlyFailing, &check.id, "no result", "fail"));
            }
        }
    }
    untestable(&before.results, &after.results, &mut changes);
    mutants(&before.results.sensitivity, &after.results.sensitivity, &mut changes);
    match (&before.mutants, &after.mutants) {
        (Some(before), after) => mutants(before, after.as_deref().unwrap_or_default(), &mut changes),
        (None, Some(after)) => mutants(&[], after, &mut changes),
        (None, None) => {}
    }
    changes.sort();
    changes.dedup();
    let (regressions, changes) = changes.into_iter().partition(|change| change.kind.is_regression());
    Diff { schema: SCHEMA, before: side(&before.results), after: side(&after.results), regressions, changes }
}

fn side(results: &Results) -> Side {
    Side {
        target: results.target.name.clone(),
        version: results.target.version.clone(),
        status_line: results.status_line(),
        started_at: results.started_at.clone(),
    }
}

/// What was tested, by what, where.
fn circumstances(before: &Shown, after: &Shown, changes: &mut Vec<Change>) {
    let fact = |shown: &Shown, name: &str| match shown.results.environment.get(name) {
        Some(Fact::Known(value)) => value.clone(),
        Some(Fact::Unavailable(why)) => format!("not known: {why}"),
        None => "not recorded".to_owned(),
    };
    let harness = |shown: &Shown| {
        let digest = shown.predicate.as_ref().map(|predicate| predicate.harness.sha256.as_str());
        digest.map_or("not recorded".into(), |digest| sanitise::text(digest, sanitise::NAME_LIMIT))
    };
    let of = |shown: &Shown| {
        let (results, target) = (&shown.results, &shown.results.target);
        [
            (Kind::OtherTarget, "target", target.name.clone()),
            (Kind::OtherVersion, "version", target.version.clone()),
            (Kind::OtherRoute, "route", target.route.clone()),
            (Kind::OtherIdentity, "launched as", target.launched_as.clone()),
            (Kind::OtherIdentity, "harness runs as", fact(shown, "identity")),
            (Kind::OtherSpec, "profile", results.profile.clone()),
            (Kind::OtherHarness, "harness", harness(shown)),
            (Kind::OtherKernel, "kernel", fact(shown, "kernel")),
        ]
    };
    for ((kind, name, before), (_, _, after)) in of(before).into_iter().zip(of(after)) {
        if before != after {
            changes.push(change(kind, name, &before, &after));
        }
    }
}

fn requirement(before: &CheckResult, after: &CheckResult, changes: &mut Vec<Change>) {
    let id = &before.id;
    let verdicts = (word(before.verdict), word(after.verdict));
    if before.verdict != after.verdict {
        let kind = match after.verdict {
            Verdict::Pass => Kind::NewlyPassing,
            Verdict::Fail => Kind::NewlyFailing,
            Verdict::Inconclusive | Verdict::HarnessError => Kind::NewlyInconclusive,
            Verdict::NotApplicable => Kind::NewlyNotApplicable,
        };
        let reason = after.reason.first().map_or(String::new(), |reason| format!(": {reason}"));
        changes.push(change(kind, id, verdicts.0, &format!("{}{reason}", verdicts.1)));
    }
    if (before.level, after.level) == (Level::Must, Level::Should) {
        changes.push(change(Kind::LevelLowered, id, "MUST", "SHOULD"));
    }
    if strength(after.seen, after.control) < strength(before.seen, before.control) {
        let shown = |check: &CheckResult| format!("{:?}, {:?}", check.control, check.seen);
        changes.push(change(Kind::ControlWeakened, id, &shown(before), &shown(after)));
    }
    let made = |check: &CheckResult| -> BTreeMap<String, AttemptOutcome> {
        check.observations.iter().map(|one| (one.attempt.clone(), one.outcome)).collect()
    };
    let (was, is) = (made(before), made(after));
    for (attempt, outcome) in &was {
        let lost = is.get(attempt).is_none_or(|now| *now == AttemptOutcome::UntestableHere);
        if lost && *outcome != AttemptOutcome::UntestableHere {
            let now = is.get(attempt).map_or("not made", |_| "untestable here");
            changes.push(change(Kind::AttemptLost, attempt, outcome.word(), now));
        }
    }
    for (attempt, outcome) in is.iter().filter(|(attempt, _)| !was.contains_key(*attempt)) {
        changes.push(change(Kind::AttemptAdded, attempt, "not made", outcome.word()));
    }
    for lost in before.mutants.iter().filter(|slug| !after.mutants.contains(slug)) {
        changes.push(change(Kind::MutantLost, lost, &format!("{id} must catch it"), "nothing says so"));
    }
}

/// How much a control and the side it is seen from show. Kinds of control cannot be compared with each other but for one:
/// what the world's root can do unconfined, a user may not be able to.
fn strength(seen: Seen, control: ControlKind) -> (u8, u8) {
    let seen = match seen {
        Seen::TwoSided => 1,
        Seen::InsideOnly => 0,
    };
    let control = match control {
        ControlKind::Unconfined | ControlKind::UnconfinedRoot => 1,
        ControlKind::Twin | ControlKind::KnownPositive => 0,
    };
    (seen, control)
}

fn untestable(before: &Results, after: &Results, changes: &mut Vec<Change>) {
    let was: BTreeSet<&String> = before.untestable.iter().collect();
    for attempt in after.untestable.iter().filter(|attempt| !was.contains(attempt)) {
        changes.push(change(Kind::AttemptLost, attempt, "made", "untestable here"));
    }
}

fn mutants(before: &[Mutant], after: &[Mutant], changes: &mut Vec<Change>) {
    for mutant in before.iter().filter(|mutant| mutant.status == Fate::Killed) {
        let now = after.iter().find(|now| now.slug == mutant.slug);
        match now.map(|now| now.status) {
            Some(Fate::Killed) => {}
            Some(fate) => changes.push(change(Kind::MutantLost, &mutant.slug, "killed", fate.name())),
            None => changes.push(change(Kind::MutantLost, &mutant.slug, "killed", "not there")),
        }
    }
    for mutant in after.iter().filter(|now| before.iter().all(|mutant| mutant.slug != now.slug)) {
        changes.push(change(Kind::MutantAdded, &mutant.slug, "not there", mutant.status.name()));
    }
}

fn change(kind: Kind, of: &str, before: &str, after: &str) -> Change {
    Change { kind, of: of.to_owned(), before: before.to_owned(), after: after.to_owned() }
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "pass",
        Verdict::Fail => "fail",
        Verdict::Inconclusive => "inconclusive",
        Verdict::NotApplicable => "not applicable",
        Verdict::HarnessError => "harness error",
    }
}

//! Waivers: a requirement about routes that a manifest declares absent is not applicable, unless one of them works.

use watertight_probe::observation::Outcome;
use watertight_reports::{
    evidence::{Evidence, LaunchKind},
    results::{AttemptOutcome, CheckResult, Verdict},
};

use super::{combine, record, seeing};
use crate::{
    check::{Capability, Check, Item},
    describe,
};

/// The reasons of the declarations that waive this check: every route that it is about must be declared absent, or the
/// relay that it is about.
pub(super) fn declared(check: &Check, evidence: &Evidence) -> Option<Vec<String>> {
    let declared = |capability: &Capability| {
        let name = capability.name();
        evidence.absent.get(name).map(|reason| format!("{name} is declared absent: {reason}"))
    };
    let reasons: Option<Vec<String>> = check.waived_by.iter().map(declared).collect();
    let by_relay = || check.of_relays.then(|| declared(&Capability::Relay).map(|reason| vec![reason])).flatten();
    reasons.filter(|reasons| !reasons.is_empty()).or_else(by_relay)
}

/// Judges what was tried of the absent routes. Whether one works for certain.
pub(super) fn judge(
    check: &Check,
    items: &[Item],
    evidence: &Evidence,
    reasons: Vec<String>,
    result: &mut CheckResult,
) -> bool {
    let mut verdicts = vec![];
    for item in items {
        let id = format!("{}/{}", check.slug, item.name);
        let record = record(evidence, LaunchKind::Target, &id);
        let outcome = record.and_then(|record| Some(&record.observation.as_ref()?.outcome));
        let hit = record.is_some_and(|record| record.sightings.iter().any(|one| one.fixture != "capture"));
        let (verdict, word, reason) = match outcome {
            _ if hit => (Verdict::Fail, AttemptOutcome::GotThrough, Some("its origin was asked".to_owned())),
            Some(Outcome::Found { .. } | Outcome::Heard { .. } | Outcome::Silent { .. }) => {
                (Verdict::Fail, AttemptOutcome::GotThrough, Some("its port answers".to_owned()))
            }
            Some(Outcome::Refused { .. } | Outcome::Killed { signal: libc::SIGSYS }) => {
                (Verdict::NotApplicable, AttemptOutcome::Denied, None)
            }
            Some(other) => (Verdict::Inconclusive, AttemptOutcome::Undecided, Some(describe::outcome(other))),
            None => (Verdict::HarnessError, AttemptOutcome::NoReport, Some("the attempt has no report".to_owned())),
        };
        result.observations.push(seeing(&id, record, None, word));
        result.reason.extend(reason.map(|reason| format!("{}: {reason}", item.name)));
        verdicts.push(verdict);
    }
    let refused = !verdicts.is_empty() && verdicts.iter().all(|verdict| *verdict == Verdict::NotApplicable);
    result.verdict = if refused { Verdict::NotApplicable } else { combine(&verdicts) };
    result.reason.extend(reasons);
    result.verdict == Verdict::Fail
}

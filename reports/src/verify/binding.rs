//! The step about who is who: statement, plan, results and records name one run, one target and one set of requirements.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    code::Code,
    gate::{Rejection, Strictness, refuse, require},
    judge::Judge,
    payload::Read,
};
use crate::{
    bundle::{
        MATRIX, TARGET,
        payload::{self, Payload},
    },
    mutants::Fate,
    predicate::{Predicate, logged_profile},
    results::{Fact, Level},
    sanitise,
    signing::digest::Digest,
    time,
};

/// Every requirement has one result, whose lines are this run's own.
pub fn binding(
    predicate: &Predicate,
    read: &Read,
    judge: &impl Judge,
    strictness: &impl Strictness,
) -> Result<(), Rejection> {
    let requirements: BTreeMap<String, Level> = judge.requirements(&predicate.profile.id).into_iter().collect();
    let mut found = BTreeMap::new();
    for check in &predicate.checks {
        let id = sanitise::text(&check.id, sanitise::NAME_LIMIT);
        require(strictness, requirements.contains_key(&check.id), Code::CheckUnknown, || {
            format!("the profile has no requirement {id:?}")
        })?;
        require(strictness, found.insert(check.id.as_str(), check).is_none(), Code::CheckDup, || {
            format!("{id} has two results")
        })?;
    }
    let Payload { plan, run, evidence, results } = &read.payload;
    // A run that was told to leave requirements out says so, and is incomplete.
    if plan.filter.is_none() {
        let missing: Vec<&str> = requirements.keys().map(String::as_str).filter(|id| !found.contains_key(id)).collect();
        require(strictness, missing.is_empty(), Code::CheckMissing, || {
            format!("no result for {}", missing.join(", "))
        })?;
    }
    let fact = |name: &str| match results.environment.get(name) {
        Some(Fact::Known(text)) => Some(text),
        Some(Fact::Unavailable(_)) | None => None,
    };
    let of_run = [
        (plan.run == predicate.run.id, "run"),
        (plan.challenge == predicate.run.challenge, "challenge"),
        (plan.started_at == predicate.run.started_at, "start"),
        (plan.official == predicate.run.official, "kind of run"),
        (plan.harness_sha256 == predicate.harness.sha256, "harness"),
        (plan.target == predicate.target.name && results.target.name == plan.target, "target"),
        (results.target.version == predicate.target.version, "version"),
        (results.target.route == predicate.target.route, "route"),
        (results.target.launched_as == predicate.target.launched_as, "identity"),
        (results.target.argv == predicate.target.argv, "launch"),
        (results.target.launched_as == if plan.as_root { "root" } else { "user" }, "identity"),
        (agree(&results.environment, &predicate.environment), "environment"),
        (fact("identity") == Some(&predicate.run.identity), "identity"),
        (fact("filter") == plan.filter.as_ref(), "filter"),
        (plan.spec == predicate.spec.version, "version of the text"),
        (plan.profile == predicate.profile.id, "profile"),
        (results.profile == logged_profile(&predicate.profile.id, &predicate.profile.version), "profile"),
        (results.spec == predicate.spec.version, "version of the text"),
        (plan.complete == plan.filter.is_none(), "completeness"),
        (run.nonce == predicate.run.nonce && run.salt == predicate.run.salt, "nonce"),
    ];
    if let Some((_, what)) = of_run.iter().find(|(same, _)| !same) {
        refuse(strictness, Code::ObsMismatch, format!("statement and payload name another {what}"))?;
    }
    if let Some(place) = judge.foreign(&predicate.run.nonce, evidence) {
        refuse(
            strictness,
            Code::LogNonce,
            format!("{}: its lines are not of this run and attempt", sanitise::text(&place, sanitise::NAME_LIMIT)),
        )?;
    }
    times(predicate, read, strictness)?;
    target(predicate, read, judge, strictness)?;
    claims(predicate, read, judge, strictness)
}

/// What the results say of the machine, the statement says as well.
fn agree(results: &BTreeMap<String, Fact>, statement: &BTreeMap<String, Fact>) -> bool {
    results.iter().all(|(name, fact)| statement.get(name) == Some(fact))
}

/// Everything happened between the run's start and its end.
fn times(predicate: &Predicate, read: &Read, strictness: &impl Strictness) -> Result<(), Rejection> {
    let Payload { evidence, results, .. } = &read.payload;
    let run = &predicate.run;
    let outlasted = evidence.launches.iter().find(|launch| {
        let began = launch.number("began_at").unwrap_or_default();
        began.saturating_add(launch.micros) / 1_000 > run.monotonic_ms.saturating_add(1)
    });
    if let Some(launch) = outlasted {
        let id = sanitise::text(&launch.id, sanitise::NAME_LIMIT);
        refuse(strictness, Code::TimeCheck, format!("launch {id} ended after its run"))?;
    }
    let moments = [&run.started_at, &results.started_at, &run.finished_at].map(|text| time::parse(text));
    let ordered = moments.iter().all(Option::is_some) && moments.is_sorted() && results.wall_ms <= run.monotonic_ms;
    require(strictness, ordered, Code::TimeCheck, || "the results are of another time than their run".into())
}

/// The statement says of the target what its manifest does.
fn target(
    predicate: &Predicate,
    read: &Read,
    judge: &impl Judge,
    strictness: &impl Strictness,
) -> Result<(), Rejection> {
    let Payload { evidence, plan, .. } = &read.payload;
    let unread = |problem: String| {
        let problem = sanitise::text(problem, sanitise::LIMIT);
        Rejection::new(Code::Schema, format!("payload/{TARGET}: {problem}"))
    };
    let manifest = std::str::from_utf8(&read.target).map_err(|error| unread(error.to_string()))?;
    let declared = judge.declared(manifest, &plan.target).map_err(unread)?;
    let target = &predicate.target;
    require(strictness, target.kind == declared.kind, Code::Kind, || {
        format!("the statement calls the target {:?}, and its manifest {:?}", target.kind, declared.kind)
    })?;
    require(strictness, evidence.absent == declared.absent, Code::NaNotAllowed, || {
        "the evidence calls other things absent than the target's manifest does".into()
    })?;
    let names: Vec<&str> = target.artifacts.iter().map(|one| one.name.as_str()).collect();
    let same = [
        (declared.name == plan.target, "name"),
        (declared.route == target.route, "route"),
        (declared.env_names == target.env_names, "environment"),
        (declared.artifacts == names, "list of artifacts"),
    ];
    match same.iter().find(|(same, _)| !same) {
        Some((_, what)) => refuse(strictness, Code::ObsMismatch, format!("the target's manifest has another {what}")),
        None => Ok(()),
    }
}

/// What the statement says beside verdicts is what this version of it can say, and no more than is so.
fn claims(
    predicate: &Predicate,
    read: &Read,
    judge: &impl Judge,
    strictness: &impl Strictness,
) -> Result<(), Rejection> {
    let Payload { plan, results, .. } = &read.payload;
    let (run, harness) = (&predicate.run, &predicate.harness);
    require(strictness, predicate.not_claimed == judge.not_claimed(), Code::Schema, || {
        "what is not claimed is not what the text says".into()
    })?;
    let probed = predicate.workload.kind == "probe" && predicate.workload.credentials == "synthetic";
    require(strictness, probed, Code::Schema, || "the workload is no probe with synthetic credentials".into())?;
    // It is there to be pasted into a shell.
    require(strictness, predicate.reproduce == judge.reproduce(plan), Code::Schema, || {
        "what it says of repeating the run is not how that is done".into()
    })?;
    let previous = predicate.previous.as_ref().is_none_or(|digest| digest.parse::<Digest>().is_ok());
    require(strictness, previous, Code::Schema, || "the statement before this one is named by no digest".into())?;
    for redaction in &predicate.redactions {
        let path = sanitise::text(&redaction.path, sanitise::NAME_LIMIT);
        let named =
            read.manifest.entries.contains_key(&redaction.path) && redaction.sha256_before.parse::<Digest>().is_ok();
        require(strictness, named, Code::Schema, || format!("{path:?} cannot have been redacted: it is not there"))?;
        let judged = payload::is_read(&redaction.path) || [MATRIX, TARGET].contains(&redaction.path.as_str());
        require(strictness, !judged, Code::LogBinding, || format!("verdicts rest on {path}, which was redacted"))?;
    }
    let whole = plan.filter.is_none()
        && harness.build == "release"
        && harness.dirty == Some(false)
        && run.challenge.is_some()
        && predicate.mutation_matrix.is_some();
    require(strictness, whole || !run.official, Code::ObsMismatch, || {
        "the run calls itself official, and is filtered, unchallenged, without a kill matrix, or by no release".into()
    })?;
    let slugs: BTreeSet<&str> = results.sensitivity.iter().map(|row| row.slug.as_str()).collect();
    let unfounded =
        results.sensitivity.iter().find(|row| row.status == Fate::Killed && row.judge(true) != Fate::Killed);
    let whole = slugs.len() == results.sensitivity.len() && (plan.with_mutants || slugs.is_empty());
    require(strictness, unfounded.is_none() && whole, Code::Mutctl, || {
        "what the results say of the target's mutants contradicts itself or the plan".into()
    })
}

//! The steps about the raw evidence: the closed world of its files, and whether the verdicts follow from it.

use std::collections::BTreeMap;

use super::{
    code::Code,
    gate::{Rejection, Strictness, refuse, require},
    judge::Judge,
    matrix::Document,
};
use crate::{
    bundle::{
        MANIFEST, MATRIX, Manifest, ManifestError, REPORTS, TARGET,
        payload::{self, Payload},
        read::{Bundle, Files, ReadError},
    },
    predicate::{Check, Predicate, Summary},
    results::{CheckResult, Counts, Fact, Level, Status, Verdict},
    sanitise,
};

/// Bytes of `SHA256SUMS`, at most.
const MAX_MANIFEST: u64 = 8 << 20;

/// What was read of a payload.
#[derive(Clone, Debug)]
pub struct Read {
    pub payload: Payload,
    pub manifest: Manifest,
    /// The kill matrix's document, where there is one.
    pub matrix: Option<Vec<u8>>,
    reports: Files,
}

/// The files are exactly those that were signed.
pub fn closed_world(bundle: &Bundle, predicate: &Predicate, strictness: &impl Strictness) -> Result<Read, Rejection> {
    let bytes = bundle.beside(MANIFEST, MAX_MANIFEST).map_err(unread)?;
    let manifest = Manifest::parse(&bytes).map_err(|error| {
        let code = match error {
            ManifestError::Path { .. } => Code::ManifestPath,
            ManifestError::Long => Code::FileTooBig,
            ManifestError::Syntax(_) | ManifestError::Order(_) | ManifestError::Case { .. } => Code::ManifestSyntax,
        };
        Rejection::new(code, format!("{MANIFEST}: {error}"))
    })?;
    let bound = &predicate.evidence;
    let digest = hex::encode(manifest.digest());
    require(strictness, digest == bound.manifest_sha256, Code::ManifestDigest, || {
        format!("{MANIFEST} has the digest {digest}, and another was signed")
    })?;
    require(strictness, manifest.entries.len() == bound.entries as usize, Code::ManifestCount, || {
        format!("{MANIFEST} has {} lines, and {} were signed", manifest.entries.len(), bound.entries)
    })?;
    require(strictness, hex::encode(manifest.merkle_root()) == bound.merkle_root, Code::Merkle, || {
        format!("the lines of {MANIFEST} have another Merkle root than was signed")
    })?;
    let wanted = |path: &str| payload::is_read(path) || path == MATRIX || is_report(path);
    let mut files = bundle.payload(&manifest, wanted).map_err(unread)?;
    let payload = Payload::take(&mut files).map_err(|error| Rejection::new(Code::Schema, error.to_string()))?;
    let matrix = files.remove(MATRIX);
    let named = manifest.entries.get(TARGET).map(hex::encode);
    require(strictness, named.as_ref() == Some(&predicate.target.manifest_sha256), Code::ObsMismatch, || {
        format!("payload/{TARGET} is not the manifest that was signed")
    })?;
    Ok(Read { payload, manifest, matrix, reports: files })
}

fn is_report(path: &str) -> bool {
    path.strip_prefix(REPORTS).is_some_and(|rest| rest.starts_with('/'))
}

/// The text and the profile are this program's own.
pub fn profile(
    predicate: &Predicate,
    min: &str,
    judge: &impl Judge,
    strictness: &impl Strictness,
) -> Result<(), Rejection> {
    let shown = |text: &str| sanitise::text(text, sanitise::NAME_LIMIT);
    let spec = judge.spec();
    let known = judge.profile(&predicate.profile.id);
    let found = &predicate.profile;
    let same_version = known.as_ref().is_some_and(|known| known.version == found.version);
    if older(&found.version, min) {
        refuse(
            strictness,
            Code::ProfileDowngrade,
            format!("profile {} {} is older than {min}", shown(&found.id), shown(&found.version)),
        )?;
    }
    require(strictness, same_version, Code::ProfileUnknown, || {
        format!("there is no profile {} {} here", shown(&found.id), shown(&found.version))
    })?;
    require(strictness, known.as_ref() == Some(found) && predicate.spec == spec, Code::ProfileDigest, || {
        format!("{} {} has other requirements, or another text, here", shown(&found.id), shown(&found.version))
    })
}

/// Whether a version of two or three numbers comes before another. What is none comes before all.
fn older(version: &str, than: &str) -> bool {
    let numbers =
        |text: &str| text.split('.').map(str::parse::<u32>).collect::<Result<Vec<_>, _>>().unwrap_or_default();
    numbers(version) < numbers(than)
}

/// Every requirement has one result, whose lines are this run's own.
pub fn binding(
    predicate: &Predicate,
    read: &Read,
    judge: &impl Judge,
    strictness: &impl Strictness,
) -> Result<(), Rejection> {
    let requirements: BTreeMap<String, Level> = judge.requirements().into_iter().collect();
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
        (agree(&results.environment, &predicate.environment), "environment"),
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
    let outlasted = evidence.launches.iter().find(|launch| {
        let began = launch.number("began_at").unwrap_or_default();
        began.saturating_add(launch.micros) / 1_000 > predicate.run.monotonic_ms.saturating_add(1)
    });
    if let Some(launch) = outlasted {
        let id = sanitise::text(&launch.id, sanitise::NAME_LIMIT);
        refuse(strictness, Code::TimeCheck, format!("launch {id} ended after its run"))?;
    }
    require(strictness, predicate.not_claimed == judge.not_claimed(), Code::Schema, || {
        "what is not claimed is not what the text says".into()
    })
}

/// What the results say of the machine, the statement says as well.
fn agree(results: &BTreeMap<String, Fact>, statement: &BTreeMap<String, Fact>) -> bool {
    results.iter().all(|(name, fact)| statement.get(name) == Some(fact))
}

/// Every verdict follows from the recorded evidence: it is judged again.
pub fn judgement(
    predicate: &Predicate,
    read: &Read,
    judge: &impl Judge,
    strictness: &impl Strictness,
) -> Result<(), Rejection> {
    let Payload { plan, run, evidence, results } = &read.payload;
    let (again, untestable) = judge
        .judge(&plan.checks, &run.layout, evidence)
        .map_err(|error| Rejection::new(Code::Schema, format!("the evidence cannot be judged: {error}")))?;
    let stored: Vec<&str> = results.checks.iter().map(|check| check.id.as_str()).collect();
    let planned: Vec<&str> = plan.checks.iter().map(String::as_str).collect();
    require(strictness, stored == planned, Code::CheckMissing, || {
        "the results are not about the requirements that were planned".into()
    })?;
    for (stored, judged) in results.checks.iter().zip(&again) {
        follows(stored, judged, strictness)?;
    }
    require(
        strictness,
        untestable == results.untestable && untestable == predicate.untestable,
        Code::ObsMismatch,
        || "other attempts are untestable than the results say".into(),
    )?;
    let stated: Vec<Check> = results.checks.iter().map(|result| judge.stated(result, evidence)).collect();
    for (said, stated) in predicate.checks.iter().zip(&stated) {
        let (id, stated_id) = (&said.id, &stated.id);
        require(strictness, said.attempts == stated.attempts, Code::LogBinding, || {
            format!("{stated_id} rests on attempts that the payload does not record")
        })?;
        let code = match (said.verdict, stated.verdict) {
            (said, stated) if said == stated => Code::ObsMismatch,
            (Verdict::NotApplicable, _) => Code::NaNotAllowed,
            _ => Code::Verdict,
        };
        require(strictness, said == stated, code, || {
            format!("the statement and the results say different things of {id}")
        })?;
    }
    require(strictness, predicate.checks.len() == stated.len(), Code::CheckMissing, || {
        "the statement has another number of results than the payload".into()
    })?;
    let matrix = read.matrix.as_deref().and_then(|bytes| Document::parse(bytes).ok());
    let mutants = matrix.map(|document| document.mutants).unwrap_or_default();
    for (name, bytes) in judge.reports(results, &mutants) {
        let there = read.reports.get(&format!("{REPORTS}/{name}"));
        require(strictness, there.is_none_or(|there| *there == bytes), Code::ReportMismatch, || {
            format!("{REPORTS}/{name} is not the report that results.json gives")
        })?;
    }
    Ok(())
}

/// A stored result is what the judge says.
fn follows(stored: &CheckResult, judged: &CheckResult, strictness: &impl Strictness) -> Result<(), Rejection> {
    if stored == judged {
        return Ok(());
    }
    let id = &judged.id;
    let (code, message) = match (stored.verdict, judged.verdict) {
        (said, found) if said == found => {
            (Code::ObsMismatch, format!("{id}: its observations or reasons are not those recorded"))
        }
        (Verdict::NotApplicable, _) => {
            (Code::NaNotAllowed, format!("{id} is not waived by anything that the target declares"))
        }
        (Verdict::Pass, Verdict::Inconclusive) => {
            (Code::Posctl, format!("{id} is called a pass, and its control did not hold: {}", judged.reason.join("; ")))
        }
        (Verdict::Pass, Verdict::HarnessError) => (
            Code::ObsEmpty,
            format!("{id} is called a pass, and what it needs was not observed: {}", judged.reason.join("; ")),
        ),
        (said, found) => (
            Code::Verdict,
            format!("{id} is called {said:?}, and the evidence says {found:?}: {}", judged.reason.join("; ")),
        ),
    };
    refuse(strictness, code, message)
}

/// Status and counts are those of the results.
pub fn summary(predicate: &Predicate, read: &Read, strictness: &impl Strictness) -> Result<(), Rejection> {
    let Payload { plan, results, .. } = &read.payload;
    let status = Status::of(&results.checks, plan.complete);
    let counts = Counts::of(&results.checks);
    let expected = Summary { status, counts };
    let same = predicate.summary == expected && results.status == status && results.counts == counts;
    require(strictness, same, Code::Summary, || format!("the results amount to {status:?} with {counts:?}"))
}

pub(super) fn unread(error: ReadError) -> Rejection {
    let code = match &error {
        ReadError::Io { .. } | ReadError::Missing(_) => Code::FileMissing,
        ReadError::Extra(_) => Code::FileExtra,
        ReadError::Type { .. } => Code::FileType,
        ReadError::TooBig { .. } | ReadError::TooMany => Code::FileTooBig,
        ReadError::Digest(_) => Code::FileDigest,
    };
    Rejection::new(code, sanitise::text(error.to_string(), sanitise::LIMIT))
}

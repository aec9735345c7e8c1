//! The steps about the raw evidence: the closed world of its files, and whether the verdicts follow from it.

use super::{
    code::Code,
    gate::{Rejection, Strictness, refuse, require},
    judge::Judge,
    policy,
};
use crate::{
    bundle::{
        LOG, MANIFEST, MATRIX, Manifest, ManifestError, REPORTS, TARGET,
        payload::{self, Payload},
        read::{Bundle, Files, ReadError},
    },
    matrix::Matrix,
    predicate::{Check, Predicate, Summary},
    results::{CheckResult, Counts, Status, Verdict},
    sanitise,
    signing::digest::Digest,
};

/// Bytes of `SHA256SUMS`, at most.
const MAX_MANIFEST: u64 = 8 << 20;

/// What was read of a payload.
#[derive(Clone, Debug)]
pub struct Read {
    pub payload: Payload,
    pub manifest: Manifest,
    /// The kill matrix, where there is one, and the digest of its document.
    pub matrix: Option<(Digest, Matrix)>,
    /// The target's manifest.
    pub(super) target: Vec<u8>,
    pub(super) reports: Files,
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
    let unknown = manifest.entries.keys().find(|path| !is_known(path));
    require(strictness, unknown.is_none(), Code::FileExtra, || {
        format!("payload/{} is signed, and nothing says what it is", unknown.map_or("", String::as_str))
    })?;
    let wanted = |path: &str| payload::is_read(path) || path == MATRIX || path == TARGET || is_report(path);
    let mut files = bundle.payload(&manifest, wanted).map_err(unread)?;
    let payload = Payload::take(&mut files)
        .map_err(|error| Rejection::new(error.code(), sanitise::text(error.to_string(), sanitise::LIMIT)))?;
    let matrix = match (files.remove(MATRIX), manifest.entries.get(MATRIX)) {
        (Some(bytes), Some(digest)) => {
            let read = Matrix::read(&bytes);
            let read = read.map_err(|error| Rejection::new(Code::Schema, format!("payload/{MATRIX}: {error}")))?;
            Some((Digest::from_bytes(*digest), read))
        }
        _ => None,
    };
    let named = manifest.entries.get(TARGET).map(hex::encode);
    require(strictness, named.as_ref() == Some(&predicate.target.manifest_sha256), Code::ObsMismatch, || {
        format!("payload/{TARGET} is not the manifest that was signed")
    })?;
    let target = files.remove(TARGET).unwrap_or_default();
    Ok(Read { payload, manifest, matrix, target, reports: files })
}

/// Whether a payload has such a file.
fn is_known(path: &str) -> bool {
    payload::is_read(path) || [MATRIX, TARGET, LOG].contains(&path) || is_report(path)
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
        let other = other_release(predicate);
        format!("{} {} has other requirements, or another text, here{other}", shown(&found.id), shown(&found.version))
    })
}

/// Where another release made the bundle: which. Wordings are compared, and they change from release to release.
fn other_release(predicate: &Predicate) -> String {
    let (made, this) = (&predicate.harness.version, env!("CARGO_PKG_VERSION"));
    if made == this {
        return String::new();
    }
    let made = sanitise::text(made.clone(), sanitise::NAME_LIMIT);
    format!(" (watertight {made} made it, and verifies it; this is {this})")
}

/// Whether a version comes before another. What is none comes before all.
fn older(version: &str, than: &str) -> bool {
    policy::version(version).unwrap_or_default() < policy::version(than).unwrap_or_default()
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
        follows(stored, judged, predicate, strictness)?;
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
            format!("the statement and the results say different things of {id}{}", other_release(predicate))
        })?;
    }
    require(strictness, predicate.checks.len() == stated.len(), Code::CheckMissing, || {
        "the statement has another number of results than the payload".into()
    })?;
    let mutants = read.matrix.as_ref().map_or(&[][..], |(_, matrix)| &matrix.mutants);
    let reports = judge.reports(results, mutants);
    for (path, there) in &read.reports {
        let name = path.strip_prefix(REPORTS).and_then(|rest| rest.strip_prefix('/')).unwrap_or_default();
        let same = reports.iter().any(|(known, bytes)| known == name && bytes == there);
        require(strictness, same, Code::ReportMismatch, || {
            format!("{path} is not a report that results.json gives{}", other_release(predicate))
        })?;
    }
    Ok(())
}

/// A stored result is what the judge says.
fn follows(
    stored: &CheckResult,
    judged: &CheckResult,
    predicate: &Predicate,
    strictness: &impl Strictness,
) -> Result<(), Rejection> {
    if stored == judged {
        return Ok(());
    }
    let id = &judged.id;
    let (code, message) = match (stored.verdict, judged.verdict) {
        (said, found) if said == found => {
            let other = other_release(predicate);
            (Code::ObsMismatch, format!("{id}: its observations or reasons are not those recorded{other}"))
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

//! The predicate of the project's own statement: who ran which check of what, where and when, and what came of it.
//!
//! It names the raw evidence by digest and repeats of it only what a reader of the statement must know. Fields that are not
//! listed here are refused: a verifier that ignores a field can be told anything in it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    results::{ControlKind, Counts, Fact, Level, Results, Seen, Status, Subject, Verdict},
    signing::digest::Digest,
};

/// The predicate's own version.
pub const VERSION: &str = "1.0";

/// What is signed of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Predicate {
    /// Always [`VERSION`].
    pub schema_version: String,
    pub spec: Spec,
    pub profile: Profile,
    pub target: Target,
    pub workload: Workload,
    pub harness: Harness,
    pub run: Run,
    /// What is known of the machine; a fact that could not be read says why.
    pub environment: BTreeMap<String, Fact>,
    /// One a requirement, in the order of the text.
    pub checks: Vec<Check>,
    /// Attempts that this kernel and identity cannot make even without a sandbox, by id.
    pub untestable: Vec<String>,
    /// The kill matrix that shows of these checks that they can fail; it lies in the bundle.
    pub mutation_matrix: Option<Matrix>,
    pub summary: Summary,
    /// What the verdict says nothing of.
    pub not_claimed: Vec<String>,
    /// What was taken out of the evidence.
    pub redactions: Vec<Redaction>,
    pub evidence: Evidence,
    /// SHA-256 of the payload of the statement before this one about the same target, where one is named.
    pub previous: Option<String>,
    pub reproduce: Reproduce,
}

/// The text that was tested against.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Spec {
    pub name: String,
    /// `1.0`.
    pub version: String,
    /// Of the text, byte for byte.
    pub sha256: String,
}

/// The set of requirements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Profile {
    /// `core`.
    pub id: String,
    pub version: String,
    /// SHA-256 of the lines `ID LEVEL`, sorted: see [`check_set`].
    pub check_set: String,
}

/// The sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Target {
    pub name: String,
    pub kind: Kind,
    /// What its version command printed.
    pub version: String,
    pub route: String,
    pub launched_as: String,
    /// Of its manifest, byte for byte.
    pub manifest_sha256: String,
    /// The files that it is made of: the subjects of the statement, and nothing else is.
    pub artifacts: Vec<Artifact>,
    /// What was executed in its first launch.
    pub argv: Vec<String>,
    /// Names of the variables that the manifest sets for it. Values are not recorded.
    pub env_names: Vec<String>,
    /// The revision that its artefact was built from, where whoever ran it said so.
    pub source: Option<Source>,
}

/// A file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Artifact {
    pub name: String,
    pub sha256: String,
}

/// What a target is. Evidence about anything but a sandbox never passes as a sandbox's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The project's own sandbox.
    Reference,
    ThirdParty,
    /// A sandbox that is broken on purpose.
    Mutant,
    /// A fake that tests the suite.
    Double,
}

/// Where an artefact came from. Supplied by whoever ran the check: the harness cannot see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Source {
    pub uri: String,
    pub commit: String,
    pub dirty: bool,
    /// The merge that was tested, where it is not the head.
    pub merge_commit: Option<String>,
}

/// What ran in the target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Workload {
    /// `probe`: nothing but the harness's own.
    pub kind: String,
    /// `synthetic`: made up for the run and worthless after it.
    pub credentials: String,
}

/// The program that ran and judged. Probe, bridge, relays, fixtures and reference are the same file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Harness {
    pub version: String,
    /// Of the program's file.
    pub sha256: String,
    /// The revision it was built from; nothing where the build could not tell.
    pub commit: Option<String>,
    /// Whether files differed from that revision.
    pub dirty: Option<bool>,
    pub cargo_lock_sha256: String,
    pub rustc: String,
    pub triple: String,
    /// `release` or `debug`.
    pub build: String,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Run {
    /// 32 hexadecimal digits.
    pub id: String,
    /// What every attempt's nonce is derived from, 64 hexadecimal digits: HMAC-SHA-256(salt, challenge).
    pub nonce: String,
    pub salt: String,
    /// What the verifier asked this run to contain, 64 hexadecimal digits. Without one, it is empty in the formula.
    pub challenge: Option<String>,
    /// RFC 3339, UTC.
    pub started_at: String,
    pub finished_at: String,
    /// By a clock that nobody sets.
    pub monotonic_ms: u64,
    /// The command line.
    pub argv: Vec<String>,
    /// As whom: `root`, or a uid in a user namespace of its own.
    pub identity: String,
    /// Nothing was filtered out, the harness is a release build of a clean tree, the run answers a challenge and is in a log.
    pub official: bool,
    /// Where a CI service says that it ran; supplied, not measured.
    pub ci: Option<Ci>,
}

/// What a CI service says of the job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Ci {
    pub provider: String,
    pub run_url: String,
    pub reference: String,
    pub sha: String,
    /// From 1: how often the job was started.
    pub attempt: u32,
}

/// One requirement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Check {
    pub id: String,
    pub slug: String,
    pub level: Level,
    pub subject: Subject,
    pub verdict: Verdict,
    pub reason: Vec<String>,
    pub seen: Seen,
    pub control: ControlKind,
    /// The attempts that it was judged on, by launch.
    pub attempts: BTreeMap<String, Vec<String>>,
    /// Mutants that it must catch.
    pub mutants: Vec<String>,
    pub duration_us: u64,
}

/// The kill matrix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Matrix {
    /// Of its document.
    pub sha256: String,
    pub harness_sha256: String,
    pub spec: String,
    pub kernel: String,
    pub identity: String,
}

/// What the checks amount to. A verifier counts again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Summary {
    pub status: Status,
    pub counts: Counts,
}

/// Something that was taken out of the evidence, visibly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Redaction {
    pub path: String,
    pub sha256_before: String,
    pub reason: String,
}

/// The raw evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Evidence {
    /// SHA-256 of `SHA256SUMS`.
    pub manifest_sha256: String,
    /// Its lines.
    pub entries: u32,
    /// Root of the Merkle tree (RFC 6962, SHA-256) over its lines without line feeds: shows one file without the others.
    pub merkle_root: String,
}

/// How to repeat it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Reproduce {
    pub commands: Vec<String>,
    pub needs: Vec<String>,
}

impl Check {
    /// What the statement says of this result. `attempts` are those it was judged on, by launch.
    pub fn of(result: &crate::results::CheckResult, attempts: BTreeMap<String, Vec<String>>) -> Self {
        Self {
            id: result.id.clone(),
            slug: result.slug.clone(),
            level: result.level,
            subject: result.subject,
            verdict: result.verdict,
            reason: result.reason.clone(),
            seen: result.seen,
            control: result.control,
            attempts,
            mutants: result.mutants.clone(),
            duration_us: result.duration_us,
        }
    }
}

impl Matrix {
    /// What the statement says of this kill matrix, whose document has this digest.
    pub fn of(matrix: &crate::matrix::Matrix, document: Digest) -> Self {
        Self {
            sha256: document.to_string(),
            harness_sha256: matrix.harness.sha256.clone(),
            spec: matrix.spec.clone(),
            kernel: matrix.kernel.clone(),
            identity: matrix.identity.clone(),
        }
    }
}

impl Summary {
    pub fn of(results: &Results) -> Self {
        Self { status: results.status, counts: results.counts }
    }
}

/// What a log of runs calls the subject: SHA-256 of its artifacts' digests, each in 64 digits and with a line feed.
pub fn subject_digest(artifacts: &[Artifact]) -> Digest {
    Digest::of(artifacts.iter().map(|one| format!("{}\n", one.sha256)).collect::<String>())
}

/// What a log of runs calls the profile: `core 1.0`.
pub fn logged_profile(id: &str, version: &str) -> String {
    format!("{id} {version}")
}

/// The lines that a profile's digest is made of: `ID LEVEL` for each requirement, sorted by bytes, each with a line feed.
pub fn check_set<'a>(requirements: impl IntoIterator<Item = (&'a str, Level)>) -> String {
    let mut lines: Vec<String> = requirements
        .into_iter()
        .map(|(id, level)| {
            let level = match level {
                Level::Must => "MUST",
                Level::Should => "SHOULD",
            };
            format!("{id} {level}\n")
        })
        .collect();
    lines.sort_unstable();
    lines.concat()
}

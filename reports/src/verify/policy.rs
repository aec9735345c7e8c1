//! The trust policy: whose signatures count, for what, and what must be true of a run. It is the verifier's own file and
//! never comes from a bundle.

use std::{collections::BTreeSet, time::SystemTime};

use serde::Deserialize;

use crate::{
    results::Status,
    signing::{
        digest::Digest,
        public::{KeyId, PublicKey},
    },
    time,
    transparency::note::NoteKey,
};

/// Bytes of a policy, at most.
pub const MAX_POLICY: u64 = 1 << 20;

/// What a verifier demands.
#[derive(Clone, Debug)]
pub struct Policy {
    pub threshold: usize,
    pub distinct: Distinct,
    pub accept: Vec<Status>,
    pub max_not_applicable: Option<u32>,
    pub max_untestable: Option<u32>,
    pub max_age_days: u32,
    pub min_profile: String,
    pub max_retries: u32,
    pub max_abandoned_runs: u32,
    pub require: BTreeSet<Demand>,
    /// Digests of the harnesses that are known; nothing where any will do.
    pub accepted_harness: Option<Vec<Digest>>,
    /// Releases that the kernel's must begin with; empty where any will do.
    pub kernels: Vec<String>,
    pub keys: Vec<Key>,
    pub logs: Vec<Log>,
}

/// What a threshold counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distinct {
    #[default]
    Keys,
    Organisations,
}

/// What must be there beside verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Demand {
    /// The run answers a challenge of the verifier's.
    VerifierNonce,
    /// Its start and its end are in a log of the policy's.
    Log,
    /// Harness and target were built from committed files.
    CleanTree,
    /// A kill matrix shows that the checks can fail.
    Matrix,
    /// The run calls itself official.
    Official,
}

/// A trusted key.
#[derive(Clone, Debug)]
pub struct Key {
    pub public: PublicKey,
    pub organisation: String,
    pub role: Role,
    pub not_before: SystemTime,
    pub not_after: SystemTime,
    /// Names of the targets that it may speak of.
    pub targets: Vec<String>,
    pub profiles: Vec<String>,
    pub revoked_at: Option<SystemTime>,
    /// Whoever has it may have dated anything back.
    pub compromised: bool,
}

/// What a key is for: each has one purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Signs what a run found, where it ran.
    Runner,
    /// Signs what a second party found.
    Lab,
}

/// A trusted log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    pub origin: String,
    pub key: NoteKey,
}

/// Why a file is no policy.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    #[error("{0}")]
    Syntax(#[from] Box<toml::de::Error>),
    #[error("{field}: {problem}")]
    Value { field: String, problem: String },
}

impl Policy {
    /// Reads a policy.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        let Written {
            threshold,
            distinct,
            accept,
            max_not_applicable,
            max_untestable,
            max_age_days,
            min_profile,
            max_retries,
            max_abandoned_runs,
            require,
            accepted_harness,
            kernels,
            key,
            log,
        } = toml::from_str(text).map_err(Box::new)?;
        let value = |field: &str, problem: &str| PolicyError::Value { field: field.into(), problem: problem.into() };
        if threshold == 0 {
            return Err(value("threshold", "at least one signature must count"));
        }
        if accept.is_empty() {
            return Err(value("accept", "it names no status, so that nothing could ever be accepted"));
        }
        let keys = key.into_iter().enumerate().map(|(at, key)| key.read(at)).collect::<Result<Vec<_>, _>>()?;
        let ids: BTreeSet<KeyId> = keys.iter().map(|key| key.public.id()).collect();
        if ids.len() != keys.len() {
            return Err(value("key", "one key is there twice"));
        }
        if keys.is_empty() {
            return Err(value("key", "there is none, so that nobody's signature counts"));
        }
        if threshold > keys.len() {
            return Err(value("threshold", "it is more than there are keys, so that nothing could ever be accepted"));
        }
        if version(&min_profile).is_none() {
            return Err(value("min_profile", "a version is numbers with points between them, as in 1.0"));
        }
        let logs = log.into_iter().enumerate().map(|(at, log)| log.read(at)).collect::<Result<Vec<_>, _>>()?;
        if logs.iter().map(|log| &log.origin).collect::<BTreeSet<_>>().len() != logs.len() {
            return Err(value("log", "one origin is there twice"));
        }
        let accepted_harness = accepted_harness
            .map(|all| all.iter().map(|text| digest("accepted_harness", text)).collect::<Result<Vec<_>, _>>())
            .transpose()?;
        Ok(Self {
            threshold,
            distinct,
            accept,
            max_not_applicable,
            max_untestable,
            max_age_days,
            min_profile,
            max_retries,
            max_abandoned_runs,
            require: require.into_iter().collect(),
            accepted_harness,
            kernels,
            keys,
            logs,
        })
    }

    /// The trusted key with this id.
    pub fn key(&self, id: KeyId) -> Option<&Key> {
        self.keys.iter().find(|key| key.public.id() == id)
    }

    pub fn demands(&self, demand: Demand) -> bool {
        self.require.contains(&demand)
    }
}

/// A policy as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default = "one")]
    threshold: usize,
    #[serde(default)]
    distinct: Distinct,
    accept: Vec<Status>,
    max_not_applicable: Option<u32>,
    max_untestable: Option<u32>,
    max_age_days: u32,
    min_profile: String,
    #[serde(default)]
    max_retries: u32,
    #[serde(default)]
    max_abandoned_runs: u32,
    #[serde(default)]
    require: Vec<Demand>,
    accepted_harness: Option<Vec<String>>,
    #[serde(default)]
    kernels: Vec<String>,
    #[serde(default)]
    key: Vec<WrittenKey>,
    #[serde(default)]
    log: Vec<WrittenLog>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenKey {
    keyid: String,
    spki: String,
    organisation: String,
    role: Role,
    not_before: String,
    not_after: String,
    targets: Vec<String>,
    profiles: Vec<String>,
    revoked_at: Option<String>,
    #[serde(default)]
    compromised: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenLog {
    origin: String,
    vkey: String,
}

fn one() -> usize {
    1
}

impl WrittenKey {
    fn read(self, at: usize) -> Result<Key, PolicyError> {
        let field = |name: &str| format!("key {}: {name}", at + 1);
        let wrong = |name: &str, problem: String| PolicyError::Value { field: field(name), problem };
        let der = crate::signing::from_base64(&self.spki).ok_or_else(|| wrong("spki", "it is not base64".into()))?;
        let public = PublicKey::from_spki(&der).map_err(|error| wrong("spki", error.to_string()))?;
        if public.id().to_string() != self.keyid {
            return Err(wrong("keyid", format!("it is not the SHA-256 of spki, which is {}", public.id())));
        }
        let moment = |name: &str, text: &str| {
            let shape = "a time is written like 2026-11-30T16:31:42Z, in UTC";
            time::parse(text).ok_or_else(|| wrong(name, format!("{text:?}: {shape}")))
        };
        let not_before = moment("not_before", &self.not_before)?;
        let not_after = moment("not_after", &self.not_after)?;
        if not_after <= not_before {
            return Err(wrong("not_after", "it is not after not_before".into()));
        }
        let revoked_at = self.revoked_at.as_deref().map(|text| moment("revoked_at", text)).transpose()?;
        Ok(Key {
            public,
            organisation: self.organisation,
            role: self.role,
            not_before,
            not_after,
            targets: self.targets,
            profiles: self.profiles,
            revoked_at,
            compromised: self.compromised,
        })
    }
}

impl WrittenLog {
    fn read(self, at: usize) -> Result<Log, PolicyError> {
        let wrong = |problem: String| PolicyError::Value { field: format!("log {}: vkey", at + 1), problem };
        let key = NoteKey::parse(&self.vkey).map_err(|error| wrong(error.to_string()))?;
        if key.name() != self.origin {
            return Err(wrong(format!("it is the key of {:?}", key.name())));
        }
        Ok(Log { origin: self.origin, key })
    }
}

/// The numbers of a version; those that end it and are 0 say nothing.
pub(super) fn version(text: &str) -> Option<Vec<u32>> {
    let mut numbers = text.split('.').map(|part| part.parse().ok()).collect::<Option<Vec<u32>>>()?;
    while numbers.last() == Some(&0) {
        numbers.pop();
    }
    Some(numbers)
}

fn digest(field: &str, text: &str) -> Result<Digest, PolicyError> {
    let problem = "a digest is 64 lower-case hexadecimal digits";
    text.parse().map_err(|_| PolicyError::Value { field: field.into(), problem: format!("{text:?}: {problem}") })
}

#[cfg(test)]
mod tests;

//! The payload of a bundle as the judge reads it: the plan, the evidence, the results.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;

use super::{
    LAUNCHES, PLAN, RESULTS, RUN,
    documents::{PLAN_SCHEMA, Plan, RUN_SCHEMA, Run},
    read::Files,
    records::{self, RecordError},
};
use crate::{
    each::{each, processors},
    evidence::Evidence,
    results::{self, Results},
    sanitise,
    signing::strict::{self, StrictError},
    verify::code::Code,
};

/// What a payload records.
#[derive(Clone, Debug, PartialEq)]
pub struct Payload {
    pub plan: Plan,
    pub run: Run,
    pub evidence: Evidence,
    pub results: Results,
}

/// Why files are no payload.
#[derive(Debug, thiserror::Error)]
pub enum PayloadError {
    #[error("payload/{0} is missing: the run did not come to its end")]
    Missing(&'static str),
    #[error("payload/{path}: {source}")]
    Malformed { path: &'static str, source: serde_json::Error },
    #[error("payload/{path}: {error}")]
    Json { path: &'static str, error: StrictError },
    #[error("payload/{path}: its schema is {found:?}, and this program reads {known:?}")]
    Version { path: &'static str, found: String, known: &'static str },
    #[error("payload/{LAUNCHES}/{number}/{error}")]
    Record { number: u32, error: RecordError },
    #[error("payload/{LAUNCHES}/{number}: {problem}")]
    Launch { number: u32, problem: &'static str },
    #[error("payload/{0} belongs to no launch that payload/{RUN} names")]
    Stray(String),
    #[error("payload/{PLAN} is of run {plan:?}, and payload/{RUN} of run {run:?}")]
    OtherRun { plan: String, run: String },
}

impl PayloadError {
    pub fn code(&self) -> Code {
        match self {
            Self::Missing(_) => Code::FileMissing,
            Self::Malformed { .. } | Self::Version { .. } => Code::Schema,
            Self::Json { error, .. } => error.code(),
            Self::Record { error, .. } => error.code(),
            Self::Launch { .. } | Self::Stray(_) => Code::LogBinding,
            Self::OtherRun { .. } => Code::ObsMismatch,
        }
    }
}

/// Whether this file of a payload is part of what is read here.
pub fn is_read(path: &str) -> bool {
    [PLAN, RUN, RESULTS].contains(&path) || is_record(path)
}

fn is_record(path: &str) -> bool {
    path.strip_prefix(LAUNCHES).is_some_and(|rest| rest.starts_with('/'))
}

impl Payload {
    /// Takes what it reads out of `files`.
    pub fn take(files: &mut Files) -> Result<Self, PayloadError> {
        let plan: Plan = document(files, PLAN)?;
        version(PLAN, &plan.schema, PLAN_SCHEMA)?;
        let run: Run = document(files, RUN)?;
        version(RUN, &run.schema, RUN_SCHEMA)?;
        if plan.run != run.run {
            return Err(PayloadError::OtherRun { plan: plan.run, run: run.run });
        }
        let results: Results = document(files, RESULTS)?;
        version(RESULTS, &results.schema, results::SCHEMA)?;
        let mut evidence = Evidence {
            launches: Vec::with_capacity(run.launches.len()),
            secrets: run.secrets.clone(),
            banners: run.banners.clone(),
            unattributed: run.unattributed.clone(),
            gaps: run.gaps.clone(),
            absent: run.absent.clone(),
        };
        // Each file of each launch that is named, and none twice.
        let mut taken = Vec::with_capacity(run.launches.len());
        for number in run.launches.iter().copied() {
            let mut bytes = BTreeMap::new();
            for name in records::FILES {
                let file = files.remove(&format!("{LAUNCHES}/{number}/{name}"));
                let problem = "a file of it is missing, or the launch is there twice";
                bytes.insert(name, file.ok_or(PayloadError::Launch { number, problem })?);
            }
            taken.push((number, bytes));
        }
        let read =
            each(&taken, processors(), |(_, bytes)| records::launch(|name| bytes.get(name).map_or(&[], Vec::as_slice)));
        let mut ids = BTreeSet::new();
        for ((number, _), launch) in taken.iter().zip(read) {
            let number = *number;
            let launch = launch.map_err(|error| PayloadError::Record { number, error })?;
            if !ids.insert(launch.id.clone()) {
                return Err(PayloadError::Launch { number, problem: "another launch has its id" });
            }
            evidence.launches.push(launch);
        }
        match files.keys().find(|path| is_record(path)) {
            Some(stray) => Err(PayloadError::Stray(stray.clone())),
            None => Ok(Self { plan, run, evidence, results }),
        }
    }
}

fn document<T: DeserializeOwned>(files: &mut Files, path: &'static str) -> Result<T, PayloadError> {
    let bytes = files.remove(path).ok_or(PayloadError::Missing(path))?;
    let text = strict::check(&bytes, bytes.len()).map_err(|error| PayloadError::Json { path, error })?;
    serde_json::from_str(text).map_err(|source| PayloadError::Malformed { path, source })
}

fn version(path: &'static str, found: &str, known: &'static str) -> Result<(), PayloadError> {
    if found == known {
        return Ok(());
    }
    Err(PayloadError::Version { path, found: sanitise::text(found, sanitise::NAME_LIMIT), known })
}

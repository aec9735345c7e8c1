//! The kill matrix: what a selftest found of the suite itself. Evidence of a target refers to it by its digest.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{
    mutants::{Fate, Mutant},
    sanitise,
    signing::strict::{self, StrictError},
};

/// Version of the document's form.
pub const SCHEMA: &str = "watertight/selftest/v1";

/// The JSON Schema (draft 2020-12) of a kill matrix.
pub const MATRIX_SCHEMA: &str = include_str!("../schemas/selftest.schema.json");

/// Bytes of a kill matrix, at most.
const MAX: usize = 16 << 20;

/// What a selftest found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Matrix {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// Version of CONFORMANCE.md: `1.0`.
    pub spec: String,
    pub harness: Harness,
    /// Release of the kernel: `6.12.57+deb13-amd64`.
    pub kernel: String,
    /// As whom the harness ran.
    pub identity: String,
    /// Every check was run on every mutant.
    pub full: bool,
    /// RFC 3339, UTC.
    pub started_at: String,
    pub wall_ms: u64,
    /// In the order of the suite's list.
    pub mutants: Vec<Mutant>,
    /// None where only some mutants were run.
    pub doubles: Vec<Double>,
    /// Only of a full selftest with all mutants, as root.
    pub ablation: Option<Ablation>,
    pub summary: Summary,
}

/// The programs that made it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Harness {
    pub version: String,
    /// SHA-256 of the file of `watertight`, which judges, in lower-case hexadecimal digits.
    pub sha256: String,
    /// Of the file of `watertight-mutants`, which is broken.
    pub mutants_sha256: String,
}

/// What became of a fake target that nothing may take for a sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Double {
    pub name: String,
    /// What it is, and what must become of it.
    pub expected: String,
    pub right: bool,
    /// Ids of the checks that passed on it.
    pub passed: Vec<String>,
    pub failed: Vec<String>,
    /// Neither.
    pub unclear: Vec<String>,
    /// Why it could not be run.
    pub error: Option<String>,
}

/// What became of the parts of all checks, each put out of action in turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ablation {
    pub parts: u32,
    /// Parts without which a mutant survives the check.
    pub needed: u32,
    /// Parts that no mutant needs, with the reason that the check gives.
    pub spared: u32,
    /// Parts that no mutant needs, and no reason is given: `EGRESS-5 v4-22`.
    pub unexplained: Vec<String>,
    /// Reasons for parts that are needed, or that there are none of.
    pub stale: Vec<String>,
}

/// How many mutants became what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    pub mutants: u32,
    pub killed: u32,
    pub survived: u32,
    pub collateral: u32,
    pub unclear: u32,
    pub void: u32,
    pub failed: u32,
    /// Sets of checks that differ, among those that caught a mutant.
    pub distinct: u32,
    pub doubles: u32,
    /// Doubles that became what they must.
    pub doubles_right: u32,
}

/// Why a kill matrix could not be read.
#[derive(Debug, Error)]
pub enum Error {
    #[error("read the kill matrix: {0}")]
    Malformed(#[from] serde_json::Error),
    #[error("read the kill matrix: {0}")]
    Strict(#[from] StrictError),
    #[error(
        "read the kill matrix: its schema is `{found}` and this program knows `{SCHEMA}`; use the version that wrote it"
    )]
    Version { found: String },
}

impl Matrix {
    /// Reads a document of this version. It may come from anyone, so it must mean one thing, and its texts are sanitised.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        /// Read first, so that another version is named rather than its first unknown field.
        #[derive(Deserialize)]
        struct Version {
            schema: String,
        }
        let text = strict::check(bytes, MAX)?;
        let Version { schema } = serde_json::from_str(text)?;
        if schema != SCHEMA {
            return Err(Error::Version { found: sanitise::text(schema, sanitise::NAME_LIMIT) });
        }
        let mut matrix = serde_json::from_str(text)?;
        sanitise::matrix(&mut matrix);
        Ok(matrix)
    }

    /// Every mutant was caught by exactly the checks that must, no double was taken for a sandbox, and every part of a
    /// check is needed or a reason says why it is there.
    pub fn is_exact(&self) -> bool {
        Summary::of(&self.mutants, &self.doubles).is_exact()
            && self.ablation.as_ref().is_none_or(Ablation::is_explained)
    }
}

impl Ablation {
    /// Every part is needed, or a reason says why not.
    pub fn is_explained(&self) -> bool {
        self.unexplained.is_empty() && self.stale.is_empty()
    }
}

impl Summary {
    pub fn of(mutants: &[Mutant], doubles: &[Double]) -> Self {
        let count = |fate| mutants.iter().filter(|mutant| mutant.status == fate).count() as u32;
        let mut sets: Vec<&[String]> = mutants.iter().map(|mutant| mutant.kills.as_slice()).collect();
        sets.sort_unstable();
        sets.dedup();
        Self {
            mutants: mutants.len() as u32,
            killed: count(Fate::Killed),
            survived: count(Fate::Survived),
            collateral: count(Fate::Collateral),
            unclear: count(Fate::Unclear),
            void: count(Fate::Void),
            failed: count(Fate::Failed),
            distinct: sets.len() as u32,
            doubles: doubles.len() as u32,
            doubles_right: doubles.iter().filter(|double| double.right).count() as u32,
        }
    }

    /// Every mutant was caught by exactly the checks that must, and no double was taken for a sandbox.
    pub fn is_exact(&self) -> bool {
        self.mutants > 0 && self.killed == self.mutants && self.doubles_right == self.doubles
    }
}

#[cfg(test)]
mod tests;

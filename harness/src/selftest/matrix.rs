//! The kill matrix: what became of each mutant.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{ablation::Ablation, doubles::Double};

/// The schema that the JSON of a matrix follows.
pub const SCHEMA: &str = "https://watertight.dev/schemas/selftest-1.json";

/// What a selftest found.
#[derive(Clone, Debug, Serialize)]
pub struct Matrix {
    pub schema: &'static str,
    /// As whom the harness ran.
    pub identity: String,
    /// Every check was run on every mutant.
    pub full: bool,
    pub mutants: Vec<Row>,
    pub doubles: Vec<Double>,
    /// Only of a full selftest with all mutants.
    pub ablation: Option<Ablation>,
    pub summary: Summary,
    pub wall_ms: u64,
}

/// One mutant.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub slug: String,
    pub sentence: String,
    pub status: Status,
    /// Ids of the checks that failed on it.
    pub kills: Vec<String>,
    /// The first reason of each of them.
    pub reasons: BTreeMap<String, String>,
    /// Ids of the checks that must fail on it.
    pub expected: Vec<String>,
    /// Checks that could not be judged, with the verdict and its first reason.
    pub unclear: Vec<String>,
    /// How many checks were run on it.
    pub checked: usize,
    pub micros: u64,
    /// Why there is no more to say.
    pub error: Option<String>,
}

/// What became of a mutant. Only `Killed` is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It could not be run.
    Failed,
    /// The defence was never asked, so nothing is known.
    Void,
    /// A check that must fail on it did not, or none must.
    Survived,
    /// A check failed on it that must not.
    Collateral,
    /// A check could not be judged.
    Unclear,
    /// Exactly the checks failed that must.
    Killed,
}

/// How many mutants became what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    pub mutants: usize,
    pub killed: usize,
    pub survived: usize,
    pub collateral: usize,
    pub unclear: usize,
    pub void: usize,
    pub failed: usize,
    /// Mutants that differ from every other one in what catches them.
    pub distinct: usize,
    pub doubles: usize,
    /// Doubles that became what they must.
    pub doubles_right: usize,
}

impl Status {
    /// The worst that can be said, from what was found.
    pub fn of(kills: &[String], expected: &[String], unclear: &[String], applied: bool) -> Self {
        if !applied {
            Self::Void
        } else if expected.is_empty() || expected.iter().any(|id| !kills.contains(id)) {
            Self::Survived
        } else if kills.iter().any(|id| !expected.contains(id)) {
            Self::Collateral
        } else if !unclear.is_empty() {
            Self::Unclear
        } else {
            Self::Killed
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Void => "void",
            Self::Survived => "survived",
            Self::Collateral => "collateral",
            Self::Unclear => "unclear",
            Self::Killed => "killed",
        }
    }
}

impl Summary {
    pub fn of(rows: &[Row], doubles: &[Double]) -> Self {
        let count = |status| rows.iter().filter(|row| row.status == status).count();
        let mut sets: Vec<&[String]> = rows.iter().map(|row| row.kills.as_slice()).collect();
        sets.sort_unstable();
        sets.dedup();
        Self {
            mutants: rows.len(),
            killed: count(Status::Killed),
            survived: count(Status::Survived),
            collateral: count(Status::Collateral),
            unclear: count(Status::Unclear),
            void: count(Status::Void),
            failed: count(Status::Failed),
            distinct: sets.len(),
            doubles: doubles.len(),
            doubles_right: doubles.iter().filter(|double| double.right).count(),
        }
    }

    /// Every mutant was caught by exactly the checks that must, and no double was taken for a sandbox.
    pub fn is_exact(&self) -> bool {
        self.mutants > 0 && self.killed == self.mutants && self.doubles_right == self.doubles
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(all: &[&str]) -> Vec<String> {
        all.iter().map(|id| (*id).to_owned()).collect()
    }

    #[test]
    fn a_mutant_is_killed_by_exactly_its_checks_and_by_nothing_else() {
        let of = |kills: &[&str], unclear: &[&str], applied| {
            Status::of(&ids(kills), &ids(&["A-1", "A-2"]), &ids(unclear), applied)
        };
        assert_eq!(of(&["A-1", "A-2"], &[], true), Status::Killed);
        assert_eq!(of(&["A-1"], &[], true), Status::Survived);
        assert_eq!(of(&["A-1", "A-2", "B-1"], &[], true), Status::Collateral);
        assert_eq!(of(&["A-1", "B-1"], &[], true), Status::Survived, "a survivor is the worse of the two");
        assert_eq!(of(&["A-1", "A-2"], &["B-1"], true), Status::Unclear);
        assert_eq!(Status::of(&[], &[], &[], true), Status::Survived, "nothing must catch it, and nothing does");
        assert_eq!(of(&["A-1", "A-2"], &[], false), Status::Void, "what was not applied is never killed");
    }
}

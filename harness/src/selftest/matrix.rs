//! The kill matrix: what became of each mutant.

use serde::Serialize;
use watertight_reports::mutants::{Fate, Mutant as Row};

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

impl Summary {
    pub fn of(rows: &[Row], doubles: &[Double]) -> Self {
        let count = |status| rows.iter().filter(|row| row.status == status).count();
        let mut sets: Vec<&[String]> = rows.iter().map(|row| row.kills.as_slice()).collect();
        sets.sort_unstable();
        sets.dedup();
        Self {
            mutants: rows.len(),
            killed: count(Fate::Killed),
            survived: count(Fate::Survived),
            collateral: count(Fate::Collateral),
            unclear: count(Fate::Unclear),
            void: count(Fate::Void),
            failed: count(Fate::Failed),
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

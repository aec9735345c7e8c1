//! The suite tested by broken sandboxes: every check must fail on exactly those that lack what it tests.

mod ablation;
pub mod doubles;
pub mod expected;
pub mod mutants;
mod run;
#[cfg(test)]
mod sources;

pub use ablation::matches;
pub use mutants::{MUTANTS, Mutant};
pub use run::{Selftest, SelftestError};

//! What a verifier must know of the checks. The harness knows it; this crate does not.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    evidence::Evidence,
    mutants::Mutant,
    predicate::{Check, Profile, Spec},
    results::{CheckResult, Level, Results},
};

/// The program's own copy of the text, and its judge.
pub trait Judge {
    /// The text that it tests against.
    fn spec(&self) -> Spec;
    /// The profile of this name, where it is known.
    fn profile(&self, id: &str) -> Option<Profile>;
    /// Its requirements, in the order of the text.
    fn requirements(&self) -> Vec<(String, Level)>;
    /// The results of these requirements on this evidence, and what of it was untestable.
    fn judge(
        &self,
        ids: &[String],
        layout: &Value,
        evidence: &Evidence,
    ) -> Result<(Vec<CheckResult>, Vec<String>), String>;
    /// An attempt whose nonce is not that of this run, or that something was given to which is not its own.
    fn foreign(&self, nonce: &str, evidence: &Evidence) -> Option<String>;
    /// The run's nonce as salt and challenge (hexadecimal digits) make it.
    fn nonce(&self, salt: &str, challenge: Option<&str>) -> Option<String>;
    /// What the statement says of a result.
    fn stated(&self, result: &CheckResult, evidence: &Evidence) -> Check;
    /// Every mutant that a kill matrix must hold, with the requirements that must catch it. `by_root`: the matrix was made
    /// by the machine's root.
    fn mutants(&self, by_root: bool) -> BTreeMap<String, Vec<String>>;
    /// What no verdict says anything of.
    fn not_claimed(&self) -> Vec<String>;
    /// The reports of a bundle by their names under `reports/`, with the mutants of its kill matrix.
    fn reports(&self, results: &Results, mutants: &[Mutant]) -> Vec<(String, Vec<u8>)>;
}

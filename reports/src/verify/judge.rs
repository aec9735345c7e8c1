//! What a verifier must know of the checks. The harness knows it; this crate does not.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    bundle::documents::Plan,
    evidence::Evidence,
    mutants::Mutant,
    predicate::{Check, Kind, Profile, Reproduce, Spec},
    results::{CheckResult, Level, Results},
};

/// The program's own copy of the text, and its judge.
pub trait Judge {
    /// The text that it tests against.
    fn spec(&self) -> Spec;
    /// The profile of this name, where it is known.
    fn profile(&self, id: &str) -> Option<Profile>;
    /// The requirements of the profile of this name, in the order of the text.
    fn requirements(&self, profile: &str) -> Vec<(String, Level)>;
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
    /// by the machine's root; `full`: by a full selftest.
    fn mutants(&self, by_root: bool, full: bool) -> BTreeMap<String, Vec<String>>;
    /// Every double that a kill matrix must hold.
    fn doubles(&self) -> Vec<String>;
    /// What a target's manifest, as the payload has it, declares of the target with this name: of itself or of a variant.
    fn declared(&self, manifest: &str, name: &str) -> Result<Declared, String>;
    /// How a run with this plan is repeated.
    fn reproduce(&self, plan: &Plan) -> Reproduce;
    /// What no verdict says anything of.
    fn not_claimed(&self) -> Vec<String>;
    /// The reports of a bundle by their names under `reports/`, with the mutants of its kill matrix.
    fn reports(&self, results: &Results, mutants: &[Mutant]) -> Vec<(String, Vec<u8>)>;
}

/// What a manifest declares, as far as a statement repeats it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    pub name: String,
    pub kind: Kind,
    pub route: String,
    /// Names of the variables that it sets.
    pub env_names: Vec<String>,
    /// Names of the files that it is made of.
    pub artifacts: Vec<String>,
    /// What it does not have, and why.
    pub absent: BTreeMap<String, String>,
}

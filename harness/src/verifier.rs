//! This program as a verifier of evidence: its text, its checks, its judge.

use std::collections::BTreeMap;

use serde_json::Value;
use watertight_probe::nonce::RunNonce;
use watertight_reports::{
    bundle::documents::Plan,
    evidence::Evidence,
    mutants::Mutant,
    predicate::{Check, Profile as Stated, Reproduce, Spec},
    results::{CheckResult, Level, Results},
    signing::digest::Digest,
    verify::{Declared, Judge},
};

use crate::{
    catalogue::Catalogue,
    checks, predicate,
    profile::Profile,
    rejudge,
    selftest::{MUTANTS, doubles::DOUBLES, expected},
    suite,
    target::Target,
};

/// What verifies.
#[derive(Clone, Debug)]
pub struct Verifier {
    catalogue: Catalogue,
}

impl Verifier {
    /// Fails where the text and the checks of this program disagree.
    pub fn new() -> Result<Self, String> {
        Catalogue::agreed().map(|catalogue| Self { catalogue }).map_err(|problems| problems.join("\n"))
    }
}

impl Judge for Verifier {
    fn spec(&self) -> Spec {
        predicate::spec(&self.catalogue.version)
    }

    fn profile(&self, id: &str) -> Option<Stated> {
        Profile::named(id).map(predicate::profile)
    }

    fn requirements(&self, profile: &str) -> Vec<(String, Level)> {
        let checks = Profile::named(profile).map(Profile::checks).unwrap_or_default();
        checks.iter().map(|check| (check.id.to_owned(), check.level)).collect()
    }

    fn judge(
        &self,
        ids: &[String],
        layout: &Value,
        evidence: &Evidence,
    ) -> Result<(Vec<CheckResult>, Vec<String>), String> {
        rejudge::judge(ids, layout, evidence).map_err(|error| error.to_string())
    }

    fn foreign(&self, nonce: &str, evidence: &Evidence) -> Option<String> {
        let Some(bytes) = bytes(nonce) else { return Some("the run".into()) };
        let run = RunNonce::from_bytes(bytes);
        rejudge::foreign_nonce(evidence, &run)
            .or_else(|| rejudge::disowned(evidence))
            .or_else(|| rejudge::misattributed(evidence, &run))
    }

    fn nonce(&self, salt: &str, challenge: Option<&str>) -> Option<String> {
        let challenge = match challenge {
            Some(challenge) => bytes(challenge)?.to_vec(),
            None => vec![],
        };
        Some(RunNonce::answer(bytes(salt)?, &challenge).reveal())
    }

    fn stated(&self, result: &CheckResult, evidence: &Evidence) -> Check {
        predicate::statement_of(result, evidence)
    }

    fn mutants(&self, by_root: bool, full: bool) -> BTreeMap<String, Vec<String>> {
        let checks = checks::all();
        let runs = MUTANTS.iter().filter(|mutant| mutant.runs(by_root));
        let kills = |mutant| expected::kills(mutant, &checks, by_root, full).into_iter().map(str::to_owned).collect();
        runs.map(|mutant| (mutant.slug.to_owned(), kills(mutant))).collect()
    }

    fn doubles(&self) -> Vec<String> {
        DOUBLES.iter().map(|(name, ..)| (*name).to_owned()).collect()
    }

    fn declared(&self, manifest: &str, name: &str) -> Result<Declared, String> {
        let target = Target::parse("of the payload", manifest).and_then(|target| match name.rsplit_once(':') {
            Some((_, variant)) => target.varied(variant),
            None => Ok(target),
        });
        let target = target.map_err(|error| error.to_string())?;
        Ok(Declared {
            kind: predicate::kind(&target),
            route: target.route.name().into(),
            env_names: target.environment.keys().cloned().collect(),
            artifacts: predicate::artifact_names(&target),
            absent: target.absent.iter().map(|(what, why)| (what.name().to_owned(), why.clone())).collect(),
            name: target.name,
        })
    }

    fn reproduce(&self, plan: &Plan) -> Reproduce {
        predicate::reproduce(plan)
    }

    fn not_claimed(&self) -> Vec<String> {
        self.catalogue.not_claimed.clone()
    }

    fn reports(&self, results: &Results, mutants: &[Mutant]) -> Vec<(String, Vec<u8>)> {
        suite::kept(results, &self.catalogue, mutants)
    }
}

/// 32 bytes in lower-case hexadecimal digits.
fn bytes(text: &str) -> Option<[u8; 32]> {
    text.parse::<Digest>().ok().map(|digits| *digits.as_bytes())
}

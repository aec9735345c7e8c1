//! The predicate of a run: what its statement says.

use std::collections::BTreeMap;

use watertight_reports::{
    bundle::{
        Manifest,
        documents::{Plan, Run},
    },
    evidence::Evidence,
    predicate::{
        self, Artifact, Check, Evidence as Bound, Kind, Predicate, Reproduce, Spec, Summary, Workload, check_set,
    },
    results::{CheckResult, Fact, Results},
    signing::digest::Digest,
};

use crate::{
    build_info, catalogue, doctor::programs, keep::Supplied, machine, outcome::Outcome, profile::Profile,
    target::Target,
};

/// What is known at the end.
pub struct End<'a> {
    pub finished_at: String,
    pub monotonic_ms: u64,
    pub manifest: &'a Manifest,
    /// What the text says that no verdict says anything of.
    pub not_claimed: Vec<String>,
}

/// What is signed of this run.
pub fn of(
    plan: &Plan,
    run: &Run,
    outcome: &Outcome,
    target: &Target,
    supplied: &Supplied,
    end: End<'_>,
) -> Result<Predicate, String> {
    let Outcome { results, evidence, .. } = outcome;
    let identity = match results.environment.get("identity") {
        Some(Fact::Known(identity)) => identity.clone(),
        _ => String::new(),
    };
    Ok(Predicate {
        schema_version: predicate::VERSION.into(),
        spec: spec(&plan.spec),
        profile: profile(Profile::named(&plan.profile).unwrap_or_default()),
        target: predicate::Target {
            name: results.target.name.clone(),
            kind: kind(target),
            version: results.target.version.clone(),
            route: results.target.route.clone(),
            launched_as: results.target.launched_as.clone(),
            manifest_sha256: Digest::of(&target.manifest).to_string(),
            artifacts: artifacts(target)?,
            argv: results.target.argv.clone(),
            env_names: target.environment.keys().cloned().collect(),
            source: supplied.source.clone(),
        },
        workload: Workload { kind: "probe".into(), credentials: "synthetic".into() },
        harness: build_info::harness()?,
        run: predicate::Run {
            id: plan.run.clone(),
            nonce: run.nonce.clone(),
            salt: run.salt.clone(),
            challenge: plan.challenge.clone(),
            started_at: plan.started_at.clone(),
            finished_at: end.finished_at,
            monotonic_ms: end.monotonic_ms,
            argv: supplied.argv.clone(),
            identity,
            official: plan.official,
            ci: supplied.ci.clone(),
        },
        environment: environment(results),
        checks: results.checks.iter().map(|result| statement_of(result, evidence)).collect(),
        untestable: results.untestable.clone(),
        mutation_matrix: supplied
            .matrix
            .as_ref()
            .map(|(matrix, document)| predicate::Matrix::of(matrix, Digest::of(document))),
        summary: Summary::of(results),
        not_claimed: end.not_claimed,
        redactions: vec![],
        evidence: bound(end.manifest),
        previous: None,
        reproduce: reproduce(plan),
    })
}

/// All that can be known of the machine, with what the results say of it.
fn environment(results: &Results) -> BTreeMap<String, Fact> {
    let mut facts = machine::facts();
    facts.extend(results.environment.clone());
    facts
}

/// The text that was built in.
pub fn spec(version: &str) -> Spec {
    Spec { name: "CONFORMANCE.md".into(), version: version.to_owned(), sha256: Digest::of(catalogue::TEXT).to_string() }
}

/// A profile, as its checks are built in.
pub fn profile(profile: Profile) -> predicate::Profile {
    let set = check_set(profile.checks().iter().map(|check| (check.id, check.level)));
    predicate::Profile {
        id: profile.name().into(),
        version: profile.version().into(),
        check_set: Digest::of(set).to_string(),
    }
}

/// What binds the raw evidence.
pub fn bound(manifest: &Manifest) -> Bound {
    Bound {
        manifest_sha256: hex::encode(manifest.digest()),
        entries: manifest.entries.len() as u32,
        merkle_root: hex::encode(manifest.merkle_root()),
    }
}

/// What the statement says of one requirement.
pub fn statement_of(result: &CheckResult, evidence: &Evidence) -> Check {
    let prefix = format!("{}/", result.slug);
    let mut attempts = BTreeMap::new();
    for launch in &evidence.launches {
        // Every attempt of a check begins with its slug, and those of one check lie beside each other.
        let own: Vec<String> = launch
            .attempts
            .range(prefix.clone()..)
            .take_while(|(id, _)| id.starts_with(&prefix))
            .map(|(id, _)| id[prefix.len()..].to_owned())
            .collect();
        if !own.is_empty() {
            attempts.insert(launch.id.clone(), own);
        }
    }
    Check::of(result, attempts)
}

/// What a target is.
pub fn kind(target: &Target) -> Kind {
    match target {
        Target { double: true, .. } => Kind::Double,
        target if target.is_ours("reference") => Kind::Reference,
        _ => Kind::ThirdParty,
    }
}

/// The programs that the sandbox is made of, with their digests.
pub fn artifacts(target: &Target) -> Result<Vec<Artifact>, String> {
    let adapter = target.adapter.as_ref().and_then(|adapter| adapter.file.clone().zip(adapter.program.as_ref()));
    let artifact = |name: String| {
        if let Some((file, program)) = &adapter
            && *file == name
        {
            return Ok(Artifact { name, sha256: Digest::of(program).to_string() });
        }
        let path = if target.programs.contains_key(&name) {
            programs::find(&name).ok_or_else(|| format!("the program `{name}` is gone"))?
        } else {
            "/proc/self/exe".into()
        };
        let sha256 = build_info::digest(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        Ok(Artifact { name, sha256 })
    };
    artifact_names(target).into_iter().map(artifact).collect()
}

/// Their names.
pub fn artifact_names(target: &Target) -> Vec<String> {
    let own = target.launch.argv.iter().any(|word| word == "{watertight}").then(|| "watertight".to_owned());
    let adapter = target.adapter.as_ref().and_then(|adapter| adapter.file.clone());
    target.programs.keys().cloned().chain(adapter).chain(own).collect()
}

/// How a run is repeated.
pub fn reproduce(plan: &Plan) -> Reproduce {
    // Always said: which one is meant otherwise, the target's manifest decides.
    let mut command = format!("watertight check {} --profile {}", plan.target, plan.profile);
    if plan.as_root {
        command.push_str(" --as-root");
    }
    if plan.soak > 1 {
        command.push_str(&format!(" --soak {}", plan.soak));
    }
    if plan.with_mutants {
        command.push_str(" --with-mutants");
    }
    if let Some(filter) = &plan.filter {
        command.push_str(&format!(" --filter {filter}"));
    }
    let commands = vec!["watertight doctor".into(), command];
    Reproduce { commands, needs: vec!["Linux with user and network namespaces".into()] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Catalogue;

    #[test]
    fn what_is_not_claimed_is_what_the_text_says() {
        let not_claimed = Catalogue::load().expect("a catalogue").not_claimed;
        assert!(not_claimed.iter().any(|one| one.contains("kernel vulnerabilities")), "{not_claimed:?}");
    }

    #[test]
    fn a_profile_is_known_by_every_requirement_and_its_level() {
        let set = |level| check_set([("B-1", level), ("A-1", level)]);
        use watertight_reports::results::Level::{Must, Should};
        assert_eq!(set(Must), "A-1 MUST\nB-1 MUST\n");
        assert_ne!(set(Must), set(Should));
        assert_eq!(profile(Profile::Core).check_set.len(), 64);
    }

    #[test]
    fn sandboxes_are_told_from_fakes() {
        let kind = |name| kind(&Target::load(name).expect("a manifest"));
        assert_eq!(kind("reference"), Kind::Reference);
        assert_eq!(kind("bubblewrap"), Kind::ThirdParty);
        assert_eq!(kind("liar"), Kind::Double);
    }

    #[test]
    fn an_adapter_is_a_part_of_its_sandbox() {
        let mut target = Target::load("bubblewrap-exec").expect("a manifest");
        target.programs.clear();
        let artifacts = artifacts(&target).expect("readable");
        let names: Vec<_> = artifacts.iter().map(|artifact| artifact.name.as_str()).collect();
        assert_eq!(names, ["bubblewrap-exec.py", "watertight"]);
        let program = target.adapter.expect("an adapter").program.expect("a program");
        assert_eq!(artifacts[0].sha256, Digest::of(program).to_string());
    }

    #[test]
    fn the_reference_is_this_program() {
        let artifacts = artifacts(&Target::load("reference").expect("a manifest")).expect("readable");
        assert_eq!(artifacts.len(), 1);
        assert_eq!(artifacts[0].sha256, build_info::sha256().expect("readable"));
    }
}

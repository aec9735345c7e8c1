//! `--out`: where a run's bundle is kept, and what is said in it beside what was seen.

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
    time::SystemTime,
};

use watertight_reports::{
    bundle::documents::{PLAN_SCHEMA, Plan as Document},
    predicate::Ci,
    sanitise, time,
};

use super::{Plan, Refusal};
use crate::{
    build_info,
    catalogue::Catalogue,
    commands::line::Check,
    keep::{Keep, Supplied},
    predicate::CORE,
    target::Target,
};

/// Where bundles go.
pub struct Out {
    directory: PathBuf,
    /// Each target has a directory of its own in it.
    several: bool,
    spec: String,
    harness_sha256: String,
    official: bool,
    challenge: Option<String>,
    pub supplied: Supplied,
}

impl Out {
    /// What the line asks for. What must not be there yet is looked at before anything runs.
    pub fn of(line: &Check, catalogue: &Catalogue) -> Result<Option<Self>, Refusal> {
        let Some(directory) = line.out.clone() else { return Ok(None) };
        let several = line.targets.len() > 1;
        if several {
            std::fs::create_dir_all(&directory)
                .map_err(|error| Refusal::usage(format!("cannot make {}: {error}", directory.display())))?;
        }
        let harness_sha256 = build_info::sha256().map_err(Refusal::incomplete)?;
        let supplied = Supplied {
            ci: ci(|name| std::env::var(name).ok()),
            argv: std::env::args_os().map(|word| sanitise::text(word.as_encoded_bytes(), sanitise::LIMIT)).collect(),
            ..Supplied::default()
        };
        let challenge = line.nonce.map(hex::encode);
        let spec = catalogue.version.clone();
        let out = Self { directory, several, spec, harness_sha256, official: false, challenge, supplied };
        for name in &line.targets {
            out.is_free(&out.place(name))?;
        }
        Ok(Some(out))
    }

    /// Begins the bundle of one target.
    pub fn begin(&self, plan: &Plan, target: &Target) -> Result<Keep, String> {
        let document = Document {
            schema: PLAN_SCHEMA.into(),
            run: run_id().map_err(|error| format!("cannot read /dev/urandom: {error}"))?,
            spec: self.spec.clone(),
            profile: CORE.into(),
            target: target.name.clone(),
            checks: plan.checks.iter().map(|check| check.id.to_owned()).collect(),
            complete: plan.filter.is_none(),
            filter: plan.filter.clone(),
            as_root: plan.options.as_root,
            by_root: plan.by_root,
            soak: plan.options.soak,
            with_mutants: plan.with_mutants,
            official: self.official,
            challenge: self.challenge.clone(),
            started_at: time::rfc3339(SystemTime::now()),
            harness_sha256: self.harness_sha256.clone(),
        };
        Keep::begin(&self.place(&target.name), document, target).map_err(|error| error.to_string())
    }

    fn place(&self, target: &str) -> PathBuf {
        if self.several { self.directory.join(target) } else { self.directory.clone() }
    }

    fn is_free(&self, place: &Path) -> Result<(), Refusal> {
        match std::fs::read_dir(place).map(|mut entries| entries.next().is_some()) {
            Ok(true) => Err(Refusal::usage(format!(
                "{} is there already, and a bundle never replaces anything: name a directory that is not there",
                place.display()
            ))),
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Refusal::usage(format!("cannot keep a bundle in {}: {error}", place.display())))
            }
            Ok(false) | Err(_) => Ok(()),
        }
    }
}

/// 32 hexadecimal digits that no other run has.
fn run_id() -> std::io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(hex::encode(bytes))
}

/// What GitHub says of its job, where all of it is said.
fn ci(variable: impl Fn(&str) -> Option<String>) -> Option<Ci> {
    let said =
        |name: &str| Some(sanitise::text(variable(name)?, sanitise::NAME_LIMIT)).filter(|value| !value.is_empty());
    let (server, repository, run) = (said("GITHUB_SERVER_URL")?, said("GITHUB_REPOSITORY")?, said("GITHUB_RUN_ID")?);
    Some(Ci {
        provider: "github-actions".into(),
        run_url: format!("{server}/{repository}/actions/runs/{run}"),
        reference: said("GITHUB_REF")?,
        sha: said("GITHUB_SHA")?,
        attempt: said("GITHUB_RUN_ATTEMPT")?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ci_service_is_named_only_where_it_says_everything() {
        let all = |name: &str| {
            let value = match name {
                "GITHUB_SERVER_URL" => "https://code.example",
                "GITHUB_REPOSITORY" => "a/b",
                "GITHUB_RUN_ID" => "7",
                "GITHUB_REF" => "refs/heads/main",
                "GITHUB_SHA" => "0123",
                "GITHUB_RUN_ATTEMPT" => "2",
                _ => return None,
            };
            Some(value.to_owned())
        };
        let found = ci(all).expect("a job");
        assert_eq!((found.run_url.as_str(), found.attempt), ("https://code.example/a/b/actions/runs/7", 2));
        assert_eq!(ci(|name| all(name).filter(|_| name != "GITHUB_RUN_ATTEMPT")), None);
        assert_eq!(ci(|name| all(name).map(|_| String::new())), None);
    }

    #[test]
    fn runs_have_ids_of_their_own() {
        let (one, other) = (run_id().expect("random"), run_id().expect("random"));
        assert_eq!(one.len(), 32);
        assert_ne!(one, other);
    }
}

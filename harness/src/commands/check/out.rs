//! `--out`: where a run's bundle is kept, and what is said in it beside what was seen.

use std::{
    path::{Path, PathBuf},
    time::SystemTime,
};

use watertight_probe::nonce::RunNonce;
use watertight_reports::{
    bundle::{
        Writer,
        documents::{PLAN_SCHEMA, Plan as Document},
    },
    matrix::Matrix,
    predicate::{Ci, Harness, Source, subject_digest},
    sanitise,
    signing::digest::Digest,
    time,
    transparency::{entry::Entry, file::LogFile},
};

use super::{Chosen, Plan, Refusal};
use crate::{
    build_info,
    catalogue::Catalogue,
    commands::{line::Check, load},
    keep::{Keep, Supplied},
    predicate,
    profile::Profile,
    site::random as random_bytes,
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
    challenge: Option<[u8; 32]>,
    log: Option<PathBuf>,
    pub supplied: Supplied,
}

impl Out {
    /// What the line asks for. What must not be there yet is looked at before anything runs.
    pub fn of(line: &Check, targets: &[Target], catalogue: &Catalogue) -> Result<Option<Self>, Refusal> {
        let Some(directory) = line.evidence.out.clone() else { return Ok(None) };
        let several = targets.len() > 1;
        if several {
            std::fs::create_dir_all(&directory)
                .map_err(|error| Refusal::usage(format!("cannot make {}: {error}", directory.display())))?;
        }
        let harness = build_info::harness().map_err(Refusal::incomplete)?;
        if line.evidence.official {
            official(line, &harness).map_err(Refusal::usage)?;
        }
        let matrix = line.evidence.matrix.as_deref().map(matrix).transpose().map_err(Refusal::usage)?;
        let words = std::env::args_os().map(|word| sanitise::text(word.as_encoded_bytes(), sanitise::LIMIT));
        let supplied =
            Supplied { matrix, source: source(line), ci: ci(|name| std::env::var(name).ok()), argv: words.collect() };
        let out = Self {
            directory,
            several,
            spec: catalogue.version.clone(),
            harness_sha256: harness.sha256,
            official: line.evidence.official,
            challenge: line.evidence.nonce,
            log: line.evidence.log.clone(),
            supplied,
        };
        for target in targets {
            Writer::free(&out.place(target)).map_err(|error| Refusal::usage(error.to_string()))?;
        }
        Ok(Some(out))
    }

    /// Begins the bundle of one target.
    pub fn begin(&self, plan: &Plan, Chosen { target, profile, checks }: &Chosen) -> Result<Keep, String> {
        let random = |error| format!("cannot read /dev/urandom: {error}");
        let salt = random_bytes::<32>().map_err(random)?;
        let document = Document {
            schema: PLAN_SCHEMA.into(),
            run: hex::encode(random_bytes::<16>().map_err(random)?),
            spec: self.spec.clone(),
            profile: profile.name().into(),
            target: target.name.clone(),
            checks: checks.iter().map(|check| check.id.to_owned()).collect(),
            complete: plan.filter.is_none(),
            filter: plan.filter.clone(),
            as_root: target.as_root(plan.options.as_root),
            by_root: plan.by_root,
            soak: plan.options.soak,
            with_mutants: plan.with_mutants,
            official: self.official,
            challenge: self.challenge.map(hex::encode),
            started_at: time::rfc3339(SystemTime::now()),
            harness_sha256: self.harness_sha256.clone(),
        };
        if let Some(log) = &self.log {
            self.note_start(log, &document, salt, target, *profile)?;
        }
        Keep::begin(&self.place(target), document, salt, target).map_err(|error| error.to_string())
    }

    /// Before the first check: a run that does not please cannot be left out of the log any more.
    fn note_start(
        &self,
        log: &Path,
        document: &Document,
        salt: [u8; 32],
        target: &Target,
        profile: Profile,
    ) -> Result<(), String> {
        let challenge = self.challenge.map(Vec::from).unwrap_or_default();
        let entry = Entry::Start {
            run: document.run.clone(),
            subject: subject_digest(&predicate::artifacts(target)?),
            profile: profile.words(),
            nonce_sha256: Digest::of(RunNonce::answer(salt, &challenge).reveal()),
            at: document.started_at.clone(),
        };
        let mut log = LogFile::lock(log).map_err(|error| error.to_string())?;
        log.append(&entry).map(|_| ()).map_err(|error| error.to_string())
    }

    fn place(&self, target: &Target) -> PathBuf {
        // Not every file system, nor every store of artifacts, takes a colon.
        if self.several { self.directory.join(target.name.replace(':', ".")) } else { self.directory.clone() }
    }
}

/// What an official run must be: nothing was chosen, changed or left out, and nobody can keep quiet about it.
fn official(line: &Check, harness: &Harness) -> Result<(), String> {
    let evidence = &line.evidence;
    let missing = [
        (line.filter.is_none(), "it leaves no requirement out: no --filter"),
        (evidence.nonce.is_some(), "it answers a verifier's challenge: --nonce HEX"),
        (evidence.log.is_some(), "its start is in a log: --log FILE"),
        (evidence.matrix.is_some(), "a kill matrix shows that its checks can fail: --matrix FILE"),
        (harness.build == "release", "it is made by a release build: cargo build --release"),
        (harness.dirty == Some(false), "it is made by a program that was built from committed files alone"),
    ];
    match missing.iter().find(|(holds, _)| !holds) {
        None => Ok(()),
        Some((_, what)) => Err(format!("an official run is more than this: {what}")),
    }
}

/// The kill matrix that the evidence refers to.
fn matrix(path: &Path) -> Result<(Matrix, Vec<u8>), String> {
    let (matrix, document) = load::kill_matrix(path)?;
    if matrix.harness.sha256 != build_info::sha256()? {
        return Err(format!("the matrix {} was made by another program than this one", path.display()));
    }
    Ok((matrix, document))
}

/// Where the target came from, as the line says it.
fn source(line: &Check) -> Option<Source> {
    let evidence = &line.evidence;
    let plain = |text: &String| sanitise::text(text, sanitise::NAME_LIMIT);
    Some(Source {
        uri: evidence.source.as_ref().map(plain).unwrap_or_default(),
        commit: plain(evidence.commit.as_ref()?),
        dirty: evidence.dirty,
        merge_commit: evidence.merge_commit.as_ref().map(plain),
    })
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
}

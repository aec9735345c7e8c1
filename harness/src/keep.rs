//! Keeps a run as a bundle while it goes on: the plan first, then what comes, and at the end what is made of it.

use std::{
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Instant, SystemTime},
};

use watertight_reports::{
    bundle::{
        self, Manifest, WriteError, Writer,
        documents::{Plan, RUN_SCHEMA, Run},
    },
    evidence::Launch,
    json,
    matrix::Matrix,
    predicate::{Ci, Source},
    results::{self, Counts, Results, Status, Target as Tested},
    time,
};

use crate::{
    catalogue::Catalogue, outcome::Outcome, predicate, profile::Profile, run::Listener, suite, target::Target,
};

/// What is written with a run beside what comes of it.
#[derive(Clone, Debug, Default)]
pub struct Supplied {
    /// The kill matrix, and its document.
    pub matrix: Option<(Matrix, Vec<u8>)>,
    pub source: Option<Source>,
    pub ci: Option<Ci>,
    /// The command line.
    pub argv: Vec<String>,
}

/// A bundle whose run goes on.
pub struct Keep {
    writer: Writer,
    plan: Plan,
    salt: [u8; 32],
    began: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    log: String,
    /// The first thing that could not be written: the rest would make no whole.
    trouble: Option<WriteError>,
}

/// Why a run is not kept.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error("{0}")]
    Program(String),
}

impl Keep {
    /// Begins a bundle: it holds what is to be done, and says `incomplete`.
    ///
    /// `salt` makes the run's nonce; it is not written before the end.
    pub fn begin(root: &Path, plan: Plan, salt: [u8; 32], target: &Target) -> Result<Self, WriteError> {
        let writer = Writer::create(root)?;
        writer.file(bundle::PLAN, json::render(&plan).as_bytes())?;
        writer.file(bundle::TARGET, target.manifest.as_bytes())?;
        writer.file(bundle::RESULTS, json::render(&nothing_yet(&plan, target)).as_bytes())?;
        writer.close()?;
        Ok(Self { writer, plan, salt, began: Instant::now(), state: Mutex::default() })
    }

    pub fn salt(&self) -> [u8; 32] {
        self.salt
    }

    /// Writes what the whole run brought. Only now does the bundle say anything but `incomplete`.
    pub fn finish(self, outcome: &Outcome, target: &Target, supplied: &Supplied) -> Result<Manifest, KeepError> {
        let Self { writer, plan, began, state, .. } = self;
        let State { log, trouble } = state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(trouble) = trouble {
            return Err(trouble.into());
        }
        let Outcome { results, evidence, layout, secrets } = outcome;
        let launches = evidence.launches.iter().map(|launch| writer.outside(launch)).collect::<Result<_, _>>()?;
        #[expect(clippy::expect_used, reason = "addresses, paths and digests always serialise")]
        let layout = serde_json::to_value(layout).expect("plain data");
        let run = Run {
            schema: RUN_SCHEMA.into(),
            run: plan.run.clone(),
            nonce: secrets.run.reveal(),
            salt: hex::encode(secrets.salt),
            launches,
            secrets: evidence.secrets.clone(),
            banners: evidence.banners.clone(),
            unattributed: evidence.unattributed.clone(),
            gaps: evidence.gaps.clone(),
            absent: evidence.absent.clone(),
            layout,
        };
        writer.file(bundle::RUN, json::render(&run).as_bytes())?;
        writer.file(bundle::LOG, log.as_bytes())?;
        if let Some((_, document)) = &supplied.matrix {
            writer.file(bundle::MATRIX, document)?;
        }
        writer.file(bundle::RESULTS, json::render(results).as_bytes())?;
        writer.subdirectory(bundle::REPORTS)?;
        let catalogue = Catalogue::load().map_err(|error| KeepError::Program(error.to_string()))?;
        let mutants = supplied.matrix.as_ref().map_or(&[][..], |(matrix, _)| &matrix.mutants);
        for (name, document) in suite::kept(results, &catalogue, mutants) {
            writer.file(&format!("{}/{name}", bundle::REPORTS), &document)?;
        }
        let manifest = writer.close()?;
        let finished_at = time::rfc3339(SystemTime::now());
        let monotonic_ms = began.elapsed().as_millis() as u64;
        let not_claimed = catalogue.not_claimed;
        let end = predicate::End { finished_at, monotonic_ms, manifest: &manifest, not_claimed };
        let predicate = predicate::of(&plan, &run, outcome, target, supplied, end).map_err(KeepError::Program)?;
        writer.beside(bundle::PREDICATE, json::render(&predicate).as_bytes())?;
        Ok(manifest)
    }

    fn note(&self, what: &str, written: Result<(), WriteError>) {
        let mut state = self.state();
        let micros = self.began.elapsed().as_micros();
        state.log.push_str(&format!("{}.{:06} {what}\n", micros / 1_000_000, micros % 1_000_000));
        if let Err(error) = written {
            state.trouble.get_or_insert(error);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener for Keep {
    fn stage(&self, stage: &str) {
        self.note(stage, Ok(()));
    }

    fn launch(&self, launch: &Launch) {
        self.note(&format!("launch {} ended", launch.id), self.writer.launch(launch));
    }
}

/// Results of a run that has not come to any.
fn nothing_yet(plan: &Plan, target: &Target) -> Results {
    Results {
        schema: results::SCHEMA.into(),
        spec: plan.spec.clone(),
        target: Tested {
            name: target.name.clone(),
            version: String::new(),
            route: target.route.name().into(),
            launched_as: if plan.as_root { "root" } else { "user" }.into(),
            argv: vec![],
        },
        profile: Profile::named(&plan.profile).unwrap_or_default().words(),
        status: Status::Incomplete,
        counts: Counts::default(),
        untestable: vec![],
        checks: vec![],
        sensitivity: vec![],
        environment: Default::default(),
        started_at: plan.started_at.clone(),
        wall_ms: 0,
    }
}

//! One run against one target: controls, the target, controls again, then the launches that checks ask for by themselves.

mod error;
mod plans;
mod words;

use std::{collections::BTreeSet, path::PathBuf, sync::mpsc, thread};

use watertight_fixtures::world::WORKSPACE;
use watertight_probe::plan::End;
use watertight_reports::evidence::{Evidence, Launch, LaunchKind};

use super::{
    assemble::{Assembled, Made},
    attribute::attribute,
    launch::{Manner, Running},
    listener::{Later, Listener},
};
use crate::{
    check::Check,
    planner::{Allocator, Layout},
    scenario::Scenario,
    site::{self, Secrets, Site, SiteError},
    target::Target,
    version,
};
pub use error::RunError;
pub use words::MUTANTS;

/// How a run is to go.
#[derive(Clone, Debug)]
pub struct Options {
    /// This program, as the machine sees it.
    pub program: PathBuf,
    /// Launch the target as the world's root.
    pub as_root: bool,
    /// How often launches are repeated to look for races.
    pub soak: u32,
    /// Further programs of ours that lie in the world, by name.
    pub beside: Vec<(String, PathBuf)>,
    /// What the run's nonce must answer; empty where nobody asked.
    pub challenge: Vec<u8>,
    /// What makes the nonce of the challenge; a new one where nothing was chosen before the run.
    pub salt: Option<[u8; 32]>,
}

/// What a run brings back.
pub struct Ran {
    pub evidence: Evidence,
    pub layout: Layout,
    /// The target's version in its own words.
    pub version: String,
    pub secrets: Secrets,
}

/// A run under way.
pub struct Session<'a> {
    pub(super) target: &'a Target,
    pub(super) options: &'a Options,
    pub(super) site: Site,
    pub(super) layout: Layout,
    pub(super) launches: Vec<Launch>,
    pub(super) allocator: Allocator,
    checks: &'a [&'static Check],
    /// Launches beside the main one are made only where a check has attempts of its own in them.
    pub(super) only_needed: bool,
    /// Launches are killed early at a fourth of the moments: on a broken target of which nothing is to be left all the same.
    pub(super) few_kills: bool,
    listener: &'a dyn Listener,
    /// A target that cannot be seen was launched once without trying anything, and why nothing may be tried in it.
    pub(super) looked: bool,
    pub(super) refused: Option<String>,
}

impl<'a> Session<'a> {
    /// Runs `checks` against `target`. `listener` is told what is being done and what came.
    ///
    /// Launches that checks make by themselves, to end them in some way or to withhold something, go on beside the others
    /// in a world of their own: most of the time they wait.
    pub fn run(
        target: &'a Target,
        checks: &'a [&'static Check],
        options: &'a Options,
        listener: &'a dyn Listener,
    ) -> Result<Ran, RunError> {
        listener.stage("making the world");
        let secrets = Secrets::new(options.salt, &options.challenge).map_err(SiteError::Random)?;
        let scenarios: BTreeSet<Scenario> = checks.iter().flat_map(|check| check.scenarios).copied().collect();
        let (tell, told) = mpsc::channel();
        let beside = secrets.clone();
        thread::scope(|scope| {
            let apart = thread::Builder::new().spawn_scoped(scope, move || {
                let later = Later { listener, tell };
                if scenarios.is_empty() {
                    return Ok(None);
                }
                let mut session = Session::new(target, checks, options, beside, &later)?;
                session.scenarios(&scenarios)?;
                session.finish().map(Some)
            });
            let apart = apart.map_err(RunError::Thread)?;
            let mut session = Session::new(target, checks, options, secrets.clone(), listener)?;
            session.controls("before", LaunchKind::ControlBefore, LaunchKind::RootBefore)?;
            session.main()?;
            session.controls("after", LaunchKind::ControlAfter, LaunchKind::RootAfter)?;
            let version = version::of(&session.site.world, target, &session.values());
            let layout = session.layout.clone();
            let mut evidence = session.finish()?;
            told.iter().for_each(|stage| listener.stage(&stage));
            if let Some(apart) = apart.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))? {
                evidence.join(apart);
            }
            listener.stage("judging");
            Ok(Ran { evidence, layout, version, secrets })
        })
    }

    pub(super) fn new(
        target: &'a Target,
        checks: &'a [&'static Check],
        options: &'a Options,
        secrets: Secrets,
        listener: &'a dyn Listener,
    ) -> Result<Self, RunError> {
        let mut site = Site::up(&options.program, &options.beside, target.init_in_cgroup, secrets)?;
        site.bearer_variable = target.bearer_variable.clone();
        if let Some(adapter) = &target.adapter {
            site::plant_adapter(&site.world, adapter.program.as_deref()).map_err(SiteError::Plant)?;
        }
        if target.as_root(options.as_root) {
            site.give_workspace_to_root()?;
        }
        if words::has_bundles(target) {
            site.make_room_for_bundles()?;
        }
        let mut layout = site.layout()?;
        layout.absent = target.absent.keys().copied().collect();
        layout.way = target.way();
        let allocator = Allocator::default();
        Ok(Self {
            target,
            options,
            site,
            layout,
            launches: vec![],
            allocator,
            checks,
            only_needed: false,
            few_kills: false,
            listener,
            looked: false,
            refused: None,
        })
    }

    pub(super) fn controls(&mut self, when: &str, user: LaunchKind, root: LaunchKind) -> Result<(), RunError> {
        self.listener.stage(&format!("controls {when}"));
        for (kind, id, as_root) in [(user, format!("control-{when}"), false), (root, format!("root-{when}"), true)] {
            for assembled in self.assemble(kind, &id, End::Exit(0))? {
                let argv = self.probe_words(&assembled)?;
                let manner = Manner { as_root, ..Manner::default() };
                let mut running =
                    Running::start(&self.site, kind, argv, assembled, manner).map_err(RunError::Control)?;
                running.carry_through(&self.site);
                self.keep(running.end(&self.site));
            }
        }
        Ok(())
    }

    /// The target's own launches, with a second spawn beside the first so that one's bearer can be tried on the other.
    pub(super) fn main(&mut self) -> Result<(), RunError> {
        self.listener.stage("target");
        if let Some(launch) = self.look_first()? {
            self.keep(launch);
        }
        if let Some(launch) = self.refused("target", LaunchKind::Target) {
            self.keep(launch);
            return Ok(());
        }
        let mut beside = vec![];
        for assembled in self.assemble_beside(LaunchKind::Second, "second", End::Stay)? {
            let mut running = self.start(LaunchKind::Second, assembled, true)?;
            running.carry_through(&self.site);
            beside.push(running);
        }
        self.layout.second_bearer = beside.first().and_then(Running::bearer);
        if self.target.one_at_a_time {
            self.stop(std::mem::take(&mut beside))?;
        }
        let parts: &[_] = if self.target.as_control {
            &[("target", Some(Made::ByUser)), ("target-as-root", Some(Made::ByRoot))]
        } else {
            &[("target", None)]
        };
        for (id, only) in parts {
            for assembled in self.assemble_part(LaunchKind::Target, id, End::Exit(0), *only)? {
                self.through(LaunchKind::Target, assembled, true, *only == Some(Made::ByRoot))?;
            }
        }
        for assembled in self.assemble_beside(LaunchKind::NoInstance, "no-instance", End::Exit(0))? {
            self.through(LaunchKind::NoInstance, assembled, false, false)?;
        }
        self.stop(beside)
    }

    fn keep(&mut self, launch: Launch) {
        self.listener.launch(&launch);
        self.launches.push(launch);
    }

    fn stop(&mut self, launches: Vec<Running>) -> Result<(), RunError> {
        for mut running in launches {
            running.stop();
            self.keep(running.end(&self.site));
        }
        self.make_room()
    }

    /// Ends what a launch left behind where it would be in the next one's way. What is left is looked at in launches of
    /// their own.
    fn make_room(&self) -> Result<(), RunError> {
        if self.target.one_at_a_time {
            self.site.world.sweep().map_err(RunError::Look)?;
        }
        Ok(())
    }

    pub(super) fn scenarios(&mut self, wanted: &BTreeSet<Scenario>) -> Result<(), RunError> {
        self.look_first()?;
        for scenario in wanted {
            self.listener.stage(&scenario.id());
            let launch = match self.refused(&scenario.id(), LaunchKind::Own) {
                Some(refused) => refused,
                None => self.scenario(*scenario)?,
            };
            self.keep(launch);
        }
        // What the probe tries at its very start is a race: more starts, more chances to see it lost.
        for again in (1..self.options.soak).filter(|_| self.refused.is_none()).collect::<Vec<_>>() {
            let launch = self.again(again)?;
            self.keep(launch);
        }
        Ok(())
    }

    /// One launch of the target from its start to its own end.
    fn through(
        &mut self,
        kind: LaunchKind,
        assembled: Assembled,
        with_instance: bool,
        as_root: bool,
    ) -> Result<(), RunError> {
        let mut running = self.start_with(kind, assembled, with_instance, as_root)?;
        if running.greet(&self.site) {
            running.look_at_sockets(&self.site);
            if kind == LaunchKind::Target {
                running.look_at_network();
                running.look_at_listeners();
            }
            running.go();
            running.attend();
            // In the clock of the ledgers: what a relay had ended by now, it ended while the workload ran.
            let now = self.site.ledger().elapsed_micros();
            running.record.outside.insert("done_at".into(), now.to_string());
            running.note_terminal(&self.site);
        }
        running.tell(&self.site);
        let mut launch = running.end(&self.site);
        launch.outside.insert("workspace".into(), WORKSPACE.into());
        self.keep(launch);
        self.make_room()
    }

    pub(super) fn start(
        &self,
        kind: LaunchKind,
        assembled: Assembled,
        with_instance: bool,
    ) -> Result<Running, RunError> {
        self.start_with(kind, assembled, with_instance, false)
    }

    fn start_with(
        &self,
        kind: LaunchKind,
        assembled: Assembled,
        with_instance: bool,
        as_root: bool,
    ) -> Result<Running, RunError> {
        let words = self.words(&assembled, with_instance)?;
        let argv = self.target.argv(&words)?;
        let mut manner = self.manner(&words)?;
        manner.as_root |= as_root;
        Running::start(&self.site, kind, argv, assembled, manner).map_err(RunError::Control)
    }

    /// Takes the site down and gives everything that was seen outside to its attempt.
    pub(super) fn finish(self) -> Result<Evidence, RunError> {
        let Self { target, site, mut launches, .. } = self;
        let mut banners: Vec<String> = site::CANARIES.iter().map(|name| site.secrets.banner(name)).collect();
        banners.push(site.secrets.marker_digest());
        let secrets = [("provider-key".to_owned(), site.secrets.provider_key.clone())].into();
        let run = site.secrets.run.clone();
        let down = site.down()?;
        let mut sightings = down.ledger.snapshot();
        sightings.extend(down.frames);
        let unattributed = attribute(&mut launches, sightings, &run);
        let mut gaps = vec![];
        if down.lost > 0 {
            gaps.push(format!("the capture lost {} frames", down.lost));
        }
        if down.ledger.overflowed() {
            gaps.push(format!("the ledger lost {} entries", down.ledger.dropped()));
        }
        let absent = target.absent.iter().map(|(what, why)| (what.name().to_owned(), why.clone())).collect();
        Ok(Evidence { launches, secrets, banners, unattributed, gaps, absent })
    }
}

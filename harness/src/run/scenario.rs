//! Launches that checks ask for by themselves: ended in every way, without a prerequisite, with bad input, killed early.

use std::time::{Duration, Instant};

use nix::{errno::Errno, sys::signal::Signal};
use watertight_fixtures::world::{Call, Fault, Snapshot, WORKSPACE};
use watertight_probe::{
    observation::{Facts, Outcome},
    plan::{Attempt, End, Planned, Step},
    sighting::{Event, Sighting},
};
use watertight_reports::evidence::{AttemptRecord, Launch, LaunchKind};

use super::{
    assemble::Assembled,
    launch::{Manner, Running},
    session::{RunError, Session},
};
use crate::{
    check::Capability,
    planner::SIDE,
    request::Request,
    scenario::{BadInput, Ending, Prerequisite, Scenario},
    site::{BROKEN_PROGRAM, BUNDLES},
};

/// How long after the launch's end anything of it may still be there.
const SETTLE: Duration = Duration::from_secs(2);
/// How soon what is left is looked at again where nothing of it ends: soon at first, as that is what nearly always helps.
const AGAIN: Duration = Duration::from_millis(5);
const AGAIN_AT_MOST: Duration = Duration::from_millis(200);
/// How often a launcher is killed early, and how far the moments are apart.
const KILLS: u32 = 20;
const APART: Duration = Duration::from_micros(500);
/// Where a launch is then still about to start, it is killed further on, so often at most: an ordinary user has few keys, and
/// those of killed launches are cleared away late.
const MORE_KILLS: u32 = 6;
const MORE_APART: Duration = Duration::from_millis(12);
/// Of how many moments one is tried where few are enough.
const FEWER: usize = 4;

impl Session<'_> {
    /// Makes the launch of one scenario.
    pub(super) fn scenario(&mut self, scenario: Scenario) -> Result<Launch, RunError> {
        match scenario {
            Scenario::Ends(ending) => self.ends(ending),
            Scenario::Hides(prerequisite) => self.hides(prerequisite),
            Scenario::Refuses(input) => self.refuses(input),
            Scenario::KilledEarly => self.killed_early(),
            Scenario::FailsLate => self.fails_late(),
            Scenario::Status(status) => {
                let assembled = self.bare(&scenario.id(), End::Exit(status))?;
                self.whole(assembled)
            }
        }
    }

    /// An ordinary launch, made once more.
    pub(super) fn again(&mut self, number: u32) -> Result<Launch, RunError> {
        let assembled = self.bare(&format!("again-{number}"), End::Exit(0))?;
        self.whole(assembled)
    }

    fn whole(&self, assembled: Assembled) -> Result<Launch, RunError> {
        let mut running = self.start(LaunchKind::Own, assembled, true)?;
        running.carry_through(&self.site);
        Ok(running.end(&self.site))
    }

    /// The launch ends in this way while the workload has lingering processes, and requests open in every state.
    fn ends(&mut self, ending: Ending) -> Result<Launch, RunError> {
        let end = match ending {
            Ending::Exit => End::Exit(0),
            Ending::WorkloadKilled => End::Signal(Signal::SIGKILL as i32),
            Ending::Terminate | Ending::Interrupt | Ending::HangUp | Ending::Kill => End::Stay,
        };
        let id = Scenario::Ends(ending).id();
        let mut assembled = self.bare(&id, end)?;
        self.add_lingering(&mut assembled);
        let before = Snapshot::take(&self.site.world).map_err(RunError::Look)?;
        let mut running = self.start(LaunchKind::Own, assembled, true)?;
        running.carry_through(&self.site);
        let signal = match ending {
            Ending::Exit | Ending::WorkloadKilled => None,
            Ending::Terminate => Some(Signal::SIGTERM),
            Ending::Interrupt => Some(Signal::SIGINT),
            Ending::HangUp => Some(Signal::SIGHUP),
            Ending::Kill => Some(Signal::SIGKILL),
        };
        if let Some(signal) = signal {
            running.signal(signal).map_err(RunError::Look)?;
        }
        let mut launch = running.end(&self.site);
        // Before anything is swept away that may hold them.
        self.count_upstream(&mut launch);
        self.settle(&mut launch, &before)?;
        Ok(launch)
    }

    /// Processes that try to outlive everything: one by itself, and one for each relay and state of a request.
    fn add_lingering(&self, assembled: &mut Assembled) {
        let run = &self.site.secrets.run;
        let launch = assembled.plan.launch.clone();
        let comm = format!("l{}", &run.attempt(&launch, "lingering").to_string()[..14]);
        let mut add = |name: &str, holding| {
            let id = format!("lingering/{name}");
            let nonce = run.attempt(&launch, &id);
            let attempt = Attempt::Linger { comm: comm.clone(), holding };
            assembled.plan.attempts.push(Planned {
                id: id.clone(),
                nonce,
                deadline_ms: 4_000,
                attempt: attempt.clone(),
            });
            let record =
                AttemptRecord { nonce, attempt, evil: None, began: false, observation: None, sightings: vec![] };
            assembled.records.insert(id, record);
        };
        add("alone", None);
        for (relay, route) in [("provider", Capability::Provider), ("instance", Capability::Instance)] {
            for state in ["pending", "incomplete", "streaming"] {
                let name = format!("{relay}-{state}");
                let id = format!("lingering/{name}");
                let nonce = run.attempt(&launch, &id);
                let side = run.attempt(&launch, &format!("{id}{SIDE}"));
                let request = match relay {
                    "provider" => Request::chat(),
                    _ => Request::new("POST", "/api/v1/messages").body("{}"),
                };
                let mut steps = match state {
                    "pending" => request.mode(nonce, "pending").send(),
                    "incomplete" => request.mode(nonce, "pending").missing_body(1000).send(),
                    _ => request.mode(nonce, "stream").send(),
                };
                let wait = match relay {
                    "provider" => Request::models(),
                    _ => Request::new("GET", "/api/v1/context"),
                };
                steps.push(Step::Await(wait.mode(side, format!("await {nonce}")).send()));
                add(&name, Some((self.layout.endpoint(route), steps)));
            }
        }
    }

    /// Counts the upstream connections of the launch's requests: those that came, and those that stay.
    fn count_upstream(&self, launch: &mut Launch) {
        let ledger = self.site.ledger();
        let deadline = Instant::now() + SETTLE;
        let (mut came, mut stayed) = (0, 0);
        for (id, record) in &launch.attempts {
            let Some(fixture) = ["provider", "instance"].into_iter().find(|fixture| id.contains(fixture)) else {
                continue;
            };
            let request = |one: &Sighting| {
                one.fixture == fixture
                    && one.nonces.contains(&record.nonce)
                    && matches!(one.event, Event::Request { .. })
            };
            came += u32::from(ledger.wait_for_blocking(request, Instant::now()));
            ledger.wait_live_blocking(fixture, Some(record.nonce), 0, deadline);
            stayed += ledger.live(fixture, Some(record.nonce));
        }
        launch.outside.insert("upstream_before".into(), came.to_string());
        launch.outside.insert("upstream_after".into(), stayed.to_string());
    }

    /// Waits until nothing of the launch is there any more, or has been for too long; records what is left, and removes it.
    fn settle(&self, launch: &mut Launch, before: &Snapshot) -> Result<(), RunError> {
        let deadline = Instant::now() + SETTLE;
        let lingering = launch.attempts.values().filter(|record| {
            let outcome = record.observation.as_ref().map(|observation| &observation.outcome);
            matches!(outcome, Some(Outcome::Found { facts: Facts::Lingering { .. } }))
        });
        launch.outside.insert("lingering_before".into(), lingering.count().to_string());
        let mut again = AGAIN;
        let left = loop {
            let now = Snapshot::take(&self.site.world).map_err(RunError::Look)?;
            let mut left = Snapshot::diff(before, &now);
            // The workspace is the user's: what is written there is meant to stay.
            let kept = format!("file {WORKSPACE}/");
            // A bundle is ours, and so is what its runtime leaves in it.
            let bundles = format!("file {BUNDLES}/");
            let ours = |line: &str| line.starts_with(&kept) || line.starts_with(&bundles);
            left.retain(|line| !line.starts_with("no more: ") && !ours(line));
            // The kernel takes a killed process's mounts and sockets down a moment after it is gone.
            if left.is_empty() || Instant::now() >= deadline {
                break left;
            }
            let next = (Instant::now() + again).min(deadline);
            now.wait_for_ends(next).map_err(RunError::Look)?;
            again = (again * 2).min(AGAIN_AT_MOST);
        };
        launch.left.extend(left);
        launch.outside.insert("settled".into(), "yes".into());
        self.site.world.sweep().map_err(RunError::Look)?;
        Ok(())
    }

    fn hides(&mut self, prerequisite: Prerequisite) -> Result<Launch, RunError> {
        let id = Scenario::Hides(prerequisite).id();
        let assembled = self.bare(&id, End::Exit(0))?;
        let words = self.words(&assembled, true)?;
        let argv = self.target.argv(&words)?;
        let manner = Manner { faults: vec![fault(prerequisite)], ..self.manner(&words)? };
        let mut launch = self.brief(argv, assembled, manner)?;
        let needed = if self.target.needs.contains(&prerequisite) { "yes" } else { "no" };
        launch.outside.insert("needed".into(), needed.into());
        self.swept(launch)
    }

    fn refuses(&mut self, input: BadInput) -> Result<Launch, RunError> {
        let id = Scenario::Refuses(input).id();
        let Some(edit) = self.target.refuses.get(&input) else {
            let mut launch = Launch::not_made(&id, LaunchKind::Own);
            launch.outside.insert("declared".into(), "no".into());
            return Ok(launch);
        };
        let assembled = self.bare(&id, End::Exit(0))?;
        let words = self.words(&assembled, true)?;
        let argv = self.target.edited_argv(edit, &words)?;
        let mut manner = self.manner(&words)?;
        manner.as_root |= input == BadInput::NoOrdinaryUser;
        let mut launch = self.brief(argv, assembled, manner)?;
        launch.outside.insert("declared".into(), "yes".into());
        self.swept(launch)
    }

    /// What interprets the workload's program does not exist: the launch fails when its sockets listen already.
    fn fails_late(&mut self) -> Result<Launch, RunError> {
        let assembled = self.bare(&Scenario::FailsLate.id(), End::Exit(0))?;
        let mut words = self.words(&assembled, true)?;
        words.probe = vec![BROKEN_PROGRAM.into()];
        let argv = self.target.argv(&words)?;
        let manner = self.manner(&words)?;
        let before = Snapshot::take(&self.site.world).map_err(RunError::Look)?;
        let mut launch = self.brief(argv, assembled, manner)?;
        // What is left is counted before it is removed.
        self.settle(&mut launch, &before)?;
        Ok(launch)
    }

    fn killed_early(&mut self) -> Result<Launch, RunError> {
        let before = Snapshot::take(&self.site.world).map_err(RunError::Look)?;
        let id = Scenario::KilledEarly.id();
        let mut moments = moments(self.start_takes(&id)?);
        if self.few_kills {
            moments = moments.into_iter().step_by(FEWER).collect();
        }
        let kills = moments.len() as u32 * self.options.soak.max(1);
        let mut last = None;
        let mut alive = 0;
        for moment in moments.iter().cycle().take(kills as usize) {
            let assembled = self.bare(&id, End::Stay)?;
            let running = self.start(LaunchKind::Own, assembled, true)?;
            // Not a wait for something: the moment itself is what is tried.
            alive += u32::from(!running.ends_by(Instant::now() + *moment));
            running.signal(Signal::SIGKILL).map_err(RunError::Look)?;
            last = Some(running.end(&self.site));
        }
        let mut launch = last.unwrap_or_else(|| Launch::not_made(&id, LaunchKind::Own));
        launch.outside.insert("kills".into(), kills.to_string());
        launch.outside.insert("kills_alive".into(), alive.to_string());
        self.settle(&mut launch, &before)?;
        Ok(launch)
    }

    /// How long a launch takes to come to its probe on this machine, as busy as it is. The launcher is killed then.
    fn start_takes(&mut self, id: &str) -> Result<Duration, RunError> {
        let assembled = self.bare(id, End::Stay)?;
        let began = Instant::now();
        let mut running = self.start(LaunchKind::Own, assembled, true)?;
        running.greet(&self.site);
        let took = began.elapsed();
        running.signal(Signal::SIGKILL).map_err(RunError::Look)?;
        running.end(&self.site);
        Ok(took)
    }

    /// A launch of which only its start and its own end matter.
    fn brief(&self, argv: Vec<String>, assembled: Assembled, manner: Manner) -> Result<Launch, RunError> {
        let mut running =
            Running::start(&self.site, LaunchKind::Own, argv, assembled, manner).map_err(RunError::Control)?;
        running.try_through(&self.site);
        Ok(running.end(&self.site))
    }

    /// Removes what a launch left that was not to run at all, so that the next one starts alone.
    fn swept(&self, launch: Launch) -> Result<Launch, RunError> {
        self.site.world.sweep().map_err(RunError::Look)?;
        Ok(launch)
    }

    /// A plan with nothing but what is tried at the start of every launch.
    #[expect(clippy::expect_used, reason = "plans are made of one launch at least")]
    pub(super) fn bare(&mut self, id: &str, end: End) -> Result<Assembled, RunError> {
        let launches = self.plan_own(id, end)?;
        Ok(launches.into_iter().next().expect("one launch at least"))
    }
}

/// When a launch that takes so long to start is killed, counted from its beginning.
fn moments(start: Duration) -> Vec<Duration> {
    let more = (1..=MORE_KILLS).map(|kill| APART * KILLS + MORE_APART * kill).take_while(|moment| *moment < start);
    (0..KILLS).map(|kill| APART * kill).chain(more).collect()
}

/// How a prerequisite is hidden: the calls that need it fail as they do where the kernel forbids it.
fn fault(prerequisite: Prerequisite) -> Fault {
    let (call, errno) = match prerequisite {
        Prerequisite::UserNamespaces => (Call::NewUser, Errno::EPERM),
        Prerequisite::NetworkNamespaces => (Call::NewNet, Errno::EPERM),
        Prerequisite::Mounts => (Call::Mount, Errno::EPERM),
        Prerequisite::Seccomp => (Call::Seccomp, Errno::EINVAL),
        Prerequisite::NoNewPrivs => (Call::NoNewPrivs, Errno::EINVAL),
    };
    Fault::Refuse { call, errno: errno as i32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launcher_is_killed_all_along_its_start_on_a_slow_machine_as_well() {
        let last = |millis| moments(Duration::from_millis(millis)).last().map(Duration::as_micros);
        assert_eq!((moments(Duration::ZERO).len(), last(0), last(22)), (20, Some(9_500), Some(9_500)));
        assert_eq!((last(23), last(60), last(10_000)), (Some(22_000), Some(58_000), Some(82_000)));
    }
}

//! One launch: starts it in the world, reads the probe's lines, looks at its processes, says `go`, waits for its end.

mod gate;
mod looks;
mod streams;

use std::{
    fs::File,
    io,
    path::PathBuf,
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use nix::{fcntl::OFlag, sys::signal::Signal, unistd::pipe2};
use watertight_fixtures::world::{Child, Exit as ChildExit, Fault, Spawn, SpawnError};
use watertight_probe::plan::Plan;
use watertight_reports::evidence::{Exit, Launch, LaunchKind};

use super::{
    assemble::Assembled,
    attribute::BEGAN_AT,
    channel::{Channel, ERRORS, complain, shown},
    stderr::Errors,
    terminal::Terminal,
};
use crate::{
    doctor::programs,
    site::{Placed, Plants, Site},
};
pub use looks::{HELD_AS, HELD_BY, UNSEEN};
use streams::Until;

/// How long the probe may go on after the deadlines of its attempts, and at all once a launch hung.
const LATE: Duration = Duration::from_secs(15);
const LATE_AGAIN: Duration = Duration::from_secs(5);
/// How long it may take to end once the probe is done, and where an earlier launch did not end in time.
const ENDING: Duration = Duration::from_secs(10);
const ENDING_AGAIN: Duration = Duration::from_secs(2);
/// How long what a killed helper still holds open is read.
const REST: Duration = Duration::from_millis(200);

/// How a launch differs from an ordinary one.
#[derive(Debug, Default)]
pub struct Manner {
    pub as_root: bool,
    /// The world's root starts it, and it becomes the ordinary user.
    pub by_root: bool,
    pub faults: Vec<Fault>,
    /// Environment beside the launching user's own.
    pub environment: Vec<(String, String)>,
    /// Why the probe's processes cannot be seen from outside.
    pub unseen: Option<String>,
    /// The launch's own directory, and what lies in it, by relative path.
    pub files_at: PathBuf,
    pub files: Vec<(String, String)>,
}

/// A launch that is under way.
pub struct Running {
    machine_net: u64,
    /// The cookie of that network.
    machine_netns: u64,
    terminal: Option<Terminal>,
    child: Child,
    as_root: bool,
    stdin: Option<File>,
    stdout: Option<File>,
    stderr: Option<File>,
    channel: Channel,
    errors: Errors,
    comm: String,
    longest: Duration,
    began: Instant,
    placed: Placed,
    /// Did not do in time what it was waited for.
    overdue: bool,
    /// See [`Site::ends_late`].
    ends_late: Arc<OnceLock<Option<String>>>,
    pub record: Launch,
}

impl Running {
    /// Starts `argv` in the world with everything planted that a careless launcher leaves.
    pub fn start(
        site: &Site,
        kind: LaunchKind,
        argv: Vec<String>,
        assembled: Assembled,
        manner: Manner,
    ) -> Result<Self, SpawnError> {
        let Assembled { plan, records } = assembled;
        let failed = |source: io::Error| SpawnError::Prepare { program: plan.launch.clone(), source };
        let pipe = || pipe2(OFlag::O_CLOEXEC).map_err(|errno| failed(errno.into()));
        let ((stdin, stdin_end), (stdout_end, stdout), (stderr_end, stderr)) = (pipe()?, pipe()?, pipe()?);
        let argv = by_path(argv);
        let mut spawn = Spawn::new(argv.clone(), [stdin, stdout, stderr]);
        Plants::into_spawn(site, &mut spawn).map_err(failed)?;
        // Of two variables with one name the first would count.
        spawn.env.retain(|(name, _)| manner.environment.iter().all(|(other, _)| other != name));
        spawn.env.extend(manner.environment);
        spawn.faults = manner.faults;
        let terminal = if Terminal::is_wanted(records.values()) {
            let (terminal, given) = Terminal::open(&site.world).map_err(failed)?;
            spawn.terminal = Some(given);
            Some(terminal)
        } else {
            None
        };
        if manner.as_root || manner.by_root {
            spawn.identity = watertight_fixtures::world::As::Root;
            spawn.groups.clear();
        }
        let placed = Placed::place(&site.world, &manner.files_at, &manner.files, manner.as_root).map_err(failed)?;
        let (began, began_at) = (Instant::now(), site.ledger().elapsed_micros());
        let child = site.world.spawn(spawn)?;
        let mut record = Launch::not_made(&plan.launch, kind);
        record.argv = argv.iter().map(|word| shown(word)).collect();
        record.attempts = records;
        record.outside.insert(BEGAN_AT.into(), began_at.to_string());
        if let Some(why) = manner.unseen {
            record.outside.insert(UNSEEN.into(), why);
        }
        Ok(Self {
            machine_net: site.machine_net,
            machine_netns: plan.machine_netns,
            terminal,
            child,
            as_root: manner.as_root,
            stdin: Some(stdin_end.into()),
            stdout: Some(stdout_end.into()),
            stderr: Some(stderr_end.into()),
            channel: Channel::default(),
            errors: Errors::default(),
            comm: plan.comm.clone(),
            // A target that let the harness wait for nothing once does not get the time of every attempt again.
            longest: if site.has_hung() { Duration::ZERO } else { longest(&plan) + LATE },
            began,
            placed,
            overdue: false,
            ends_late: Arc::clone(&site.ends_late),
            record,
        })
    }

    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        self.child.signal(signal)
    }

    /// The whole of an ordinary launch: greets, lets go and attends.
    pub fn carry_through(&mut self, site: &Site) {
        self.try_through(site);
        self.note_terminal(site);
        self.tell(site);
    }

    /// The same of one that need not run the probe: that it does not says nothing about others.
    pub fn try_through(&mut self, site: &Site) {
        if self.greet(site) {
            self.go();
            self.attend();
        }
    }

    /// Lets later launches wait less where this one was waited for in vain: a run must end.
    pub fn tell(&self, site: &Site) {
        if self.overdue {
            site.note_hang();
        }
    }

    /// The bearer of this spawn, where the witness could read it.
    pub fn bearer(&self) -> Option<String> {
        self.record.outside.get("bearer").cloned()
    }

    /// Reads on until the probe is done or its output ends.
    pub fn attend(&mut self) {
        let deadline = Instant::now() + self.longest.max(LATE_AGAIN);
        self.read_until(deadline, |record| record.done || record.errors.len() >= ERRORS);
        // One that says nothing but nonsense is not waited for either.
        self.overdue |= !self.record.done && self.stdout.is_some();
    }

    /// Ends a launch that stays by itself: asks, and does not wait for an answer for ever.
    pub fn stop(&mut self) {
        // One that has ended by itself meanwhile needs no signal.
        let _ = self.child.signal(Signal::SIGTERM);
    }

    /// Whether the launched process ends by then.
    pub fn ends_by(&self, deadline: Instant) -> bool {
        self.child.wait(deadline).is_ok_and(|exit| exit.is_some())
    }

    /// Waits for the launched process to end, ends it where it does not, and gives the record away.
    pub fn end(mut self, site: &Site) -> Launch {
        self.stdin = None;
        let ending = Instant::now();
        let again = self.ends_late.get().is_some();
        let deadline = ending
            + match self.overdue {
                true => REST,
                false if again => ENDING_AGAIN,
                false => ENDING,
            };
        // What it says meanwhile is read: one that waits for room in a pipe does not end.
        while self.read_some(deadline, Until::Ended) {}
        let exit = match self.child.wait(deadline) {
            Ok(Some(ChildExit::Code(status))) => Exit::Status(status),
            Ok(Some(ChildExit::Signal(signal))) => Exit::Signal(signal),
            Ok(Some(ChildExit::Lost)) | Ok(None) | Err(_) => {
                // Its own end is the point: whether it then dies is seen by what is left.
                let _ = self.child.signal(Signal::SIGKILL);
                Exit::Deadline
            }
        };
        let took = ending.elapsed();
        let deadline = Instant::now() + REST;
        while self.read_some(deadline, Until::Closed) {}
        if !self.overdue {
            // A slow end is one. What hangs, or an adapter that says so of its sandbox, is not waited for as long again.
            let trouble = self.record.errors.first().filter(|_| took > ENDING_AGAIN).cloned();
            if exit == Exit::Deadline || trouble.is_some() {
                let why = self.ends_late.get_or_init(|| trouble).clone();
                self.record.errors.extend(why.filter(|why| !self.record.errors.contains(why)));
            }
        }
        self.record.exit = Some(exit);
        self.record.micros = self.began.elapsed().as_micros() as u64;
        if let Err(error) = self.placed.remove(&site.world) {
            complain(&mut self.record, format!("the launch's own files could not be removed: {error}"));
        }
        self.record
    }
}

/// The words as the kernel takes them: it looks for no program by its name.
fn by_path(mut argv: Vec<String>) -> Vec<String> {
    if let Some(program) = argv.first_mut()
        && !program.contains('/')
        && let Some(path) = programs::find_in_world(program)
    {
        *program = path.display().to_string();
    }
    argv
}

fn longest(plan: &Plan) -> Duration {
    let at_once = plan.first.iter().chain(&plan.attempts).map(|planned| planned.deadline_ms).max().unwrap_or(0);
    let alone: u32 = plan.last.iter().map(|planned| planned.deadline_ms).sum();
    Duration::from_millis(u64::from(at_once) + u64::from(alone))
}

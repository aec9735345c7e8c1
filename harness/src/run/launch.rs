//! One launch: starts it in the world, reads the probe's lines, looks at its processes, says `go`, waits for its end.

use std::{
    fs::File,
    io::{self, Read, Write},
    os::fd::AsFd,
    path::PathBuf,
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use nix::{
    fcntl::OFlag,
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::signal::Signal,
    unistd::pipe2,
};
use watertight_fixtures::world::{Child, Exit as ChildExit, Fault, Spawn, SpawnError};
use watertight_probe::plan::Plan;
use watertight_reports::evidence::{Exit, Launch, LaunchKind};

use super::{
    assemble::Assembled,
    attribute::BEGAN_AT,
    channel::{Channel, ERRORS, complain, shown},
    held,
    leading::{self, LEADING},
    listening::{self, LISTENING},
    sockets,
    stderr::Errors,
    terminal::{TERMINAL, Terminal},
    witness,
};
use crate::{
    doctor::programs,
    site::{Placed, Plants, Site},
};

/// How long the probe may go on after the deadlines of its attempts, and at all once a launch hung.
const LATE: Duration = Duration::from_secs(15);
const LATE_AGAIN: Duration = Duration::from_secs(5);
/// How long it may take to end once the probe is done, and where an earlier launch did not end in time.
const ENDING: Duration = Duration::from_secs(10);
const ENDING_AGAIN: Duration = Duration::from_secs(2);
/// How long what a killed helper still holds open is read.
const REST: Duration = Duration::from_millis(200);
/// Why no process of the probe can be seen, who holds its streams instead, and as which users: keys of [`Launch::outside`].
pub const UNSEEN: &str = "unseen";
pub const HELD_BY: &str = "held_by";
pub const HELD_AS: &str = "held_as";

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

/// What ends the reading, beside a deadline.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    /// Standard output and standard error are closed.
    Closed,
    /// So they are, or the launched process has ended.
    Ended,
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

    /// Waits for the probe to say hello, and records its processes. False where it did not.
    pub fn greet(&mut self, site: &Site) -> bool {
        let deadline = Instant::now() + if site.has_hung() { site.start_again() } else { site.start };
        self.read_until(deadline, |record| record.hello.is_some() || !record.errors.is_empty());
        let Some(hello) = &self.record.hello else {
            // One that takes so long to fail was waited for in vain as well.
            self.overdue |= self.began.elapsed() >= site.start_again();
            return false;
        };
        site.note_start(self.began.elapsed());
        let unseen = self.record.outside.contains_key(UNSEEN);
        let expected = 1 + usize::from(hello.forked > 0) + usize::from(hello.executed.is_some());
        // Where it is said that none can be seen, none is waited for.
        match witness::processes(site, &self.comm, if unseen { 0 } else { expected }) {
            Ok(seen) => {
                let found = seen.processes.len();
                if (1..expected).contains(&found) {
                    complain(
                        &mut self.record,
                        format!("of {expected} processes of the probe, {found} could be seen from outside"),
                    );
                }
                self.record.processes = seen.processes;
                self.record.outside.extend(seen.outside);
            }
            Err(error) => complain(&mut self.record, format!("the witness could not look at the probe: {error}")),
        }
        if unseen && self.record.processes.is_empty() {
            self.look_at_holders(site);
        }
        true
    }

    /// Records who holds the streams of a probe that cannot be seen.
    fn look_at_holders(&mut self, site: &Site) {
        let streams: Vec<&File> = [&self.stdin, &self.stdout].into_iter().flatten().collect();
        match held::look(site, &streams) {
            Ok(held) => {
                let outside = &mut self.record.outside;
                outside.insert(HELD_BY.into(), held.names.into_iter().collect::<Vec<_>>().join(", "));
                outside.insert(HELD_AS.into(), held.users.iter().map(u32::to_string).collect::<Vec<_>>().join(" "));
                outside.extend(held.bearer.map(|bearer| ("bearer".to_owned(), bearer)));
            }
            Err(why) => complain(&mut self.record, why),
        }
    }

    /// Lets the probe make its attempts.
    ///
    /// Where no process of the probe was found, or one that is in the machine's network, there is no `go`. One that cannot be
    /// seen is let go where its streams are held in the world and by nobody else, and it does not say that it is elsewhere.
    pub fn go(&mut self) {
        if !in_the_world(&self.record, self.machine_net, self.machine_netns) {
            complain(&mut self.record, "the probe was not found inside the world, so it was not let go".into());
            self.stdin = None;
            return;
        }
        if let Some(stdin) = &mut self.stdin
            && let Err(error) = stdin.write_all(b"g")
        {
            complain(&mut self.record, format!("the probe could not be told to go: {error}"));
        }
    }

    /// The whole of an ordinary launch: greets, lets go and attends.
    pub fn carry_through(&mut self, site: &Site) {
        self.try_through(site);
        self.note_terminal(site);
        self.tell(site);
    }

    /// Records what has reached the launch's terminal, where it has one.
    pub fn note_terminal(&mut self, site: &Site) {
        if let Some(terminal) = &mut self.terminal {
            terminal.note(site.ledger(), site.secrets.run.attempt(&self.record.id, TERMINAL));
        }
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

    /// Records the sockets of the relays that this launch holds.
    pub fn look_at_sockets(&mut self, site: &Site) {
        match sockets::look(site, self.child.pid, self.as_root) {
            Ok(sockets) => self.record.sockets = sockets,
            Err(error) => {
                self.record.outside.insert("sockets".into(), format!("cannot be looked at: {error}"));
            }
        }
    }

    /// Records where TCP is listened in the probe's network.
    pub fn look_at_listeners(&mut self) {
        // Where it cannot be told, nothing is recorded.
        if let Some(Ok(listening)) = self.record.processes.first().map(|one| listening::of(one.pid)) {
            self.record.outside.insert(LISTENING.into(), listening);
        }
    }

    /// Records what leads out of the probe's network.
    pub fn look_at_network(&mut self) {
        // Where it cannot be told, nothing is recorded.
        if let Some(Ok(leading)) = self.record.processes.first().map(|one| leading::of(one.pid)) {
            self.record.outside.insert(LEADING.into(), leading);
        }
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

    fn read_until(&mut self, deadline: Instant, mut enough: impl FnMut(&Launch) -> bool) {
        while !enough(&self.record) && self.stdout.is_some() {
            if !self.read_some(deadline, Until::Closed) {
                self.overdue = true;
                return;
            }
        }
    }

    /// Waits for something to read, and reads some of it. False where nothing more is to be waited for.
    fn read_some(&mut self, deadline: Instant, until: Until) -> bool {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || (self.stdout.is_none() && self.stderr.is_none()) {
            return false;
        }
        let open = [&self.stdout, &self.stderr].into_iter().flatten();
        let mut polled: Vec<_> = open.map(|file| PollFd::new(file.as_fd(), PollFlags::POLLIN)).collect();
        if until == Until::Ended {
            polled.push(PollFd::new(self.child.pidfd(), PollFlags::POLLIN));
        }
        let millis = i32::try_from(left.as_millis() + 1).unwrap_or(i32::MAX);
        if poll(&mut polled, PollTimeout::try_from(millis).unwrap_or(PollTimeout::MAX)).is_err() {
            return true;
        }
        let mut ready = polled.iter().map(|one| one.any().unwrap_or(true)).collect::<Vec<_>>().into_iter();
        drop(polled);
        let stdout = self.stdout.is_some() && ready.next() == Some(true);
        let stderr = self.stderr.is_some() && ready.next() == Some(true);
        if stdout {
            self.read_stdout();
        }
        if stderr {
            self.read_stderr();
        }
        ready.next() != Some(true)
    }

    fn read_stdout(&mut self) {
        let mut buffer = [0; 16 * 1024];
        let Some(stdout) = &mut self.stdout else { return };
        match stdout.read(&mut buffer) {
            Ok(0) | Err(_) => {
                self.stdout = None;
                self.channel.end_line(&mut self.record);
            }
            Ok(len) => self.channel.take(&buffer[..len], &mut self.record),
        }
    }

    fn read_stderr(&mut self) {
        let mut buffer = [0; 4 * 1024];
        let Some(stderr) = &mut self.stderr else { return };
        match stderr.read(&mut buffer) {
            Ok(0) | Err(_) => self.stderr = None,
            Ok(len) => self.errors.take(&buffer[..len], &mut self.record),
        }
    }
}

/// Whether it is certain that the probe is in the world, and not in the machine's network, of which this is the namespace and
/// its cookie.
fn in_the_world(record: &Launch, machine: u64, cookie: u64) -> bool {
    let told = record
        .hello
        .as_ref()
        .is_some_and(|hello| hello.netns != Some(cookie) && hello.namespaces.get("net") != Some(&machine));
    let elsewhere = record.processes.iter().all(|one| one.namespaces.get("net") != Some(&machine));
    told && elsewhere && (!record.processes.is_empty() || record.outside.contains_key(HELD_BY))
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

#[cfg(test)]
mod tests {
    use watertight_probe::observation::Hello;
    use watertight_reports::evidence::Process;

    use super::*;

    fn record(cookie: Option<u64>, nets: &[u64], held: bool) -> Launch {
        let mut record = Launch::not_made("target", LaunchKind::Target);
        record.hello = Some(Hello { netns: cookie, ..Hello::default() });
        let process = |net: &u64| Process { namespaces: [("net".to_owned(), *net)].into(), ..Process::default() };
        record.processes = nets.iter().map(process).collect();
        if held {
            record.outside.insert(HELD_BY.into(), "sentry".into());
        }
        record
    }

    #[test]
    fn a_probe_is_let_go_where_it_is_seen_in_the_world_or_its_streams_are_held_there() {
        const MACHINE: (u64, u64) = (1, 11);
        let certain = |record: &Launch| in_the_world(record, MACHINE.0, MACHINE.1);
        assert!(certain(&record(Some(12), &[2, 2], false)));
        assert!(certain(&record(None, &[2], false)), "a filter may keep it from making a socket");
        assert!(certain(&record(None, &[], true)), "unseen, and held in the world");
        assert!(!certain(&record(Some(12), &[], false)), "nowhere");
        assert!(!certain(&record(Some(12), &[2, 1], false)), "one process is in the machine's network");
        assert!(!certain(&record(Some(11), &[], true)), "it says itself that it is there");
        let mut told = record(None, &[], true);
        told.hello.as_mut().expect("there").namespaces.insert("net".into(), 1);
        assert!(!certain(&told), "so does the name of its namespace");
        told.hello = None;
        assert!(!certain(&told), "it said nothing");
    }
}

//! One launch: starts it in the world, reads the probe's lines, looks at its processes, says `go`, waits for its end.

use std::{
    fs::File,
    io::{self, Read, Write},
    os::fd::AsFd,
    time::{Duration, Instant},
};

use nix::{
    fcntl::OFlag,
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::signal::Signal,
    unistd::pipe2,
};
use watertight_fixtures::world::{Child, Exit as ChildExit, Fault, Spawn, SpawnError};
use watertight_probe::{
    plan::Plan,
    wire::{self, Line},
};
use watertight_reports::evidence::{Exit, Launch, LaunchKind};

use super::{assemble::Assembled, sockets, witness};
use crate::judge::is_control;
use crate::site::{Plants, Site};

/// How long a target may take to start the probe.
const START: Duration = Duration::from_secs(15);
/// The same once a launch of the target took that long for nothing, and none had ever started it: a target that hangs
/// costs its deadline once, not once a launch.
const START_AGAIN: Duration = Duration::from_millis(500);
/// How long the probe may go on after the deadline of its last attempt.
const LATE: Duration = Duration::from_secs(15);
/// How long it may take to end once the probe is done.
const ENDING: Duration = Duration::from_secs(10);
/// Bytes of standard error that are kept.
const STDERR: usize = 2_000;

/// How a launch differs from an ordinary one.
#[derive(Debug, Default)]
pub struct Manner {
    pub as_root: bool,
    pub faults: Vec<Fault>,
    /// Environment beside the launching user's own.
    pub environment: Vec<(String, String)>,
}

/// A launch that is under way.
pub struct Running {
    machine_net: u64,
    child: Child,
    stdin: Option<File>,
    stdout: Option<File>,
    stderr: Option<File>,
    line: Vec<u8>,
    next_seq: u64,
    comm: String,
    longest: Duration,
    began: Instant,
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
        let mut spawn = Spawn::new(argv.clone(), [stdin, stdout, stderr]);
        Plants::into_spawn(site, &mut spawn).map_err(failed)?;
        spawn.env.extend(manner.environment);
        spawn.faults = manner.faults;
        if manner.as_root {
            spawn.identity = watertight_fixtures::world::As::Root;
            spawn.groups.clear();
        }
        let began = Instant::now();
        let child = site.world.spawn(spawn)?;
        let mut record = Launch::not_made(&plan.launch, kind);
        record.argv = argv.iter().map(|word| shown(word)).collect();
        record.attempts = records;
        Ok(Self {
            machine_net: site.machine_net,
            child,
            stdin: Some(stdin_end.into()),
            stdout: Some(stdout_end.into()),
            stderr: Some(stderr_end.into()),
            line: vec![],
            next_seq: 0,
            comm: plan.comm.clone(),
            longest: longest(&plan),
            began,
            record,
        })
    }

    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        self.child.signal(signal)
    }

    /// Waits for the probe to say hello, and records its processes. False where it did not.
    pub fn greet(&mut self, site: &Site) -> bool {
        let patience = if site.starts.hangs() { START_AGAIN } else { START };
        self.read_until(Instant::now() + patience, |record| record.hello.is_some() || !record.errors.is_empty());
        // A launch that ends by itself is no hang.
        if !is_control(self.record.kind) {
            site.starts.note(self.record.hello.is_some(), self.stdout.is_some());
        }
        let Some(hello) = &self.record.hello else { return false };
        let expected = 1 + usize::from(hello.forked > 0) + usize::from(hello.executed.is_some());
        match witness::processes(site, &self.comm, expected) {
            Ok(seen) => {
                self.record.processes = seen.processes;
                self.record.outside.extend(seen.outside);
            }
            Err(error) => self.record.errors.push(format!("the witness could not look at the probe: {error}")),
        }
        true
    }

    /// Lets the probe make its attempts.
    ///
    /// Where no process of the probe was found, or one that is in the machine's network, there is no `go`.
    pub fn go(&mut self) {
        let machine = self.machine_net;
        let sealed = self.record.processes.iter().all(|one| one.namespaces.get("net") != Some(&machine));
        if self.record.processes.is_empty() || !sealed {
            self.record.errors.push("the probe was not found inside the world, so it was not let go".into());
            self.stdin = None;
            return;
        }
        if let Some(stdin) = &mut self.stdin
            && let Err(error) = stdin.write_all(b"g")
        {
            self.record.errors.push(format!("the probe could not be told to go: {error}"));
        }
    }

    /// The whole of an ordinary launch: greets, lets go and attends.
    pub fn carry_through(&mut self, site: &Site) {
        if self.greet(site) {
            self.go();
            self.attend();
        }
    }

    /// The bearer of this spawn, where the witness could read it.
    pub fn bearer(&self) -> Option<String> {
        self.record.outside.get("bearer").cloned()
    }

    /// Records the sockets of the relays that this launch holds.
    pub fn look_at_sockets(&mut self, site: &Site) {
        match sockets::look(site, self.child.pid) {
            Ok(sockets) => self.record.sockets = sockets,
            Err(error) => {
                self.record.outside.insert("sockets".into(), format!("cannot be looked at: {error}"));
            }
        }
    }

    /// Reads on until the probe is done or its output ends.
    pub fn attend(&mut self) {
        let deadline = Instant::now() + self.longest + LATE;
        self.read_until(deadline, |record| record.done);
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
    pub fn end(mut self) -> Launch {
        self.stdin = None;
        let deadline = Instant::now() + ENDING;
        let exit = match self.child.wait(deadline) {
            Ok(Some(ChildExit::Code(status))) => Exit::Status(status),
            Ok(Some(ChildExit::Signal(signal))) => Exit::Signal(signal),
            Ok(Some(ChildExit::Lost)) | Ok(None) | Err(_) => {
                // Its own end is the point: whether it then dies is seen by what is left.
                let _ = self.child.signal(Signal::SIGKILL);
                Exit::Deadline
            }
        };
        self.record.exit = Some(exit);
        // What a killed helper still holds open must not be waited for.
        self.read_until(Instant::now() + Duration::from_millis(200), |_| false);
        self.record.micros = self.began.elapsed().as_micros() as u64;
        self.record
    }

    fn read_until(&mut self, deadline: Instant, mut enough: impl FnMut(&Launch) -> bool) {
        while !enough(&self.record) && self.stdout.is_some() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let millis = i32::try_from(left.as_millis() + 1).unwrap_or(i32::MAX);
            let mut polled = [&self.stdout, &self.stderr]
                .into_iter()
                .flatten()
                .map(|file| PollFd::new(file.as_fd(), PollFlags::POLLIN))
                .collect::<Vec<_>>();
            let timeout = PollTimeout::try_from(millis).unwrap_or(PollTimeout::MAX);
            if poll(&mut polled, timeout).is_err() {
                continue;
            }
            let ready: Vec<bool> = polled.iter().map(|one| one.any().unwrap_or(true)).collect();
            drop(polled);
            let has_stderr = self.stderr.is_some();
            if ready.first() == Some(&true) {
                self.read_stdout();
            }
            if has_stderr && ready.get(1) == Some(&true) {
                self.read_stderr();
            }
        }
    }

    fn read_stdout(&mut self) {
        let mut buffer = [0; 16 * 1024];
        let Some(stdout) = &mut self.stdout else { return };
        match stdout.read(&mut buffer) {
            Ok(0) | Err(_) => {
                self.stdout = None;
                let line = std::mem::take(&mut self.line);
                self.take_line(&line);
            }
            Ok(len) => {
                for byte in &buffer[..len] {
                    if *byte == b'\n' {
                        let line = std::mem::take(&mut self.line);
                        self.take_line(&line);
                    } else if self.line.len() < 2 * wire::MAX_LINE {
                        self.line.push(*byte);
                    }
                }
            }
        }
    }

    fn read_stderr(&mut self) {
        let mut buffer = [0; 4 * 1024];
        let Some(stderr) = &mut self.stderr else { return };
        match stderr.read(&mut buffer) {
            Ok(0) | Err(_) => self.stderr = None,
            Ok(len) => {
                let mut text = std::mem::take(&mut self.record.stderr);
                for line in buffer[..len].split_inclusive(|byte| *byte == b'\n') {
                    let ended = line.ends_with(b"\n");
                    text.push_str(&wire::escape(line.strip_suffix(b"\n").unwrap_or(line), STDERR));
                    if ended {
                        text.push(' ');
                    }
                }
                // The last words matter most; everything here is ASCII.
                let start = text.len().saturating_sub(STDERR);
                self.record.stderr = text.split_off(start);
            }
        }
    }

    fn take_line(&mut self, line: &[u8]) {
        let received = match wire::decode(line) {
            None => return,
            Some(Err(error)) => return self.record.errors.push(error.to_string()),
            Some(Ok(received)) => received,
        };
        if received.launch != self.record.id {
            return self.record.errors.push(format!("a line of another launch: {}", shown(&received.launch)));
        }
        if received.seq != self.next_seq {
            let (want, got) = (self.next_seq, received.seq);
            self.record.errors.push(format!("line {want} is missing: the next one is {got}"));
        }
        self.next_seq = received.seq + 1;
        match received.line {
            Line::Hello(hello) => self.record.hello = Some(hello),
            Line::Began { attempt } => match self.record.attempts.get_mut(&attempt) {
                Some(record) => record.began = true,
                None => self.record.errors.push(format!("a receipt for {}, which was not asked for", shown(&attempt))),
            },
            Line::Observed(observation) => match self.record.attempts.get_mut(&observation.attempt) {
                Some(record) if record.observation.is_none() => record.observation = Some(observation),
                Some(_) => self.record.errors.push(format!("a second report of {}", shown(&observation.attempt))),
                None => {
                    self.record.errors.push(format!("a report of {}, not asked for", shown(&observation.attempt)));
                }
            },
            Line::Done { .. } => self.record.done = true,
            Line::Stopped { reason } => self.record.errors.push(format!("the probe stopped: {}", shown(&reason))),
        }
    }
}

/// Words of a target's own, short and harmless.
fn shown(text: &str) -> String {
    wire::escape(text.as_bytes(), 300)
}

fn longest(plan: &Plan) -> Duration {
    let at_once = plan.first.iter().chain(&plan.attempts).map(|planned| planned.deadline_ms).max().unwrap_or(0);
    let alone: u32 = plan.last.iter().map(|planned| planned.deadline_ms).sum();
    Duration::from_millis(u64::from(at_once) + u64::from(alone))
}

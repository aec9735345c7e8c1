//! The doubles: fake targets that test the suite itself. `watertight double KIND --sockets DIR -- PROBE…`.

use std::{
    ffi::OsString,
    io::{self, BufRead, BufReader, Read, Write},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};

use nix::{
    sched::{CloneFlags, unshare},
    sys::prctl,
    unistd::{getgid, getuid},
};
use watertight_probe::{
    observation::{Ended, Exchange, Facts, Hello, Link, Observation, Outcome, Privileges},
    plan::{Attempt, End, Plan, Planned},
    wire::{self, Line},
};
use watertight_reference::{bridge, guards::AllUp};

use super::inside::{INSTANCE_SOCKET, PROVIDER_SOCKET, sockets_and_command};
use crate::planner::{INSTANCE_PORT, PROVIDER_PORT};

/// Runs the double that the first argument names.
pub fn run(arguments: Vec<OsString>) -> ExitCode {
    let mut arguments = arguments.into_iter();
    let kind = arguments.next().unwrap_or_default();
    let (sockets, probe) = match sockets_and_command(arguments.collect()) {
        Ok(parsed) => parsed,
        Err(error) => return super::refuse(&error, super::USAGE),
    };
    let done = match kind.to_str() {
        Some("open") => beside_bridge(&sockets, probe),
        Some("deny-all") => deny_all(&probe),
        Some("dead") => Ok(0),
        Some("echo") => echo(&probe),
        Some("liar") => plan(&probe).and_then(|plan| lie(plan, None)),
        Some("polite-liar") => polite(&sockets, &probe),
        // What the polite liar runs behind the bridge.
        Some("polite-liar-inside") => plan(&probe).and_then(|plan| lie(plan, Some(&probe))),
        _ => return super::refuse(&format!("there is no double {}", kind.to_string_lossy()), super::USAGE),
    };
    match done {
        Ok(status) => ExitCode::from(status as u8),
        Err(error) => super::refuse(&error, 1),
    }
}

/// The command, unconfined, with the routes on loopback.
fn beside_bridge(sockets: &Path, command: Vec<OsString>) -> io::Result<i32> {
    let (provider, instance) = (sockets.join(PROVIDER_SOCKET), sockets.join(INSTANCE_SOCKET));
    let instance = instance.exists().then_some(instance);
    bridge::main::<AllUp>(&provider, PROVIDER_PORT, instance.as_deref(), INSTANCE_PORT, command)
        .map_err(io::Error::other)
}

/// The probe in a network namespace of its own; nothing else is confined, and no route leads in.
fn deny_all(probe: &[OsString]) -> io::Result<i32> {
    let (uid, gid) = (getuid(), getgid());
    if uid.is_root() {
        unshare(CloneFlags::CLONE_NEWNET)?;
    } else {
        unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET)?;
        std::fs::write("/proc/self/setgroups", "deny")?;
        std::fs::write("/proc/self/uid_map", format!("{uid} {uid} 1"))?;
        std::fs::write("/proc/self/gid_map", format!("{gid} {gid} 1"))?;
    }
    let (program, arguments) = probe.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    Err(Command::new(program).args(arguments).exec())
}

/// Says back what it was given.
fn echo(probe: &[OsString]) -> io::Result<i32> {
    let mut out = io::stdout().lock();
    for word in probe {
        writeln!(out, "{}", word.to_string_lossy())?;
    }
    io::copy(&mut io::stdin().lock(), &mut out)?;
    Ok(0)
}

fn plan(probe: &[OsString]) -> io::Result<Plan> {
    let argument = probe.last().and_then(|word| word.to_str()).ok_or(io::ErrorKind::InvalidInput)?;
    wire::decode_plan(argument).map_err(io::Error::other)
}

/// Runs itself behind the bridge.
fn polite(sockets: &Path, probe: &[OsString]) -> io::Result<i32> {
    let own: PathBuf = std::env::current_exe()?;
    let mut command: Vec<OsString> = vec![own.into(), "double".into(), "polite-liar-inside".into(), "--sockets".into()];
    command.extend([sockets.as_os_str().to_owned(), "--".into()]);
    command.extend(probe.iter().cloned());
    beside_bridge(sockets, command)
}

/// Claims that everything was denied. With `probe`, what is allowed is really done by it first.
fn lie(plan: Plan, probe: Option<&[OsString]>) -> io::Result<i32> {
    let name = std::ffi::CString::new(plan.comm.clone())?;
    prctl::set_name(&name)?;
    let mut said = Said { launch: plan.launch.clone(), seq: 0 };
    let hello =
        Hello { pid: 2, forked: 0, executed: None, uid: 1777, gid: 1777, netns: Some(4242), ..Hello::default() };
    said.line(&Line::Hello(hello))?;
    // Waits for the word that it will not act on.
    io::stdin().lock().read_exact(&mut [0])?;
    let all = plan.first.iter().chain(&plan.attempts).chain(&plan.last);
    let (allowed, denied): (Vec<&Planned>, Vec<&Planned>) = all.partition(|planned| is_allowed(&planned.attempt));
    let mut told = vec![];
    if let Some(probe) = probe {
        told = really(&plan, &allowed, probe)?;
    }
    for planned in denied.into_iter().chain(allowed) {
        said.line(&Line::Began { attempt: planned.id.clone() })?;
        let outcome = told
            .iter()
            .position(|observation| observation.attempt == planned.id)
            .map_or_else(|| canned(&planned.attempt), |index| told.swap_remove(index).outcome);
        said.line(&Line::Observed(Observation { attempt: planned.id.clone(), outcome, micros: 100, cut: false }))?;
    }
    said.line(&Line::Done { attempts: said.seq as u32 })?;
    Ok(0)
}

/// What a confined workload may do.
fn is_allowed(attempt: &Attempt) -> bool {
    matches!(attempt, Attempt::Exchange { .. } | Attempt::Mcp { .. } | Attempt::Ports { .. } | Attempt::Scan { .. })
}

/// Has the probe make these attempts, and keeps what it saw.
fn really(plan: &Plan, allowed: &[&Planned], probe: &[OsString]) -> io::Result<Vec<Observation>> {
    let mut honest = plan.clone();
    honest.end = End::Exit(0);
    honest.first.clear();
    honest.last.clear();
    honest.attempts = allowed.iter().map(|planned| (*planned).clone()).collect();
    // The last word is the whole plan.
    let (_, words) = probe.split_last().ok_or(io::ErrorKind::InvalidInput)?;
    let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let argument = wire::encode_plan(&honest).map_err(io::Error::other)?;
    let mut child =
        Command::new(program).args(arguments).arg(argument).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    if let Some(stdin) = &mut child.stdin {
        stdin.write_all(b"g")?;
    }
    let mut told = vec![];
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).split(b'\n') {
            if let Some(Ok(received)) = wire::decode(&line?)
                && let Line::Observed(observation) = received.line
            {
                told.push(observation);
            }
        }
    }
    child.wait()?;
    Ok(told)
}

/// The answer that a perfect sandbox would give.
fn canned(attempt: &Attempt) -> Outcome {
    let refused = |call: &str, errno| Outcome::Refused { call: call.into(), errno };
    let facts = match attempt {
        Attempt::Network => Facts::Network {
            links: vec![Link { index: 1, name: "lo".into(), loopback: true, up: true }],
            addresses: vec![],
            routes: vec![],
        },
        Attempt::Privileges => {
            let clean = Privileges { of: "self".into(), no_new_privs: true, seccomp: 2, ..Privileges::default() };
            Facts::Privileges { of: vec![clean] }
        }
        Attempt::Descriptors { .. } => Facts::Descriptors { open: vec![] },
        Attempt::Scan { .. } => Facts::Scanned { found: vec![], places: 10, bytes: 1000, complete: true },
        Attempt::Ports { from, to, .. } => {
            let own = 40_000;
            let open = vec![PROVIDER_PORT, INSTANCE_PORT, own];
            Facts::Ports { open, tried: u32::from(to - from) + 1, known: Some(own) }
        }
        Attempt::Exchange { steps, .. } => Facts::Exchange {
            exchange: Exchange {
                steps_done: steps.len() as u32,
                status: Some(401),
                ended: Ended::Complete,
                step_micros: vec![1; steps.len()],
                ..Exchange::default()
            },
        },
        Attempt::Connect { .. } | Attempt::DnsStream { .. } | Attempt::Unix { .. } => {
            return refused("connect", libc::ECONNREFUSED);
        }
        _ => return refused("socket", libc::EPERM),
    };
    Outcome::Found { facts }
}

/// Lines in the probe's form.
struct Said {
    launch: String,
    seq: u64,
}

impl Said {
    fn line(&mut self, line: &Line) -> io::Result<()> {
        let text = wire::encode(&self.launch, self.seq, line).ok_or(io::ErrorKind::InvalidData)?;
        self.seq += 1;
        io::stdout().lock().write_all(text.as_bytes())
    }
}

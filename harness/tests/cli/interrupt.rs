//! A run that is asked to end: it says so, and nothing of it stays.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use rstest::rstest;

use super::support::{As, command, identities};

/// How long after the program's end anything of it may still be there.
const SETTLE: Duration = Duration::from_secs(5);

/// Starts a whole run and waits until a target runs in its world.
fn running(user: As) -> (Child, BufReader<std::process::ChildStderr>) {
    let mut child = command(user, &["check", "reference", "bubblewrap", "--jobs", "2"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    let mut stderr = BufReader::new(child.stderr.take().expect("piped"));
    let mut line = String::new();
    while !line.contains("reference: target") {
        line.clear();
        assert_ne!(stderr.read_line(&mut line).expect("text"), 0, "it ended before its target ran");
    }
    (child, stderr)
}

/// Processes of the machine whose parent, or its parent and so on, is this one.
fn descendants(of: u32) -> Vec<u32> {
    let parents: Vec<(u32, u32)> = procfs::process::all_processes()
        .expect("processes")
        .filter_map(|process| process.ok()?.stat().ok())
        .map(|stat| (stat.pid as u32, stat.ppid as u32))
        .collect();
    let mut found = vec![of];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        found.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        next += 1;
    }
    found.split_off(1)
}

/// When a process started, which tells it from a later one with its number.
fn started(pid: u32) -> Option<u64> {
    procfs::process::Process::new(pid as i32).ok()?.stat().ok().map(|stat| stat.starttime)
}

#[rstest]
fn a_signal_ends_everything_and_the_run_is_incomplete(
    #[values(Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP)] signal: Signal,
) {
    for user in identities() {
        let (mut child, mut stderr) = running(user);
        let all: Vec<_> = descendants(child.id()).into_iter().map(|pid| (pid, started(pid))).collect();
        assert!(all.len() >= 4, "two worlds and what runs in them: {all:?}");
        kill(Pid::from_raw(child.id() as i32), signal).expect("sent");
        let mut words = String::new();
        stderr.read_to_string(&mut words).expect("text");
        let status = child.wait().expect("ended");
        let mut stdout = String::new();
        child.stdout.take().expect("piped").read_to_string(&mut stdout).expect("text");
        assert_eq!((status.code(), stdout.as_str()), (Some(3), ""), "{words}");
        assert!(words.ends_with("watertight: interrupted: incomplete, nothing was judged\n"), "{words}");
        gone(child.id(), &all);
    }
}

#[test]
fn sigkill_leaves_nothing_either() {
    for user in identities() {
        let (mut child, _stderr) = running(user);
        let all: Vec<_> = descendants(child.id()).into_iter().map(|pid| (pid, started(pid))).collect();
        child.kill().expect("sent");
        child.wait().expect("ended");
        gone(child.id(), &all);
    }
}

/// Waits until none of these processes, and no cgroup of that run, is there.
fn gone(program: u32, all: &[(u32, Option<u64>)]) {
    let deadline = Instant::now() + SETTLE;
    loop {
        let alive: Vec<_> = all.iter().filter(|(pid, since)| since.is_some() && started(*pid) == *since).collect();
        let cgroups = cgroups(&format!("watertight-{program}-"));
        if alive.is_empty() && cgroups.is_empty() {
            return;
        }
        assert!(Instant::now() < deadline, "still there: {alive:?} {cgroups:?}");
        std::thread::yield_now();
    }
}

/// Cgroups of the machine whose name begins so.
fn cgroups(prefix: &str) -> Vec<std::path::PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").expect("mounts");
    let roots = mounts.lines().filter(|line| line.contains(" - cgroup2 ")).filter_map(|line| line.split(' ').nth(4));
    let entries = roots.filter_map(|root| fs::read_dir(root).ok()).flatten().flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix)).map(|entry| entry.path()).collect()
}

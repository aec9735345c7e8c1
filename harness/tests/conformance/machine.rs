//! What the machine has that a run could leave on it.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use crate::sys;

/// Mounts, links, named namespaces and files of the machine.
///
/// Others use the machine at the same time, so a file counts only under a name of ours. A namespace lives as long as a
/// process, a mount or a descriptor holds it: with none of our processes and no mount left there is none.
pub struct Machine {
    things: BTreeSet<String>,
}

/// Directories in which programs leave files.
const PLACES: [&str; 5] = ["/tmp", "/var/tmp", "/run", "/dev/shm", "/run/netns"];

impl Machine {
    pub fn look() -> Self {
        Self { things: things() }
    }

    /// What is there now and was not before: after the process `pid` of `program`, which ran in
    /// `directory`, has ended.
    pub fn left_by(&self, pid: u32, program: &Path, directory: &Path) -> Vec<String> {
        let mut left: Vec<String> = things().difference(&self.things).cloned().collect();
        left.extend(processes_of(program).into_iter().map(|pid| format!("process {pid} {}", command_line(pid))));
        left.extend(
            cgroups(&format!("watertight-{pid}-")).into_iter().map(|path| format!("cgroup {}", path.display())),
        );
        left.extend(names(directory).map(|name| format!("file {}/{name}", directory.display())));
        left
    }
}

/// Waits until no process of `program` is left, nor any in these pid namespaces; says which ones are, after a long time.
pub fn wait_until_none_is_left(program: &Path, worlds: &BTreeSet<String>) -> Result<(), String> {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let left: BTreeSet<u32> = processes_of(program).into_iter().chain(processes_in(worlds)).collect();
        if left.is_empty() {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(left.iter().map(|pid| format!("process {pid} {}\n", command_line(*pid))).collect());
        }
        for pid in left {
            if let Ok(ended) = sys::pidfd(pid) {
                sys::readable(&ended, deadline.saturating_duration_since(Instant::now()));
            }
        }
    }
}

/// Pid namespaces, apart from the machine's own, of the processes of `program`.
pub fn pid_namespaces(program: &Path) -> BTreeSet<String> {
    let own = pid_namespace("self");
    let processes = processes_of(program);
    processes.iter().filter_map(|pid| pid_namespace(&pid.to_string())).filter(|one| Some(one) != own.as_ref()).collect()
}

/// Processes of the machine in these pid namespaces.
fn processes_in(namespaces: &BTreeSet<String>) -> Vec<u32> {
    let inside = |pid: &u32| pid_namespace(&pid.to_string()).is_some_and(|one| namespaces.contains(&one));
    pids().filter(inside).collect()
}

fn pid_namespace(pid: &str) -> Option<String> {
    Some(fs::read_link(format!("/proc/{pid}/ns/pid")).ok()?.display().to_string())
}

/// Processes that execute this program, wherever they see it: its inode is the same in every world.
fn processes_of(program: &Path) -> Vec<u32> {
    let identity = |path: PathBuf| fs::metadata(path).map(|file| (file.dev(), file.ino()));
    let Ok(program) = identity(program.to_owned()) else { return vec![] };
    pids().filter(|pid| identity(format!("/proc/{pid}/exe").into()).is_ok_and(|one| one == program)).collect()
}

fn pids() -> impl Iterator<Item = u32> {
    names(Path::new("/proc")).filter_map(|name| name.parse().ok())
}

fn command_line(pid: u32) -> String {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).replace('\0', " ").chars().take(200).collect()
}

fn things() -> BTreeSet<String> {
    let lines = |path: &str| fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut things = BTreeSet::new();
    things.extend(lines("/proc/self/mountinfo").lines().map(|line| format!("mount {line}")));
    let links = lines("/proc/self/net/dev");
    things.extend(links.lines().filter_map(|line| Some(format!("link {}", line.split_once(':')?.0.trim()))));
    for place in PLACES {
        let ours = |name: &String| name.contains("watertight") || place.ends_with("netns");
        things.extend(names(Path::new(place)).filter(ours).map(|name| format!("file {place}/{name}")));
    }
    things
}

/// Cgroups of the unified hierarchy whose name starts like this.
fn cgroups(start: &str) -> Vec<PathBuf> {
    let mut next = vec![PathBuf::from("/sys/fs/cgroup")];
    let mut found = vec![];
    while let Some(directory) = next.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            if entry.file_name().to_string_lossy().starts_with(start) {
                found.push(entry.path());
            }
            next.push(entry.path());
        }
    }
    found
}

fn names(directory: &Path) -> impl Iterator<Item = String> + use<> {
    fs::read_dir(directory).into_iter().flatten().flatten().filter_map(|entry| entry.file_name().into_string().ok())
}

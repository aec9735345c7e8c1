//! What the harness sees of the probe's processes from outside.

use std::{
    collections::BTreeMap,
    fs, io,
    time::{Duration, Instant},
};

use watertight_fixtures::world::{Ids, Namespaces, ProcessRecord, ThreadRecord};
use watertight_reports::evidence::{Process, Thread};

use crate::site::Site;

/// Variables of the workload that rules look at.
const VARIABLES: [&str; 2] = ["HOME", "TMPDIR"];

/// How long all processes of the probe may take to be seen, and how soon to look again.
const PATIENCE: Duration = Duration::from_secs(2);
const AGAIN: Duration = Duration::from_millis(1);

/// The probe and its samples, found by their name.
pub struct Seen {
    pub processes: Vec<Process>,
    /// Facts about them that are not in their status: variables of the environment, the bearer.
    pub outside: BTreeMap<String, String>,
}

/// Finds the processes named `comm`, at least `expected` of them where they can be found, and looks at each.
///
/// A process table that is read while others come and go can miss one, so it is read again until all are there.
pub fn processes(site: &Site, comm: &str, expected: usize) -> io::Result<Seen> {
    let world = namespaces(&site.world.namespaces()?);
    let deadline = Instant::now() + PATIENCE;
    loop {
        let seen = look(site, comm, &world)?;
        if seen.processes.len() >= expected || Instant::now() >= deadline {
            return Ok(seen);
        }
        std::thread::sleep(AGAIN);
    }
}

fn look(site: &Site, comm: &str, world: &BTreeMap<String, u64>) -> io::Result<Seen> {
    let mut seen = Seen { processes: vec![], outside: BTreeMap::new() };
    for found in site.world.processes()?.iter().filter(|found| found.comm == comm) {
        // One that ends while it is looked at is not there.
        let Ok(record) = ProcessRecord::of(found.pid) else { continue };
        seen.processes.push(process(&record, comm, world)?);
        if seen.outside.is_empty() {
            seen.outside = variables(found.pid, site.bearer_variable.as_deref()).unwrap_or_default();
        }
    }
    Ok(seen)
}

fn variables(pid: i32, bearer: Option<&str>) -> io::Result<BTreeMap<String, String>> {
    let environment = fs::read(format!("/proc/{pid}/environ"))?;
    let mut found = BTreeMap::new();
    for variable in environment.split(|byte| *byte == 0) {
        let Some((name, value)) = std::str::from_utf8(variable).ok().and_then(|text| text.split_once('=')) else {
            continue;
        };
        if VARIABLES.contains(&name) {
            found.insert(name.to_owned(), value.to_owned());
        }
        if bearer == Some(name) {
            found.insert("bearer".into(), value.to_owned());
        }
    }
    Ok(found)
}

/// The bearer in a process's environment.
pub fn bearer(pid: i32, name: &str) -> Option<String> {
    variables(pid, Some(name)).ok()?.remove("bearer")
}

fn process(record: &ProcessRecord, comm: &str, world: &BTreeMap<String, u64>) -> io::Result<Process> {
    Ok(Process {
        pid: record.pid,
        comm: comm.to_owned(),
        namespaces: namespaces(&record.namespaces),
        world_namespaces: world.clone(),
        uid_map: map(&record.uid_map)?,
        gid_map: map(&record.gid_map)?,
        threads: record.threads.iter().map(thread).collect(),
    })
}

fn namespaces(found: &Namespaces) -> BTreeMap<String, u64> {
    let Namespaces { net, user, mnt, pid, ipc, uts, cgroup } = *found;
    let named =
        [("net", net), ("user", user), ("mnt", mnt), ("pid", pid), ("ipc", ipc), ("uts", uts), ("cgroup", cgroup)];
    named.into_iter().map(|(name, inode)| (name.to_owned(), inode)).collect()
}

fn thread(record: &ThreadRecord) -> Thread {
    Thread {
        tid: record.tid,
        uid: ids(record.uid),
        gid: ids(record.gid),
        groups: record.groups.clone(),
        inheritable: record.inheritable,
        permitted: record.permitted,
        effective: record.effective,
        bounding: record.bounding,
        ambient: record.ambient,
        no_new_privs: record.no_new_privs,
        seccomp: record.seccomp as u8,
    }
}

fn ids(ids: Ids) -> [u32; 4] {
    [ids.real, ids.effective, ids.saved, ids.filesystem]
}

/// Lines of `inside outside length`.
fn map(text: &str) -> io::Result<Vec<[u64; 3]>> {
    let malformed = || io::Error::new(io::ErrorKind::InvalidData, format!("an id map that is none: {text:?}"));
    text.lines()
        .map(|line| {
            let numbers: Vec<u64> = line.split_whitespace().filter_map(|field| field.parse().ok()).collect();
            <[u64; 3]>::try_from(numbers).map_err(|_| malformed())
        })
        .collect()
}

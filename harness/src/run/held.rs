//! Who holds the other ends of a launch's standard streams: where the probe's own process cannot be seen, whatever runs it
//! is one of these.

use std::{
    collections::BTreeSet,
    fs, io,
    os::{fd::AsFd, unix::ffi::OsStrExt},
    path::PathBuf,
    time::{Duration, Instant},
};

use nix::sys::stat::fstat;
use watertight_fixtures::world::ProcessRecord;

use super::witness;
use crate::site::Site;

/// How long a process that only passes the streams on may hold them, and how soon to look again.
const PATIENCE: Duration = Duration::from_secs(2);
const AGAIN: Duration = Duration::from_millis(5);

/// The processes at the other end, and what is known of them together.
#[derive(Debug, Default)]
pub struct Held {
    /// Their names, in the world.
    pub names: BTreeSet<String>,
    /// Every user id that a thread of one of them has, as the harness sees it.
    pub users: BTreeSet<u32>,
    /// The bearer in the environment of one of them.
    pub bearer: Option<String>,
}

/// Looks until nobody but processes of the world holds them. An error says why nothing may be let go.
pub fn look(site: &Site, streams: &[impl AsFd]) -> Result<Held, String> {
    let deadline = Instant::now() + PATIENCE;
    let inodes = streams.iter().map(|stream| Ok(fstat(stream)?.st_ino)).collect::<io::Result<Vec<u64>>>();
    let names: Vec<PathBuf> = match inodes {
        Ok(inodes) => inodes.iter().map(|inode| format!("pipe:[{inode}]").into()).collect(),
        Err(error) => return Err(format!("its streams cannot be looked at: {error}")),
    };
    loop {
        match once(site, &names) {
            Ok(held) => return Ok(held),
            Err(why) if Instant::now() >= deadline => return Err(why),
            Err(_) => std::thread::sleep(AGAIN),
        }
    }
}

fn once(site: &Site, streams: &[PathBuf]) -> Result<Held, String> {
    let unknown = |error: io::Error| format!("who holds its streams cannot be told: {error}");
    let world: Vec<i32> = site.world.processes().map_err(unknown)?.iter().map(|one| one.pid).collect();
    let own = std::process::id() as i32;
    let mut held = Held::default();
    for entry in fs::read_dir("/proc").map_err(unknown)? {
        let name = entry.map_err(unknown)?.file_name();
        let pid = name.to_str().and_then(|name| name.parse::<i32>().ok()).filter(|pid| *pid != own);
        let Some(pid) = pid.filter(|pid| holds(*pid, streams)) else { continue };
        // One that ends while it is looked at holds nothing any more; where it is, is told first.
        let record = ProcessRecord::of(pid);
        in_the_world(pid, world.contains(&pid), record.as_ref().ok().map(|one| one.namespaces.net), site.machine_net)?;
        let Ok(record) = record else { continue };
        held.names.extend(record.threads.first().map(|thread| thread.comm.clone()));
        let ids = record.threads.iter().map(|thread| thread.uid);
        held.users.extend(ids.flat_map(|ids| [ids.real, ids.effective, ids.saved, ids.filesystem]));
        held.bearer = held.bearer.or_else(|| witness::bearer(pid, site.bearer_variable.as_deref()?));
    }
    if held.names.is_empty() { Err("nobody in the world holds its streams".into()) } else { Ok(held) }
}

/// Why a process that holds the streams may run the probe outside of the world.
fn in_the_world(pid: i32, of_world: bool, net: Option<u64>, machine: u64) -> Result<(), String> {
    if !of_world {
        return Err(format!("process {pid}, which is not of the world, holds its streams"));
    }
    if net == Some(machine) {
        return Err(format!("process {pid} holds its streams, and is in the machine's network"));
    }
    Ok(())
}

/// Whether a descriptor of this process is one of these pipes. Of processes that nobody may look at it is not known: they
/// are other users', and nothing leads from the world to one.
fn holds(pid: i32, streams: &[PathBuf]) -> bool {
    let Ok(descriptors) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    let links = descriptors.flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
    let mut bytes = links.map(|link| link.as_os_str().as_bytes().to_owned());
    bytes.any(|link| streams.iter().any(|stream| stream.as_os_str().as_bytes() == link))
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn whoever_holds_an_end_of_a_pipe_is_found_and_others_are_not() {
        let (read, write) = nix::unistd::pipe2(nix::fcntl::OFlag::O_CLOEXEC).expect("a pipe");
        let inode = fstat(&read).expect("an inode").st_ino;
        let stream = [PathBuf::from(format!("pipe:[{inode}]"))];
        let sleeper = |output: Stdio| Command::new("sleep").arg("60").stdin(Stdio::null()).stdout(output).spawn();
        let mut holder = sleeper(write.into()).expect("sleep");
        let mut stranger = sleeper(Stdio::null()).expect("sleep");
        let found = [&holder, &stranger].map(|one| holds(one.id() as i32, &stream));
        for child in [&mut holder, &mut stranger] {
            child.kill().expect("killed");
            child.wait().expect("ended");
        }
        assert_eq!(found, [true, false]);
        assert!(holds(std::process::id() as i32, &stream), "this process has the other end");
    }

    #[test]
    fn only_processes_of_the_world_and_out_of_the_machines_network_may_hold_them() {
        assert_eq!(in_the_world(7, true, Some(2), 1), Ok(()));
        assert!(in_the_world(7, true, Some(1), 1).is_err_and(|why| why.contains("the machine's network")));
        assert!(in_the_world(7, false, Some(2), 1).is_err_and(|why| why.contains("not of the world")));
        assert!(in_the_world(7, false, None, 1).is_err());
    }
}

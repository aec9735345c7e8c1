//! Pid 1 of a sandbox: builds it from inside, starts the workload once the launcher says so, and serves the bridge.

use std::ffi::CString;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;
use nix::sys::prctl;
use nix::unistd::{Pid, chdir, fchdir, pipe2, sethostname, setsid};

use super::confine::{confine_workload, drop_init_privileges, forget_session};
use super::error::{LaunchError, Step, require};
use super::exec::exec_command;
use super::outer::{INSTANCE_SOCKET, PROVIDER_SOCKET, map_user};
use super::root::View;
use crate::bridge::{Bridge, End, INSTANCE_PORT, PROVIDER_PORT, Port, Supervisor, block_signals};
use crate::guards::Guards;
use crate::sys::net::raise_loopback;
use crate::sys::process::{Forked, close_all_except, exit_now, fork, reset_signals, wipe_start_strings};

/// What init takes over from the launcher, decided and checked before the clone.
#[derive(Debug)]
pub(crate) struct Blueprint {
    pub argv: Vec<CString>,
    pub environment: Vec<CString>,
    pub workspace: PathBuf,
    pub view: View,
    pub uid: u32,
    pub gid: u32,
    pub has_instance: bool,
}

/// The launcher's descriptors that init needs.
pub(crate) struct Inherited {
    /// The directory of the relay sockets.
    pub sockets: OwnedFd,
    /// Closed when the launcher ends.
    pub lifeline: OwnedFd,
    pub way_out: Option<OwnedFd>,
}

/// Runs as pid 1 until the workload or the launcher ends; ending it ends everything in the sandbox.
pub(crate) fn main<G: Guards>(blueprint: &Blueprint, inherited: Inherited) -> ! {
    let status = run::<G>(blueprint, inherited).unwrap_or_else(|error| {
        eprintln!("watertight: {error}");
        error.exit_status()
    });
    exit_now(status)
}

fn run<G: Guards>(blueprint: &Blueprint, inherited: Inherited) -> Result<i32, LaunchError> {
    let Inherited { sockets, lifeline, way_out } = inherited;
    if G::init_forgets_launcher_strings() {
        require::<G>(wipe_start_strings().step("forget the launcher's command line"))?;
    }
    if G::closes_inherited_descriptors() {
        let own: Vec<_> = [&sockets, &lifeline].into_iter().chain(&way_out).map(AsRawFd::as_raw_fd).collect();
        require::<G>(close_all_except(&own).step_or("close inherited descriptors", "; Linux 5.9 or newer is needed"))?;
    }
    if G::namespaces().user {
        map_user(blueprint.uid, blueprint.gid, false)?;
    }
    if G::init_is_untraceable() {
        require::<G>(prctl::set_dumpable(false).step("become untraceable"))?;
    }
    if G::starts_new_session() {
        require::<G>(setsid().map(drop).step("start a session"))?;
    }
    prctl::set_name(c"watertight-init").step("take a name")?;
    build::<G>(blueprint, way_out)?;

    // From here on the relay sockets are reached by name in the working directory: no path leads there.
    fchdir(&sockets).step("enter the directory of the relay sockets")?;
    let ports = listen(blueprint)?;
    let signals = block_signals().step("read signals from a descriptor")?;
    let (gate, opener) = pipe2(OFlag::O_CLOEXEC).step("make a pipe")?;
    let command = match fork().step("fork")? {
        Forked::Child => {
            drop((sockets, lifeline, opener));
            exit_now(become_workload::<G>(blueprint, gate).unwrap_or_else(|error| {
                eprintln!("watertight: {error}");
                error.exit_status()
            }))
        }
        Forked::Parent(pid) => Pid::from_raw(pid),
    };
    drop(gate);
    if G::init_drops_privileges() {
        require::<G>(drop_init_privileges())?;
    }
    if !wait_for_go(&lifeline)? {
        return Ok(END_WITH_LAUNCHER);
    }
    match nix::unistd::write(&opener, b"!") {
        // The workload's process has ended and said why; its status tells.
        Ok(_) | Err(nix::Error::EPIPE) => drop(opener),
        Err(error) => return Err(error).step("start the workload"),
    }
    let lifeline = G::init_ends_with_launcher().then_some(lifeline);
    let leads_session = G::starts_new_session();
    let supervisor = Supervisor { command, leads_session, signals, lifeline, bridge: Bridge::<G>::new(ports) };
    match supervisor.run().step("wait for events")? {
        End::Command(status) => Ok(status),
        End::Owner => Ok(END_WITH_LAUNCHER),
    }
}

/// Nobody is left to read it.
const END_WITH_LAUNCHER: i32 = 128 + libc::SIGKILL;

fn build<G: Guards>(blueprint: &Blueprint, way_out: Option<OwnedFd>) -> Result<(), LaunchError> {
    require::<G>(raise_loopback().step("raise loopback"))?;
    if let Some(way_out) = way_out {
        G::lead_out(way_out).step("lead out of the sandbox's network")?;
    }
    blueprint.view.mount::<G>()?;
    if G::forbids_user_namespaces_by_limit() {
        require::<G>(forbid_user_namespaces())?;
    }
    if G::hides_host_name() {
        require::<G>(sethostname("watertight").step("set the host name"))?;
    }
    forget_session::<G>()
}

/// The second line behind the filter; the setting is absent where the kernel keeps no such count.
fn forbid_user_namespaces() -> Result<(), LaunchError> {
    match std::fs::write("/proc/sys/user/max_user_namespaces", "0") {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        result => result.step("set user.max_user_namespaces of the sandbox to 0"),
    }
}

fn listen(blueprint: &Blueprint) -> Result<Vec<Port>, LaunchError> {
    let listen = |port, socket: &str| {
        Port::listen(port, Path::new(socket)).step(format!("listen on 127.0.0.1:{port} in the sandbox"))
    };
    let mut ports = vec![listen(PROVIDER_PORT, PROVIDER_SOCKET)?];
    if blueprint.has_instance {
        ports.push(listen(INSTANCE_PORT, INSTANCE_SOCKET)?);
    }
    Ok(ports)
}

/// The launcher writes one byte when its relays serve. Without it, it has ended or failed.
fn wait_for_go(lifeline: &OwnedFd) -> Result<bool, LaunchError> {
    let mut byte = [0];
    Ok(nix::unistd::read(lifeline, &mut byte).step("wait for the launcher")? == 1)
}

/// In the forked child: gives up everything, waits for the gate, executes. Returns only on failure.
fn become_workload<G: Guards>(blueprint: &Blueprint, gate: OwnedFd) -> Result<i32, LaunchError> {
    chdir(&blueprint.workspace).step(format!("enter {}", blueprint.workspace.display()))?;
    if G::starts_new_session() {
        require::<G>(setsid().map(drop).step("start a session"))?;
    }
    if G::closes_inherited_descriptors() {
        require::<G>(close_all_except(&[gate.as_raw_fd()]).step("close inherited descriptors"))?;
    }
    reset_signals().step("reset signals")?;
    confine_workload::<G>()?;
    let opened = File::from(gate).read(&mut [0]).step("wait for init")?;
    if opened == 0 {
        // Init has said why.
        return Ok(125);
    }
    Ok(exec_command(&blueprint.argv, &blueprint.environment))
}

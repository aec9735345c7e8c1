//! The relays without the sandbox: for sandboxes of other people, which take the sockets of the routes.
//!
//! The command is confined by nothing of ours. It gets the bearer in its environment and the sockets in a directory that
//! exists for this launch alone; both end with the launcher, however it ends.

use std::ffi::{CString, OsString};
use std::fmt::Display;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use libc::{POLLIN, pollfd};
use nix::fcntl::OFlag;
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl;
use nix::sys::signal::{Signal, kill};
use nix::sys::signalfd::SignalFd;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, fchdir, geteuid, getpid, getppid, pipe2, read};

use super::error::{LaunchError, Step};
use super::exec::exec_command;
use super::identity::Identity;
use super::launcher::fresh_bearer;
use super::outer::{Sockets, enter_own_namespaces};
use super::spec::LaunchSpec;
use crate::bridge::{INSTANCE_PORT, PROVIDER_PORT, block_signals};
use crate::guards::Guards;
use crate::relay::{KeyFile, Owner, Service, Trust};
use crate::sys::mount::{Attributes, set_attributes};
use crate::sys::process::{Forked, exit_now, fork, poll, reset_signals};

/// Runs a command beside the relays and returns its exit status: its own, or 128 + n where signal n ended it.
///
/// `directory` must exist and be empty: the sockets' own file system is mounted there, in a mount namespace of this
/// launch. The same demands on the calling process as [`super::run`].
///
/// An ordinary user's mounts take a user namespace, in which no set-user-id program works. Root that names a user has its own
/// mounts, and the command is that user's without one.
pub fn beside_relays<G, R, K, E>(spec: &LaunchSpec, directory: &Path, start_relays: R) -> Result<i32, LaunchError>
where
    G: Guards,
    R: FnOnce(Service) -> Result<K, E>,
    E: Display,
{
    if spec.argv.is_empty() {
        return Err(LaunchError::NoCommand);
    }
    let routes = spec.routes()?;
    // Root that names nobody stays root.
    let identity = match spec.user.as_deref() {
        None if geteuid().is_root() => None,
        user => Some(Identity::choose::<G>(user)?),
    };
    let key_file = KeyFile::open(&spec.key_file, Owner::of(identity.as_ref().map_or(0, |identity| identity.uid)))?;
    let bearer = fresh_bearer::<G>()?;
    let argv: Vec<CString> = spec.argv.iter().cloned().map(c_string).collect::<Result<_, _>>()?;
    let environment = environment(routes.provider.path(), bearer.expose(), routes.instance.is_some())?;

    let here = std::fs::File::open(".").step("open the working directory")?;
    match &identity {
        Some(identity) if !identity.changes => enter_own_namespaces(identity)?,
        _ => unshare(CloneFlags::CLONE_NEWNS).step("make a mount namespace")?,
    }
    let private = Attributes { private: true, ..Attributes::default() };
    set_attributes(Path::new("/"), private, true).step_or("make mounts private", "; Linux 5.12 or newer is needed")?;
    let becomes = identity.filter(|identity| identity.changes);
    let sockets = Sockets::listen_as::<G>(routes.instance.is_some(), becomes.as_ref())?;
    sockets.attach_at(directory)?;
    fchdir(&here).step("return to the working directory")?;
    let signals = block_signals().step("read signals from a descriptor")?;
    let (gate, keeper) = pipe2(OFlag::O_CLOEXEC).step("make a pipe")?;
    let launcher = getpid();
    let command = match fork().step("fork")? {
        Forked::Child => {
            drop(keeper);
            exit_now(start::<G>(becomes.as_ref(), launcher, &gate, &argv, &environment))
        }
        Forked::Parent(pid) => Pid::from_raw(pid),
    };
    drop(gate);
    let key = key_file.read()?;
    becomes.iter().try_for_each(Identity::assume::<G>)?;
    let service = Service {
        provider: (routes.provider, sockets.provider),
        instance: routes.instance.zip(sockets.instance),
        key,
        bearer,
        trust: Trust::public(),
    };
    // On failure the gate closes, and the command is never executed.
    let relays = start_relays(service).map_err(|error| LaunchError::Relays(error.to_string()))?;
    nix::unistd::write(&keeper, b"!").step("start the command")?;
    drop(keeper);
    let status = wait(command, &signals);
    drop(relays);
    status
}

/// What the child does: becomes the user, dies with the launcher, waits for the relays, becomes the command.
fn start<G: Guards>(
    user: Option<&Identity>,
    launcher: Pid,
    gate: &OwnedFd,
    argv: &[CString],
    environment: &[CString],
) -> i32 {
    const FAILED: i32 = 125;
    // A change of users takes back what was asked for the launcher's death.
    if user.is_some_and(|user| user.assume::<G>().is_err()) {
        return FAILED;
    }
    // The launcher may have ended before the request was in place.
    if prctl::set_pdeathsig(Signal::SIGKILL).is_err() || getppid() != launcher || reset_signals().is_err() {
        return FAILED;
    }
    match read(gate, &mut [0]) {
        Ok(1) => exec_command(argv, environment),
        _ => FAILED,
    }
}

/// Passes signals on until the command ends.
fn wait(command: Pid, signals: &SignalFd) -> Result<i32, LaunchError> {
    loop {
        let mut entries = [pollfd { fd: signals.as_fd().as_raw_fd(), events: POLLIN, revents: 0 }];
        poll(&mut entries, -1).step("wait for the command")?;
        while let Some(info) = signals.read_signal().step("read a signal")? {
            if info.ssi_signo != Signal::SIGCHLD as u32 {
                let signal = Signal::try_from(info.ssi_signo as i32).step("know a signal")?;
                // It may have ended a moment ago; its status follows.
                kill(command, signal).ok();
            }
        }
        match waitpid(command, Some(WaitPidFlag::WNOHANG)).step("collect the command")? {
            WaitStatus::Exited(_, status) => return Ok(status),
            WaitStatus::Signaled(_, signal, _) => return Ok(128 + signal as i32),
            _ => {}
        }
    }
}

/// The launcher's own environment and what belongs to the routes.
fn environment(base_path: &str, bearer: &str, has_instance: bool) -> Result<Vec<CString>, LaunchError> {
    let mut given = vec![
        ("OPENAI_API_KEY", bearer.to_owned()),
        ("OPENAI_BASE_URL", format!("http://127.0.0.1:{PROVIDER_PORT}{base_path}")),
    ];
    if has_instance {
        given.push(("WATERTIGHT_INSTANCE_URL", format!("http://127.0.0.1:{INSTANCE_PORT}")));
    }
    let kept = std::env::vars_os().filter(|(name, _)| !given.iter().any(|(own, _)| name == own));
    let all = kept.chain(given.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))));
    all.map(|(name, value)| c_string([name, value].join("=".as_ref()))).collect()
}

fn c_string(text: OsString) -> Result<CString, LaunchError> {
    let shown = text.to_string_lossy().into_owned();
    CString::new(text.into_vec()).map_err(|_| LaunchError::ZeroByte(shown))
}

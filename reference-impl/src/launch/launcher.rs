//! The launcher itself: outside the sandbox, it holds the key, the relays and the sandbox's life.

use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use libc::{POLLIN, pollfd};
use nix::fcntl::OFlag;
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::sys::signalfd::SignalFd;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{Pid, chdir, pipe2};

use super::checks;
use super::environment::{Given, environment};
use super::error::{LaunchError, Step};
use super::identity::Identity;
use super::init::{self, Blueprint, Inherited};
use super::outer::{Sockets, enter_own_namespaces};
use super::root::{View, covered_directories};
use super::sockets;
use super::spec::{LaunchSpec, Routes};
use crate::bridge::block_signals;
use crate::guards::{Guards, Namespaces};
use crate::relay::{Bearer, KeyFile, Owner, Service, Trust};
use crate::sys::process::{Forked, clone_into, poll, signal_pidfd};

/// Runs a command confined and returns its exit status: its own, or 128 + n where signal n ended it.
///
/// The calling process must have a single thread and be of no other use: it changes its identity, namespaces and
/// working directory for good. `start_relays` may start threads; it returns what keeps the relays serving, which is
/// dropped when the command has ended. The command is executed only after it has returned without an error.
pub fn run<G, R, K, E>(spec: &LaunchSpec, start_relays: R) -> Result<i32, LaunchError>
where
    G: Guards,
    R: FnOnce(Service) -> Result<K, E>,
    E: Display,
{
    if spec.argv.is_empty() {
        return Err(LaunchError::NoCommand);
    }
    let routes = spec.routes()?;
    refuse_directories()?;
    let identity = Identity::choose::<G>(spec.user.as_deref())?;
    let key_file = KeyFile::open(&spec.key_file, Owner::of(identity.uid))?;
    identity.assume::<G>()?;
    let bearer = fresh_bearer::<G>()?;
    let blueprint = blueprint::<G>(spec, &routes, &identity, &key_file, &bearer)?;

    let early_key = if G::reads_key_after_clone() { None } else { Some(key_file.read()?) };
    let way_out = G::way_out();
    enter_own_namespaces(&identity)?;
    let sockets = Sockets::listen::<G>(blueprint.has_instance)?;
    let signals = block_signals().step("read signals from a descriptor")?;
    let (lifeline, keeper) = pipe2(OFlag::O_CLOEXEC).step("make a pipe")?;
    let flags = clone_flags(G::namespaces());
    let advice = "; Linux 5.9 or newer with CONFIG_{USER,NET,PID,UTS,IPC}_NS and CONFIG_CGROUPS is needed, and no \
                  system call filter that forbids it";
    let (pid, pidfd) = match clone_into(flags).step_or("make the sandbox's namespaces", advice)? {
        Forked::Child => {
            drop(keeper);
            init::main::<G>(&blueprint, Inherited { sockets: sockets.directory, lifeline, way_out })
        }
        Forked::Parent(child) => child,
    };
    drop((lifeline, way_out));
    let sandbox = Sandbox { pid: Pid::from_raw(pid), pidfd, keeper: Some(keeper), reaped: false };
    sockets.attach()?;
    chdir(&blueprint.workspace).step("return to the workspace")?;
    if G::launcher_is_untraceable() {
        prctl::set_dumpable(false).step("become untraceable")?;
    }
    let service = Service {
        provider: (routes.provider, sockets.provider),
        instance: routes.instance.zip(sockets.instance),
        key: early_key.map_or_else(|| key_file.read(), Ok)?,
        bearer,
        trust: Trust::public(),
    };
    let relays = start_relays(service).map_err(|error| LaunchError::Relays(error.to_string()))?;
    sandbox.start()?;
    let status = sandbox.wait::<G>(&signals);
    drop(relays);
    status
}

/// Checks, as the ordinary user, all that the sandbox is made from.
fn blueprint<G: Guards>(
    spec: &LaunchSpec,
    routes: &Routes,
    identity: &Identity,
    key: &KeyFile,
    bearer: &Bearer,
) -> Result<Blueprint, LaunchError> {
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let mut homes: Vec<PathBuf> = identity.home.clone().into_iter().chain(home).collect();
    homes.retain(|home| home.parent().is_some() && home.is_dir());
    let homes: Vec<PathBuf> = homes.into_iter().filter_map(|home| home.canonicalize().ok()).collect();
    let (workspace, exposures) = checks::exposures(spec, &homes)?;
    key.refuse_below(exposures.iter().map(|exposure| exposure.path.as_path()))?;
    let has_instance = routes.instance.is_some();
    let given = Given { base_path: routes.provider.path(), bearer: bearer.expose(), has_instance };
    let environment = environment::<G>(std::env::vars_os(), &spec.pass_environment, identity, given)?;
    let path = environment.iter().find_map(|entry| entry.to_bytes().strip_prefix(b"PATH="));
    let path: OsString = path.map_or_else(OsString::new, |path| OsStr::from_bytes(path).to_owned());
    let argv = checks::command(&spec.argv, &workspace, &path, identity.uid)?;
    let sockets = if G::hides_host_sockets() {
        let exposed = exposures.iter().map(|exposure| exposure.path.as_path());
        let homes = homes.iter().map(PathBuf::as_path).chain(["/home", "/root"].map(Path::new));
        sockets::bound(&covered_directories().chain(homes).chain(exposed).collect::<Vec<_>>())?
    } else {
        Vec::new()
    };
    let view = View { exposures, homes, sockets, key: key.path().to_owned(), bearer: bearer.expose().to_owned() };
    Ok(Blueprint { argv, environment, workspace, view, uid: identity.uid, gid: identity.gid, has_instance })
}

/// A directory among the standard descriptors would lead out of the sandbox by `..`.
fn refuse_directories() -> Result<(), LaunchError> {
    use nix::sys::stat::{SFlag, fstat};
    let standard = [io::stdin().as_fd(), io::stdout().as_fd(), io::stderr().as_fd()].map(fstat);
    let kind = |mode| SFlag::from_bits_truncate(mode) & SFlag::S_IFMT;
    match standard.iter().flatten().any(|stat| kind(stat.st_mode) == SFlag::S_IFDIR) {
        true => Err(LaunchError::StandardDirectory),
        false => Ok(()),
    }
}

pub(super) fn fresh_bearer<G: Guards>() -> Result<Bearer, LaunchError> {
    G::bearer().step("draw a random bearer")
}

fn clone_flags(namespaces: Namespaces) -> libc::c_int {
    let Namespaces { user, network, mount, pid, ipc, uts, cgroup } = namespaces;
    [
        (user, libc::CLONE_NEWUSER),
        (network, libc::CLONE_NEWNET),
        (mount, libc::CLONE_NEWNS),
        (pid, libc::CLONE_NEWPID),
        (ipc, libc::CLONE_NEWIPC),
        (uts, libc::CLONE_NEWUTS),
        (cgroup, libc::CLONE_NEWCGROUP),
    ]
    .into_iter()
    .fold(0, |flags, (wanted, flag)| if wanted { flags | flag } else { flags })
}

/// A running sandbox, by its init. Dropping it ends everything inside.
struct Sandbox {
    pid: Pid,
    pidfd: OwnedFd,
    /// The lifeline's end that closes with the launcher, however that ends.
    keeper: Option<OwnedFd>,
    reaped: bool,
}

impl Sandbox {
    /// Lets init execute the command.
    fn start(&self) -> Result<(), LaunchError> {
        let Some(keeper) = &self.keeper else { return Ok(()) };
        match nix::unistd::write(keeper, b"!") {
            // Init has ended and said why; its status tells.
            Ok(_) | Err(nix::Error::EPIPE) => Ok(()),
            Err(error) => Err(error).step("start the sandbox"),
        }
    }

    /// Waits for init's end and passes signals on meanwhile.
    fn wait<G: Guards>(mut self, signals: &SignalFd) -> Result<i32, LaunchError> {
        let (init, asked) = (self.pidfd.as_raw_fd(), signals.as_fd().as_raw_fd());
        loop {
            let mut entries = [init, asked].map(|fd| pollfd { fd, events: POLLIN, revents: 0 });
            poll(&mut entries, -1).step("wait for the sandbox")?;
            if entries[0].revents != 0 {
                break;
            }
            while let Some(info) = signals.read_signal().step("read a signal")? {
                let signal = info.ssi_signo as i32;
                if signal != Signal::SIGCHLD as i32 && G::forwards_signal(signal) {
                    // Where init has just ended, its status follows.
                    signal_pidfd(&self.pidfd, signal).ok();
                }
            }
        }
        self.reaped = true;
        match waitpid(self.pid, None).step("collect the sandbox's init")? {
            WaitStatus::Exited(_, status) => Ok(status),
            WaitStatus::Signaled(_, signal, _) => Err(LaunchError::InitKilled(signal as i32)),
            other => Err(LaunchError::kernel(format!("understand {other:?}"), io::ErrorKind::Other.into(), "")),
        }
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.keeper = None;
        if !self.reaped {
            signal_pidfd(&self.pidfd, libc::SIGKILL).ok();
            waitpid(self.pid, None).ok();
        }
    }
}

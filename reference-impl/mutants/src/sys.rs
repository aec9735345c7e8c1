//! The system calls of the mutants themselves; those of the ways out are beside them.

use std::{
    ffi::{CString, OsString},
    fs::File,
    io,
    os::{fd::AsRawFd, unix::ffi::OsStrExt},
    path::Path,
};

use nix::{
    mount::{MsFlags, mount},
    sched::{CloneFlags, unshare},
    sys::{
        signal::{Signal, kill},
        wait::waitpid,
    },
    unistd::{ForkResult, Pid, setsid},
};

/// Starts a process that does `body` and ends. It holds no standard stream of the launch open.
pub fn helper(body: impl FnOnce()) -> io::Result<Pid> {
    if let Some(child) = fork()? {
        return Ok(child);
    }
    leave();
    body();
    exit_now(0)
}

/// Ends a helper.
pub fn end(helper: Pid) -> io::Result<()> {
    kill(helper, Signal::SIGKILL)?;
    waitpid(helper, None).map(drop).map_err(io::Error::from)
}

/// The calling process is killed when the one that started it ends, from now on.
pub fn end_with_parent() -> io::Result<()> {
    nix::sys::prctl::set_pdeathsig(Signal::SIGKILL).map_err(io::Error::from)
}

/// Gives a new network namespace a name that keeps it.
pub fn name_a_network_namespace(name: &Path) -> io::Result<()> {
    if let Some(child) = fork()? {
        return waitpid(child, None).map(drop).map_err(io::Error::from);
    }
    let none: Option<&str> = None;
    let named = unshare(CloneFlags::CLONE_NEWNET)
        .and_then(|()| mount(Some("/proc/self/ns/net"), name, none, MsFlags::MS_BIND, none));
    if let Err(error) = named {
        eprintln!("watertight-mutants: cannot name a network namespace: {error}");
    }
    exit_now(0)
}

/// Sets a variable of this process.
pub fn set_variable(name: &str, value: OsString) {
    let (Ok(name), Ok(value)) = (CString::new(name), CString::new(value.as_bytes())) else { return };
    // SAFETY: the process has a single thread; both are strings that end in NUL, which setenv copies.
    unsafe { libc::setenv(name.as_ptr(), value.as_ptr(), 1) };
}

/// Goes on in a child, which nobody waits for; the caller does too. Whether this is the child.
pub fn split() -> io::Result<bool> {
    let is_child = fork()?.is_none();
    if is_child {
        leave();
    }
    Ok(is_child)
}

/// Forks the calling process. The child's number, or nothing in the child.
///
/// Before the launch there is one thread; after it, and where the relays are started, the child only sleeps, or lives on
/// with the one thread that it has.
pub fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: no lock that the child takes is held by another thread, as said above.
    match unsafe { nix::unistd::fork() }? {
        ForkResult::Parent { child } => Ok(Some(child)),
        ForkResult::Child => Ok(None),
    }
}

/// Ends the process at once: no destructors of what was forked with it.
pub fn exit_now(status: i32) -> ! {
    // SAFETY: `_exit` has no preconditions.
    unsafe { libc::_exit(status) }
}

/// Leaves the launch's session and its standard streams: open, they would keep whoever started it waiting.
fn leave() {
    // Whoever leads a session already is in one of its own.
    let _ = setsid();
    let Ok(null) = File::options().read(true).write(true).open("/dev/null") else { return };
    for stream in 0..3 {
        // SAFETY: putting another file in the place of a descriptor touches no memory.
        unsafe { libc::dup2(null.as_raw_fd(), stream) };
    }
}

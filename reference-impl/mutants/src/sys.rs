//! The system calls of the mutants themselves.

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
    unistd::{ForkResult, Pid, fork, setsid},
};

/// Starts a process that does `body` and ends. It holds no standard stream of the launch open.
pub fn helper(body: impl FnOnce()) -> io::Result<Pid> {
    // SAFETY: the calling process has a single thread, or the child does nothing but sleep and exit.
    match unsafe { fork() }? {
        ForkResult::Parent { child } => Ok(child),
        ForkResult::Child => {
            let _ = setsid();
            close_streams();
            body();
            exit()
        }
    }
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
    // SAFETY: the calling process has a single thread.
    match unsafe { fork() }? {
        ForkResult::Parent { child } => waitpid(child, None).map(drop).map_err(io::Error::from),
        ForkResult::Child => {
            let none: Option<&str> = None;
            let named = unshare(CloneFlags::CLONE_NEWNET)
                .and_then(|()| mount(Some("/proc/self/ns/net"), name, none, MsFlags::MS_BIND, none));
            if let Err(error) = named {
                eprintln!("watertight-mutants: cannot name a network namespace: {error}");
            }
            exit()
        }
    }
}

/// Sets a variable of this process.
pub fn set_variable(name: &str, value: OsString) {
    let (Ok(name), Ok(value)) = (CString::new(name), CString::new(value.as_bytes())) else { return };
    // SAFETY: the process has a single thread; both are strings that end in NUL, which setenv copies.
    unsafe { libc::setenv(name.as_ptr(), value.as_ptr(), 1) };
}

/// Goes on in a child, which nobody waits for; the caller does too. Whether this is the child.
pub fn split() -> io::Result<bool> {
    // SAFETY: the calling process has a single thread.
    let child = unsafe { fork() }?.is_child();
    if child {
        let _ = setsid();
        close_streams();
    }
    Ok(child)
}

/// Standard streams that stay open would keep whoever started the launch waiting.
fn close_streams() {
    let Ok(null) = File::options().read(true).write(true).open("/dev/null") else { return };
    for stream in 0..3 {
        // SAFETY: putting another file in the place of a descriptor touches no memory.
        unsafe { libc::dup2(null.as_raw_fd(), stream) };
    }
}

fn exit() -> ! {
    // SAFETY: the process ends here.
    unsafe { libc::_exit(0) }
}

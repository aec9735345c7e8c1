//! Processes that are not the probe's own: asked for and looked at, never disturbed.

use std::{
    io,
    os::fd::{FromRawFd, OwnedFd},
};

use super::check;

/// Whether this process could be sent a signal: none is sent.
pub fn may_signal(pid: i32) -> io::Result<()> {
    // SAFETY: `kill` takes no pointer, and signal 0 is none.
    check(unsafe { libc::kill(pid, 0) }).map(drop)
}

/// Opens a descriptor of this process, and closes it again.
pub fn open_pidfd(pid: i32) -> io::Result<()> {
    // SAFETY: the call takes no pointer.
    let fd = check(unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) })?;
    // SAFETY: the kernel has just made it, for nobody else.
    drop(unsafe { OwnedFd::from_raw_fd(fd as libc::c_int) });
    Ok(())
}

/// Attaches to this process without stopping it. It is let go when this process ends.
pub fn trace(pid: i32) -> io::Result<()> {
    // SAFETY: PTRACE_SEIZE takes neither an address nor data.
    check(unsafe { libc::ptrace(libc::PTRACE_SEIZE, pid, 0, 0) }).map(drop)
}

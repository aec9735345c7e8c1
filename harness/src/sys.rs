//! System calls of the harness itself.

use std::{
    fs::File,
    io,
    os::{
        fd::{FromRawFd, OwnedFd},
        unix::net::UnixStream,
    },
    path::Path,
    thread,
};

use nix::sched::{CloneFlags, setns, unshare};

/// Whether a thread with this uid and gid, seeing the files of process `pid`, can connect to the Unix socket at `path`.
///
/// Refusals that only a permission can cause are `false`; anything else is an error.
pub fn connects_as(pid: i32, uid: u32, path: &Path) -> io::Result<bool> {
    let mount = File::open(format!("/proc/{pid}/ns/mnt"))?;
    let knock = || -> io::Result<bool> {
        // A thread that shares its working directory with others cannot change its mount namespace.
        unshare(CloneFlags::CLONE_FS)?;
        setns(&mount, CloneFlags::CLONE_NEWNS)?;
        become_user(uid)?;
        match UnixStream::connect(path) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(false),
            Err(error) => Err(error),
        }
    };
    thread::scope(|scope| scope.spawn(knock).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
}

/// Changes the identity of this thread alone, for good: the C library's own function would change all threads.
fn become_user(id: u32) -> io::Result<()> {
    // SAFETY: these calls take numbers and touch no memory; a null pointer with length 0 is no groups.
    let results = unsafe {
        [
            libc::syscall(libc::SYS_setgroups, 0, std::ptr::null::<libc::gid_t>()),
            libc::syscall(libc::SYS_setresgid, id, id, id),
            libc::syscall(libc::SYS_setresuid, id, id, id),
        ]
    };
    // Where groups may not be set, there are none to drop.
    if results[1..].contains(&-1) { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A descriptor of a child that was not waited for yet: readable when it has ended.
pub fn pidfd(pid: u32) -> io::Result<OwnedFd> {
    // SAFETY: the call takes numbers and returns a new descriptor, which nobody else owns.
    unsafe {
        match libc::syscall(libc::SYS_pidfd_open, pid, 0) {
            -1 => Err(io::Error::last_os_error()),
            fd => Ok(OwnedFd::from_raw_fd(fd as i32)),
        }
    }
}

/// Copies standard input, output and error to the descriptors 3, 4 and 5, which every child inherits.
///
/// For a process that has opened nothing yet: whatever has these numbers is closed.
pub fn give_workload_descriptors() -> io::Result<()> {
    for (from, to) in [(0, 3), (1, 4), (2, 5)] {
        // SAFETY: no memory is passed. The caller owns no descriptor of these numbers.
        if unsafe { libc::dup2(from, to) } == -1 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

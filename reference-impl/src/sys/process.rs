//! Processes: cloned into namespaces, stripped of what they inherit, and ended.

use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};

use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal};

use super::check;

/// The outcome of a fork, in the process that sees it.
pub(crate) enum Forked<T> {
    Child,
    Parent(T),
}

#[repr(C)]
#[derive(Default)]
struct CloneArgs {
    flags: u64,
    pidfd: u64,
    child_tid: u64,
    parent_tid: u64,
    exit_signal: u64,
    stack: u64,
    stack_size: u64,
    tls: u64,
}

/// Forks the calling process into the namespaces of `flags` (`CLONE_NEW*`); the parent gets a pidfd.
///
/// The caller must have a single thread: the child has a copy of that thread alone.
pub(crate) fn clone_into(flags: libc::c_int) -> io::Result<Forked<(i32, OwnedFd)>> {
    let mut pidfd: RawFd = -1;
    let arguments = CloneArgs {
        flags: flags as u32 as u64 | libc::CLONE_PIDFD as u64,
        pidfd: &raw mut pidfd as u64,
        exit_signal: libc::SIGCHLD as u64,
        ..CloneArgs::default()
    };
    // SAFETY: the structure has the layout of `struct clone_args` (version 0) and its size is passed; with no
    // CLONE_VM and no stack the child continues here on a copy of the memory, as after fork.
    let pid = check(unsafe { libc::syscall(libc::SYS_clone3, &raw const arguments, size_of::<CloneArgs>()) })?;
    if pid == 0 {
        return Ok(Forked::Child);
    }
    // SAFETY: CLONE_PIDFD stored a fresh descriptor there before clone3 returned.
    Ok(Forked::Parent((pid as i32, unsafe { OwnedFd::from_raw_fd(pidfd) })))
}

/// Forks the calling process, which must have a single thread.
pub(crate) fn fork() -> io::Result<Forked<i32>> {
    // SAFETY: with one thread no lock of another thread can be left held in the child.
    match check(unsafe { libc::fork() }.into())? {
        0 => Ok(Forked::Child),
        pid => Ok(Forked::Parent(pid as i32)),
    }
}

/// Ends the process at once: no destructors, no handlers of `atexit`.
pub(crate) fn exit_now(status: i32) -> ! {
    // SAFETY: `_exit` has no preconditions.
    unsafe { libc::_exit(status) }
}

/// Closes every descriptor above 2 but those of `keep`.
pub(crate) fn close_all_except(keep: &[RawFd]) -> io::Result<()> {
    let mut keep: Vec<u32> = keep.iter().filter_map(|fd| u32::try_from(*fd).ok()).filter(|fd| *fd > 2).collect();
    keep.sort_unstable();
    let mut first = 3;
    for fd in keep {
        if fd > first {
            close_range(first, fd - 1)?;
        }
        first = fd + 1;
    }
    close_range(first, u32::MAX)
}

fn close_range(first: u32, last: u32) -> io::Result<()> {
    // SAFETY: no memory is passed. The callers are freshly forked processes about to shed what they inherited;
    // descriptors that are still used stand in the list of exceptions.
    check(unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) }).map(drop)
}

/// Gives every signal its default action and unblocks all of them, as a command expects to find them.
pub(crate) fn reset_signals() -> nix::Result<()> {
    let default = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
    for signal in Signal::iterator().filter(|signal| !matches!(signal, Signal::SIGKILL | Signal::SIGSTOP)) {
        // SAFETY: the default action runs no code of ours.
        unsafe { nix::sys::signal::sigaction(signal, &default) }?;
    }
    SigSet::empty().thread_set_mask()
}

/// Sends a signal to the process behind a pidfd.
pub(crate) fn signal_pidfd(pidfd: impl AsFd, signal: i32) -> io::Result<()> {
    let info = std::ptr::null::<libc::siginfo_t>();
    // SAFETY: a null siginfo asks the kernel to fill it in as for kill(2).
    check(unsafe { libc::syscall(libc::SYS_pidfd_send_signal, pidfd.as_fd().as_raw_fd(), signal, info, 0) }).map(drop)
}

/// Overwrites the command line and environment that this process was started with, as `/proc/PID` shows them.
///
/// For a freshly forked child only: the strings behind `std::env` become empty.
pub(crate) fn wipe_start_strings() -> io::Result<()> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    // The name in parentheses may hold anything; arg_start to env_end are fields 48 to 51, the state is field 3.
    let fields =
        stat.rsplit_once(')').map(|(_, rest)| rest.split_ascii_whitespace().skip(48 - 3)).ok_or_else(bad_stat)?;
    let bounds: Vec<usize> = fields.take(4).filter_map(|field| field.parse().ok()).collect();
    let &[arg_start, arg_end, env_start, env_end] = bounds.as_slice() else { return Err(bad_stat()) };
    for (start, end) in [(arg_start, arg_end), (env_start, env_end)] {
        if start != 0 && end > start {
            // SAFETY: the kernel names the part of this process's own stack that holds the strings of exec. It is
            // mapped and writable, this process has one thread, and zero bytes keep every string terminated.
            unsafe { std::ptr::write_bytes(start as *mut u8, 0, end - start) };
        }
    }
    Ok(())
}

fn bad_stat() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "/proc/self/stat lacks the bounds of the command line")
}

/// Waits for events on descriptors; entries with a negative descriptor are ignored. Interrupted waits report none.
pub(crate) fn poll(entries: &mut [libc::pollfd], timeout_ms: i32) -> io::Result<usize> {
    // SAFETY: the pointer and length describe the slice, which the kernel fills in.
    match check(unsafe { libc::poll(entries.as_mut_ptr(), entries.len() as libc::nfds_t, timeout_ms) }.into()) {
        Ok(ready) => Ok(ready as usize),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => {
            entries.iter_mut().for_each(|entry| entry.revents = 0);
            Ok(0)
        }
        Err(error) => Err(error),
    }
}

//! Signals: how the probe hears that a child ended without a descriptor, and what its children ignore.

use std::{io, mem::MaybeUninit, ptr, time::Duration};

/// Makes ended children visible by [`wait_for_child`], and a broken pipe an error instead of a death.
///
/// A launcher may hand down an ignored `SIGCHLD`, under which children vanish without a status.
pub fn prepare() {
    set(libc::SIGCHLD, libc::SIG_DFL);
    set(libc::SIGPIPE, libc::SIG_IGN);
    mask(libc::SIG_BLOCK);
}

/// What an attempt's process starts with: `SIGCHLD` as usual; terminal signals of a background process ignored.
pub fn prepare_child() {
    mask(libc::SIG_UNBLOCK);
    ignore(&[libc::SIGTTIN, libc::SIGTTOU]);
}

/// What other programs expect of a broken pipe.
pub fn restore_pipe() {
    set(libc::SIGPIPE, libc::SIG_DFL);
}

pub fn ignore(signals: &[i32]) {
    signals.iter().for_each(|signal| set(*signal, libc::SIG_IGN));
}

/// Dies by this signal, whatever was done with it before.
pub fn die_by(signal: i32) {
    set(signal, libc::SIG_DFL);
    let mut signals = empty_set();
    // SAFETY: `signals` is an initialised set and the calls touch nothing else of ours.
    unsafe {
        libc::sigaddset(&mut signals, signal);
        libc::sigprocmask(libc::SIG_UNBLOCK, &signals, ptr::null_mut());
        libc::kill(libc::getpid(), signal);
    }
}

/// Waits until a child has ended, at most `limit`.
pub fn wait_for_child(limit: Duration) {
    let time =
        libc::timespec { tv_sec: limit.as_secs() as libc::time_t, tv_nsec: limit.subsec_nanos() as libc::c_long };
    let signals = child_set();
    // SAFETY: the set and the time live across the call; no information about the signal is asked for.
    let waited = unsafe { libc::sigtimedwait(&signals, ptr::null_mut(), &time) };
    let refused =
        waited == -1 && !matches!(io::Error::last_os_error().raw_os_error(), Some(libc::EAGAIN | libc::EINTR));
    if refused {
        // A filter took the call away: look once a millisecond instead.
        std::thread::sleep(limit.min(Duration::from_millis(1)));
    }
}

/// Waits for a signal.
pub fn pause() {
    // SAFETY: takes nothing.
    unsafe { libc::pause() };
}

/// Ends this process by `SIGALRM` in so many seconds, whatever it does then.
pub fn end_after(seconds: u32) {
    set(libc::SIGALRM, libc::SIG_DFL);
    // SAFETY: `alarm` takes no pointer.
    unsafe { libc::alarm(seconds) };
}

fn set(signal: i32, action: libc::sighandler_t) {
    // SAFETY: the actions used here are SIG_DFL and SIG_IGN: no handler of ours ever runs.
    unsafe { libc::signal(signal, action) };
}

fn mask(how: i32) {
    let signals = child_set();
    // SAFETY: the set lives across the call and the old mask is not asked for.
    unsafe { libc::pthread_sigmask(how, &signals, ptr::null_mut()) };
}

fn child_set() -> libc::sigset_t {
    let mut signals = empty_set();
    // SAFETY: `signals` is an initialised set.
    unsafe { libc::sigaddset(&mut signals, libc::SIGCHLD) };
    signals
}

fn empty_set() -> libc::sigset_t {
    let mut signals = MaybeUninit::uninit();
    // SAFETY: `sigemptyset` initialises the set that it is given.
    unsafe {
        libc::sigemptyset(signals.as_mut_ptr());
        signals.assume_init()
    }
}

//! System calls of the command line: the window's width, and signals that ask for an end.

use std::{
    io,
    os::fd::{AsFd, AsRawFd, IntoRawFd, OwnedFd},
    sync::atomic::{AtomicI32, Ordering},
};

use nix::{
    fcntl::OFlag,
    sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction},
    unistd::pipe2,
};

/// Columns of the terminal that `fd` is, if it is one and knows.
pub fn columns(fd: impl AsFd) -> Option<usize> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the kernel writes one `winsize` to the pointer, which is valid for that; the descriptor is borrowed.
    let result = unsafe { libc::ioctl(fd.as_fd().as_raw_fd(), libc::TIOCGWINSZ, &raw mut size) };
    (result == 0 && size.ws_col > 0).then_some(usize::from(size.ws_col))
}

/// The descriptor that the handler writes to.
static ASKED: AtomicI32 = AtomicI32::new(-1);

/// From now on SIGINT, SIGTERM and SIGHUP do not end the program but make a byte readable here.
///
/// Handlers, not a mask: what is executed gets the default action back and inherits no blocked signal. A signal that
/// was ignored (`nohup`) stays so.
pub fn asked_to_end() -> io::Result<OwnedFd> {
    let (read, write) = pipe2(OFlag::O_CLOEXEC | OFlag::O_NONBLOCK)?;
    ASKED.store(write.into_raw_fd(), Ordering::SeqCst);
    let action = SigAction::new(SigHandler::Handler(note), SaFlags::SA_RESTART, SigSet::empty());
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        // SAFETY: the handler calls nothing but write(2), which is safe in a signal handler.
        let before = unsafe { sigaction(signal, &action) }?;
        if matches!(before.handler(), SigHandler::SigIgn) {
            // SAFETY: it puts the action back that was there.
            unsafe { sigaction(signal, &before) }?;
        }
    }
    Ok(read)
}

extern "C" fn note(signal: libc::c_int) {
    let byte = signal as u8;
    // SAFETY: one byte is read from a valid place; a descriptor that is full or not there is an error, not a fault.
    unsafe { libc::write(ASKED.load(Ordering::SeqCst), (&raw const byte).cast(), 1) };
}

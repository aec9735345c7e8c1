//! Requests to a terminal, as the kernel takes them.

use std::{
    io,
    os::fd::{AsRawFd, BorrowedFd},
};

use super::check;

/// Puts one byte into the terminal's input, as if it had been typed (ioctl_tty(2)).
///
/// The request goes to the raw system call as 64 bits: the kernel reads the low 32, a careless filter all of them.
pub fn inject(terminal: BorrowedFd<'_>, byte: u8, high_bit: bool) -> io::Result<()> {
    let request = libc::TIOCSTI as libc::c_long | if high_bit { 1 << 32 } else { 0 };
    // SAFETY: the byte lives across the call.
    check(unsafe { libc::syscall(libc::SYS_ioctl, terminal.as_raw_fd(), request, &raw const byte) }).map(drop)
}

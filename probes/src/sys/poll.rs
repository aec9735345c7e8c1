//! Waiting for descriptors, with a deadline.

use std::{
    io,
    os::fd::{AsFd, AsRawFd, BorrowedFd},
    time::Instant,
};

use super::check;

pub const READ: i16 = libc::POLLIN;
pub const WRITE: i16 = libc::POLLOUT;

/// Waits until `fd` is ready for any of `events` (or has failed or hung up). `None` where `until` passed first.
pub fn wait(fd: impl AsFd, events: i16, until: Instant) -> io::Result<Option<i16>> {
    wait_for_any(&[(fd.as_fd(), events)], until).map(|ready| ready.map(|events| events[0]))
}

/// The same for several descriptors: their returned events in order.
pub fn wait_for_any(wanted: &[(BorrowedFd<'_>, i16)], until: Instant) -> io::Result<Option<Vec<i16>>> {
    let mut list: Vec<_> =
        wanted.iter().map(|(fd, events)| libc::pollfd { fd: fd.as_raw_fd(), events: *events, revents: 0 }).collect();
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let time =
            libc::timespec { tv_sec: left.as_secs() as libc::time_t, tv_nsec: left.subsec_nanos() as libc::c_long };
        // SAFETY: the list and the time live across the call, and the length is the list's.
        match check(unsafe { libc::ppoll(list.as_mut_ptr(), list.len() as libc::nfds_t, &time, std::ptr::null()) }) {
            Ok(0) => return Ok(None),
            Ok(_) => return Ok(Some(list.iter().map(|entry| entry.revents).collect())),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

//! System calls: the only place of this crate with `unsafe`. Wrappers return `io::Result` and owned descriptors.

use std::io;

pub mod auxiliary;
pub mod descriptors;
pub mod ipc;
pub mod kernel;
pub mod link;
pub mod memory;
pub mod namespaces;
pub mod outsiders;
pub mod poll;
pub mod privileges;
pub mod process;
pub mod resolve;
pub mod signals;
pub mod socket;
pub mod terminal;
pub mod uring;

/// The result of a system call that answers with -1 and `errno`.
fn check<T: PartialEq + From<i8>>(result: T) -> io::Result<T> {
    if result == T::from(-1) { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// The errno of an error, 0 where it has none.
pub fn errno(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(0)
}

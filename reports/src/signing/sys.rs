//! The environment's own memory, which only `unsafe` code may change: the one such place of this crate.

use std::{ffi::CStr, fs, io};

use nix::libc;
use zeroize::Zeroizing;

unsafe extern "C" {
    /// What `environ(7)` describes.
    static mut environ: *mut *mut libc::c_char;
}

/// Takes a variable out of the environment: children do not inherit it, and `/proc/PID/environ` shows zeros in its
/// place. Refuses in a process of more than one thread, where another could be reading the environment.
pub(super) fn take_variable(name: &str) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
    if fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::Error::other("the process has more than one thread"));
    }
    let mut value = None;
    // SAFETY: this is the only thread, so nobody else reads or writes the environment. It is an array of pointers to
    // strings with a zero at their end, and ends with a null pointer (environ(7)); each string is writable memory of the
    // process, either of its stack or allocated by libc.
    unsafe {
        let mut entry = environ;
        while !entry.is_null() && !(*entry).is_null() {
            let text = CStr::from_ptr(*entry).to_bytes();
            if let Some(rest) = text.strip_prefix(name.as_bytes()).and_then(|rest| rest.strip_prefix(b"=")) {
                value.get_or_insert_with(|| Zeroizing::new(rest.to_vec()));
                let (start, length) = (text.len() - rest.len(), rest.len());
                for offset in start..start + length {
                    (*entry).add(offset).write_volatile(0);
                }
            }
            entry = entry.add(1);
        }
        std::env::remove_var(name);
    }
    Ok(value)
}

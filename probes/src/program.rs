//! This program itself, executed once more.

use std::{ffi::CString, io};

use crate::sys::process;

/// Every path by which this program may be found, best first: none of them has to work in an empty root.
pub fn paths() -> Vec<CString> {
    let given = std::env::args_os().next().and_then(|argument| CString::new(argument.into_encoded_bytes()).ok());
    [CString::new("/proc/self/exe").ok(), process::executed_as(), given]
        .into_iter()
        .flatten()
        .filter(|path| path.as_bytes().contains(&b'/'))
        .collect()
}

/// Executes this program in place of this process. Returns only if no path worked: with the last error.
pub fn execute_self(arguments: &[&str]) -> io::Error {
    let arguments: Vec<_> = arguments.iter().filter_map(|text| CString::new(*text).ok()).collect();
    let mut last = io::Error::from_raw_os_error(libc::ENOENT);
    for path in paths() {
        last = process::execute(&path, &arguments);
    }
    last
}

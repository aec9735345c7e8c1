//! The last step of a launch: the command replaces the process that was confined for it.

use std::ffi::{CStr, CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::unistd::execve;

/// Executes a command found along the PATH of `environment`. Returns only on failure: 127 when it was not found, 126
/// when it could not be executed. The reason is on stderr.
pub(crate) fn exec_command(argv: &[CString], environment: &[CString]) -> i32 {
    let Some(program) = argv.first() else { return 127 };
    let mut failure = nix::Error::ENOENT;
    for candidate in candidates(program, environment) {
        match execve(&candidate, argv, environment) {
            Err(nix::Error::ENOENT | nix::Error::ENOTDIR) => {}
            // A directory of PATH that this user may not search holds nothing for it.
            Err(nix::Error::EACCES) if candidate.as_c_str() != program.as_c_str() && !exists(&candidate) => {}
            Err(error) => failure = error,
            Ok(never) => match never {},
        }
    }
    let hint = if failure == nix::Error::ENOENT {
        "; a program under a home, /tmp or /run of the host is visible only with --ro"
    } else {
        ""
    };
    eprintln!("watertight: cannot execute {}: {}{hint}", program.to_string_lossy(), failure.desc());
    if failure == nix::Error::ENOENT { 127 } else { 126 }
}

fn exists(path: &CStr) -> bool {
    Path::new(OsStr::from_bytes(path.to_bytes())).exists()
}

fn candidates(program: &CStr, environment: &[CString]) -> Vec<CString> {
    if program.to_bytes().contains(&b'/') {
        return vec![program.to_owned()];
    }
    let path = environment.iter().find_map(|entry| entry.to_bytes().strip_prefix(b"PATH="));
    path.unwrap_or(b"/usr/local/bin:/usr/bin:/bin")
        .split(|byte| *byte == b':')
        .filter_map(|directory| {
            let directory = if directory.is_empty() { b"." } else { directory };
            CString::new([directory, b"/", program.to_bytes()].concat()).ok()
        })
        .collect()
}

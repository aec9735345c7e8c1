//! The system calls that neither std nor nix offers: the only place of this crate with `unsafe`.

pub(crate) mod mount;
pub(crate) mod net;
pub(crate) mod privileges;
pub(crate) mod process;

use std::io;

/// Turns the `-1` convention of libc into a `Result`.
fn check(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Fills `bytes` from the kernel's generator.
pub(crate) fn random_bytes(bytes: &mut [u8]) -> io::Result<()> {
    // SAFETY: pointer and length describe the slice. Up to 256 bytes are given whole.
    let length = check(unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) } as libc::c_long)?;
    if length as usize == bytes.len() { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

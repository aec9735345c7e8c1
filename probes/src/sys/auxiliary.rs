//! The strings of the auxiliary vector: what the kernel tells a program beside arguments and environment.

use std::ffi::CStr;

/// Platform names and the path of the program.
pub fn texts() -> Vec<Vec<u8>> {
    /// `AT_BASE_PLATFORM`, which not every target's C library names.
    const AT_BASE_PLATFORM: libc::c_ulong = 24;
    [libc::AT_PLATFORM, AT_BASE_PLATFORM, libc::AT_EXECFN].into_iter().filter_map(text).collect()
}

fn text(kind: libc::c_ulong) -> Option<Vec<u8>> {
    // SAFETY: these entries are 0 or NUL-terminated strings that live as long as the process.
    unsafe {
        let text = libc::getauxval(kind) as *const libc::c_char;
        (!text.is_null()).then(|| CStr::from_ptr(text).to_bytes().to_vec())
    }
}

//! Strings that a program is given besides its arguments: environment and auxiliary vector.

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

/// The environment as it stands in memory, entries without `=` among it.
pub fn environment() -> Vec<Vec<u8>> {
    unsafe extern "C" {
        static environ: *const *const libc::c_char;
    }
    let mut entries = Vec::new();
    // SAFETY: the list ends with a null pointer, its entries are NUL-terminated, and nothing in the probe changes it.
    unsafe {
        let mut entry = environ;
        while !entry.is_null() && !(*entry).is_null() {
            entries.push(CStr::from_ptr(*entry).to_bytes().to_vec());
            entry = entry.add(1);
        }
    }
    entries
}

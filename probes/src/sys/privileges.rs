//! Identity and privileges of the calling thread, asked of the kernel by system calls: no /proc is needed.

use super::check;
use crate::observation::Privileges;

/// What this thread is and holds, under the name `of`.
pub fn of_this_thread(of: &str) -> Privileges {
    let [effective, permitted, inheritable] = capability_sets();
    Privileges {
        of: of.to_owned(),
        uid: identity(libc::SYS_getresuid, libc::SYS_setfsuid),
        gid: identity(libc::SYS_getresgid, libc::SYS_setfsgid),
        groups: groups(),
        inheritable,
        permitted,
        effective,
        bounding: mask(|capability| control(libc::PR_CAPBSET_READ, capability, 0)),
        ambient: mask(|capability| control(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_IS_SET as u64, capability)),
        no_new_privs: control(libc::PR_GET_NO_NEW_PRIVS, 0, 0) == 1,
        seccomp: control(libc::PR_GET_SECCOMP, 0, 0).max(0) as u8,
    }
}

/// Real, effective, saved and file-system id.
fn identity(get: libc::c_long, set_file_system: libc::c_long) -> [u32; 4] {
    let mut id = [0u32; 4];
    let [real, effective, saved, file_system] = &mut id;
    // SAFETY: the first call fills three integers; the second takes no pointer and, given an id that no one can have,
    // changes nothing and answers with the present one.
    unsafe {
        libc::syscall(get, real as *mut u32, effective as *mut u32, saved as *mut u32);
        *file_system = libc::syscall(set_file_system, u32::MAX) as u32;
    }
    id
}

fn groups() -> Vec<u32> {
    let mut groups = vec![0; 1024];
    // SAFETY: the list is writable and as long as is said.
    match check(unsafe { libc::getgroups(groups.len() as i32, groups.as_mut_ptr()) }) {
        Ok(count) => groups.truncate(count as usize),
        Err(_) => groups.clear(),
    }
    groups
}

/// `struct __user_cap_header_struct`.
#[repr(C)]
struct Header {
    version: u32,
    pid: i32,
}

/// Effective, permitted and inheritable.
fn capability_sets() -> [u64; 3] {
    const VERSION_3: u32 = 0x2008_0522;
    let mut header = Header { version: VERSION_3, pid: 0 };
    let mut data = [[0u32; 3]; 2];
    // SAFETY: version 3 fills two structures of three 32-bit masks each, which is the size of `data`.
    unsafe { libc::syscall(libc::SYS_capget, &raw mut header, data.as_mut_ptr()) };
    [0, 1, 2].map(|set| u64::from(data[0][set]) | u64::from(data[1][set]) << 32)
}

/// The capabilities (0 to 63) that the kernel says 1 to.
fn mask(asked: impl Fn(u64) -> i32) -> u64 {
    (0..64).filter(|capability| asked(*capability) == 1).fold(0, |mask, capability| mask | 1 << capability)
}

fn control(option: i32, first: u64, second: u64) -> i32 {
    // SAFETY: the options used here read a value and take no pointer.
    unsafe { libc::prctl(option, first, second, 0, 0) }
}

//! Capability sets, securebits, keyrings and system call filters of the calling thread.

use std::{
    io, thread,
    time::{Duration, Instant},
};

use seccompiler::sock_filter;

use super::check;

const SECUREBITS_LOCKED: libc::c_int = 0b1110_1111;
const KEYCTL_JOIN_SESSION_KEYRING: libc::c_int = 1;
const LINUX_CAPABILITY_VERSION_3: u32 = 0x2008_0522;
/// An ordinary user may have 200 keys, and the kernel counts those of ended processes until it has time to clear them away,
/// of which it gives no sign.
const PATIENCE: Duration = Duration::from_secs(2);
const AGAIN: Duration = Duration::from_millis(5);

/// Removes every capability from the bounding set.
pub(crate) fn clear_bounding_set() -> io::Result<()> {
    for capability in 0..=63 {
        match prctl(libc::PR_CAPBSET_DROP, capability, 0) {
            // The kernel knows no capability of this number, nor any above.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) && capability > 0 => break,
            result => result?,
        }
    }
    Ok(())
}

pub(crate) fn clear_ambient_set() -> io::Result<()> {
    prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL as libc::c_ulong, 0)
}

/// Makes ambient those of `capabilities` that the kernel knows; they must be permitted and inheritable.
pub(crate) fn raise_ambient(capabilities: u64) -> io::Result<()> {
    for capability in (0..64).filter(|capability| capabilities >> capability & 1 == 1) {
        prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_RAISE as libc::c_ulong, capability)?;
    }
    Ok(())
}

/// The effective, permitted and inheritable sets, in this order.
pub(crate) fn capability_sets() -> io::Result<[u64; 3]> {
    let header = [LINUX_CAPABILITY_VERSION_3, 0];
    let mut data = [[0u32; 3]; 2];
    // SAFETY: header and data have the layout of version 3 of `capget(2)`: two u32, then two triples of u32.
    check(unsafe { libc::syscall(libc::SYS_capget, header.as_ptr(), data.as_mut_ptr()) })?;
    Ok([0, 1, 2].map(|set| u64::from(data[0][set]) | u64::from(data[1][set]) << 32))
}

/// Sets the effective, permitted and inheritable sets, in this order.
pub(crate) fn set_capability_sets(sets: [u64; 3]) -> io::Result<()> {
    let header = [LINUX_CAPABILITY_VERSION_3, 0];
    let data = [sets.map(|set| set as u32), sets.map(|set| (set >> 32) as u32)];
    // SAFETY: header and data have the layout of version 3 of `capset(2)`: two u32, then two triples of u32.
    check(unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), data.as_ptr()) }).map(drop)
}

/// Locks the securebits so that neither uid 0 nor a change of uids gives capabilities, and none can become ambient.
pub(crate) fn lock_securebits() -> io::Result<()> {
    prctl(libc::PR_SET_SECUREBITS, SECUREBITS_LOCKED as libc::c_ulong, 0)
}

/// Joins a session keyring that is new and empty. Where the user has too many keys for a moment, it tries again.
pub(crate) fn join_fresh_session_keyring() -> io::Result<()> {
    let anonymous = std::ptr::null::<libc::c_char>();
    let deadline = Instant::now() + PATIENCE;
    loop {
        // SAFETY: a null name asks for an anonymous keyring.
        match check(unsafe { libc::syscall(libc::SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, anonymous) }) {
            Err(error) if error.raw_os_error() == Some(libc::EDQUOT) && Instant::now() < deadline => {
                thread::sleep(AGAIN);
            }
            joined => return joined.map(drop),
        }
    }
}

/// Puts the calling thread under a filter; needs no_new_privs or CAP_SYS_ADMIN in its user namespace.
pub(crate) fn install_filter(program: &[sock_filter]) -> io::Result<()> {
    #[repr(C)]
    struct Program {
        length: libc::c_ushort,
        instructions: *const sock_filter,
    }
    let length = program.len().try_into().map_err(|_| io::ErrorKind::InvalidInput)?;
    let program = Program { length, instructions: program.as_ptr() };
    // SAFETY: the structure has the layout of `struct sock_fprog` and points at `length` instructions.
    check(unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program) }).map(drop)
}

fn prctl(option: libc::c_int, second: libc::c_ulong, third: libc::c_ulong) -> io::Result<()> {
    // SAFETY: the options of this module take numbers only.
    check(unsafe { libc::prctl(option, second, third, 0, 0) }.into()).map(drop)
}

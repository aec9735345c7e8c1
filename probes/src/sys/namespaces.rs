//! Namespaces and mounts.

use std::{
    ffi::CStr,
    io,
    os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd},
    ptr,
};

use super::check;

/// `unshare` with these `CLONE_NEW*` flags.
pub fn unshare(flags: i32) -> io::Result<()> {
    // SAFETY: takes no pointer.
    check(unsafe { libc::unshare(flags) }).map(drop)
}

/// Joins a namespace of any kind.
pub fn join(namespace: impl AsFd) -> io::Result<()> {
    // SAFETY: takes no pointer.
    check(unsafe { libc::setns(namespace.as_fd().as_raw_fd(), 0) }).map(drop)
}

/// Cuts this mount namespace's mounts off from every peer group, so that nothing mounted here is seen elsewhere.
pub fn make_mounts_private() -> io::Result<()> {
    // SAFETY: the target is NUL-terminated; source, type and data may be null for a change of propagation.
    let changed =
        unsafe { libc::mount(ptr::null(), c"/".as_ptr(), ptr::null(), libc::MS_REC | libc::MS_PRIVATE, ptr::null()) };
    check(changed).map(drop)
}

/// Mounts an empty tmpfs by `mount`.
pub fn mount_tmpfs(over: &CStr) -> io::Result<()> {
    let flags = libc::MS_NOSUID | libc::MS_NODEV;
    // SAFETY: every string is NUL-terminated, and data may be null.
    let mounted = unsafe { libc::mount(c"tmpfs".as_ptr(), over.as_ptr(), c"tmpfs".as_ptr(), flags, ptr::null()) };
    check(mounted).map(drop)
}

/// The same by `fsopen`, `fsconfig`, `fsmount` and `move_mount`. An error says which of them it was.
pub fn mount_tmpfs_by_parts(over: &CStr) -> Result<(), (&'static str, io::Error)> {
    const FSCONFIG_CMD_CREATE: u32 = 6;
    const MOVE_MOUNT_F_EMPTY_PATH: u32 = 4;
    // SAFETY: every string is NUL-terminated or null where the call allows it; new descriptors are ours.
    unsafe {
        let context =
            new_descriptor(libc::syscall(libc::SYS_fsopen, c"tmpfs".as_ptr(), 1)).map_err(|error| ("fsopen", error))?;
        let nothing = ptr::null::<libc::c_char>();
        check(libc::syscall(libc::SYS_fsconfig, context.as_raw_fd(), FSCONFIG_CMD_CREATE, nothing, nothing, 0))
            .map_err(|error| ("fsconfig", error))?;
        let mount = new_descriptor(libc::syscall(libc::SYS_fsmount, context.as_raw_fd(), 1, 0))
            .map_err(|error| ("fsmount", error))?;
        let moved = libc::syscall(
            libc::SYS_move_mount,
            mount.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_FDCWD,
            over.as_ptr(),
            MOVE_MOUNT_F_EMPTY_PATH,
        );
        check(moved).map_err(|error| ("move_mount", error))?;
    }
    Ok(())
}

pub fn unmount(over: &CStr) -> io::Result<()> {
    // SAFETY: the path is NUL-terminated.
    check(unsafe { libc::umount2(over.as_ptr(), libc::MNT_DETACH) }).map(drop)
}

/// # Safety
/// `result` must come from a call that answers with a new descriptor or -1.
unsafe fn new_descriptor(result: libc::c_long) -> io::Result<OwnedFd> {
    // SAFETY: the caller says that the descriptor is new.
    check(result).map(|fd| unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

//! The mount system calls that take descriptors.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::check;

const FSOPEN_CLOEXEC: libc::c_uint = 1;
const FSMOUNT_CLOEXEC: libc::c_uint = 1;
const FSCONFIG_SET_STRING: libc::c_uint = 1;
const FSCONFIG_CMD_CREATE: libc::c_uint = 6;
const OPEN_TREE_CLONE: libc::c_uint = 1;
const MOVE_MOUNT_F_EMPTY_PATH: libc::c_uint = 4;
const MOVE_MOUNT_T_SYMLINKS: libc::c_uint = 0x10;

/// Attributes to give to a mount, as of `mount_setattr(2)`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Attributes {
    pub read_only: bool,
    pub no_suid: bool,
    pub no_dev: bool,
    pub private: bool,
}

impl Attributes {
    fn as_raw(self) -> [u64; 4] {
        let mut set = 0;
        for (wanted, bit) in [
            (self.read_only, libc::MOUNT_ATTR_RDONLY),
            (self.no_suid, libc::MOUNT_ATTR_NOSUID),
            (self.no_dev, libc::MOUNT_ATTR_NODEV),
        ] {
            set |= if wanted { bit } else { 0 };
        }
        [set, 0, if self.private { libc::MS_PRIVATE } else { 0 }, 0]
    }
}

fn c_path(path: &Path) -> io::Result<std::ffi::CString> {
    std::ffi::CString::new(path.as_os_str().as_bytes()).map_err(|_| io::ErrorKind::InvalidInput.into())
}

/// A detached copy of the mounts at and under `path`.
pub(crate) fn clone_tree(path: &Path) -> io::Result<OwnedFd> {
    let path = c_path(path)?;
    let flags = OPEN_TREE_CLONE | libc::O_CLOEXEC as libc::c_uint | libc::AT_RECURSIVE as libc::c_uint;
    // SAFETY: `path` is a NUL-terminated string that outlives the call.
    let fd = check(unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, path.as_ptr(), flags) })?;
    // SAFETY: the kernel has just returned this descriptor and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

/// Sets attributes on the mount at `path`.
pub(crate) fn set_attributes(path: &Path, attributes: Attributes, recursive: bool) -> io::Result<()> {
    set(libc::AT_FDCWD, &c_path(path)?, attributes, if recursive { libc::AT_RECURSIVE } else { 0 })
}

/// Sets attributes on a detached tree and everything under it.
pub(crate) fn set_tree_attributes(tree: impl AsFd, attributes: Attributes) -> io::Result<()> {
    set(tree.as_fd().as_raw_fd(), c"", attributes, libc::AT_RECURSIVE | libc::AT_EMPTY_PATH)
}

fn set(at: i32, path: &CStr, attributes: Attributes, flags: i32) -> io::Result<()> {
    let raw = attributes.as_raw();
    // SAFETY: `path` is NUL-terminated; `raw` has the layout (four u64) and size of `struct mount_attr`.
    let result =
        unsafe { libc::syscall(libc::SYS_mount_setattr, at, path.as_ptr(), flags, raw.as_ptr(), size_of_val(&raw)) };
    check(result).map(drop)
}

/// Attaches a detached tree at `target`, whose symbolic links are followed.
pub(crate) fn attach(tree: impl AsFd, target: &Path) -> io::Result<()> {
    let target = c_path(target)?;
    // SAFETY: both paths are NUL-terminated strings that outlive the call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_move_mount,
            tree.as_fd().as_raw_fd(),
            c"".as_ptr(),
            libc::AT_FDCWD,
            target.as_ptr(),
            MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_SYMLINKS,
        )
    };
    check(result).map(drop)
}

/// A tmpfs that is attached nowhere; `options` are those of `tmpfs(5)`.
pub(crate) fn detached_tmpfs(source: &CStr, options: &[(&CStr, &CStr)]) -> io::Result<OwnedFd> {
    // SAFETY: the name is a NUL-terminated string.
    let context = check(unsafe { libc::syscall(libc::SYS_fsopen, c"tmpfs".as_ptr(), FSOPEN_CLOEXEC) })?;
    // SAFETY: the kernel has just returned this descriptor and nothing else owns it.
    let context = unsafe { OwnedFd::from_raw_fd(context as i32) };
    let configure = |command: libc::c_uint, key: *const libc::c_char, value: *const libc::c_char| {
        // SAFETY: `key` and `value` are null or come from `CStr`s that outlive the call.
        check(unsafe { libc::syscall(libc::SYS_fsconfig, context.as_raw_fd(), command, key, value, 0) })
    };
    configure(FSCONFIG_SET_STRING, c"source".as_ptr(), source.as_ptr())?;
    for (key, value) in options {
        configure(FSCONFIG_SET_STRING, key.as_ptr(), value.as_ptr())?;
    }
    configure(FSCONFIG_CMD_CREATE, std::ptr::null(), std::ptr::null())?;
    let attributes = (libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV | libc::MOUNT_ATTR_NOEXEC) as libc::c_uint;
    // SAFETY: no pointers are passed.
    let mount = check(unsafe { libc::syscall(libc::SYS_fsmount, context.as_raw_fd(), FSMOUNT_CLOEXEC, attributes) })?;
    // SAFETY: the kernel has just returned this descriptor and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(mount as i32) })
}

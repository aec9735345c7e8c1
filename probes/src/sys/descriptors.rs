//! Descriptors that the process inherited: which there are, what they are, and one that is borrowed by its number.

use std::{
    io, mem,
    os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd},
};

use super::check;

/// Highest descriptor looked for where there is no /proc.
const LAST: RawFd = 4096;

/// Every open descriptor beyond 0, 1 and 2.
///
/// Without /proc each number is asked for; a number beyond [`LAST`] would then stay unseen.
pub fn inherited() -> Vec<RawFd> {
    let mut open: Vec<RawFd> = match std::fs::read_dir("/proc/self/fd") {
        Ok(entries) => entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect(),
        Err(_) => (3..=LAST).collect(),
    };
    // The directory that was just read is closed by now and falls out here.
    open.retain(|fd| *fd > 2 && is_open(*fd));
    open.sort_unstable();
    open
}

fn is_open(fd: RawFd) -> bool {
    // SAFETY: takes no pointer and changes nothing.
    unsafe { libc::fcntl(fd, libc::F_GETFD) != -1 }
}

/// An inherited descriptor, for as long as this process leaves it open.
pub fn borrow(fd: RawFd) -> BorrowedFd<'static> {
    // SAFETY: the number comes from `inherited`, and the probe closes no inherited descriptor while it is looked at.
    unsafe { BorrowedFd::borrow_raw(fd) }
}

/// The type bits of a descriptor's mode (`S_IFMT`): 0 for an anonymous inode.
pub fn mode(fd: BorrowedFd<'_>) -> io::Result<u32> {
    // SAFETY: all zero is a valid `stat`, and the call fills it.
    unsafe {
        let mut status: libc::stat = mem::zeroed();
        check(libc::fstat(fd.as_raw_fd(), &mut status))?;
        Ok(status.st_mode & libc::S_IFMT)
    }
}

/// Whether the descriptor is a namespace (a file of nsfs).
pub fn is_namespace(fd: BorrowedFd<'_>) -> bool {
    const NSFS_MAGIC: libc::c_long = 0x6e73_6673;
    // SAFETY: all zero is a valid `statfs`, and the call fills it.
    unsafe {
        let mut status: libc::statfs = mem::zeroed();
        libc::fstatfs(fd.as_raw_fd(), &mut status) == 0 && status.f_type == NSFS_MAGIC
    }
}

/// Writes to a descriptor where it stands.
pub fn write(fd: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    // SAFETY: the bytes live across the call.
    check(unsafe { libc::write(fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) }).map(|written| written as usize)
}

/// Reads from a descriptor where it stands.
pub fn read(fd: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the buffer is writable and as long as is said.
    check(unsafe { libc::read(fd.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len()) }).map(|read| read as usize)
}

/// Opens the directory that a descriptor stands for once more: what a `chdir` or `openat` through it could do.
pub fn reopen_directory(fd: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC;
    // SAFETY: the path is NUL-terminated; a descriptor that the call answers with is new and ours.
    unsafe { check(libc::openat(fd.as_raw_fd(), c".".as_ptr(), flags)).map(|fd| OwnedFd::from_raw_fd(fd)) }
}

/// Whether the directory's entries can be listed.
pub fn lists(directory: &OwnedFd) -> io::Result<()> {
    let mut entries = [0u64; 128];
    let len = size_of_val(&entries);
    // SAFETY: the buffer is writable and as long as is said.
    let read = unsafe { libc::syscall(libc::SYS_getdents64, directory.as_raw_fd(), entries.as_mut_ptr(), len) };
    check(read).map(drop)
}

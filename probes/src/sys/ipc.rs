//! Objects of inter-process communication that somebody else made: opened by their names, never made here.

use std::{ffi::CStr, io, ptr};

use super::check;

/// Attaches a System V shared memory segment for reading, and lets it go again.
pub fn attach_shared_memory(key: i32) -> io::Result<()> {
    // SAFETY: without IPC_CREAT nothing is made, and no pointer is passed.
    let id = check(unsafe { libc::shmget(key, 0, 0) })?;
    // SAFETY: the kernel chooses the address of a new mapping, which nothing refers to.
    let address = unsafe { libc::shmat(id, ptr::null(), libc::SHM_RDONLY) };
    if address as isize == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the mapping was made in the line before.
    check(unsafe { libc::shmdt(address) }).map(drop)
}

/// Finds a System V semaphore set.
pub fn find_semaphores(key: i32) -> io::Result<()> {
    // SAFETY: without IPC_CREAT nothing is made, and no pointer is passed.
    check(unsafe { libc::semget(key, 0, 0) }).map(drop)
}

/// Finds a System V message queue.
pub fn find_messages(key: i32) -> io::Result<()> {
    // SAFETY: without IPC_CREAT nothing is made, and no pointer is passed.
    check(unsafe { libc::msgget(key, 0) }).map(drop)
}

/// Opens a POSIX message queue for reading, and closes it again.
pub fn open_posix_messages(name: &CStr) -> io::Result<()> {
    // SAFETY: the name ends in NUL; without O_CREAT nothing is made.
    let queue = check(unsafe { libc::mq_open(name.as_ptr(), libc::O_RDONLY | libc::O_NONBLOCK) })?;
    // SAFETY: the queue was opened in the line before.
    check(unsafe { libc::mq_close(queue) }).map(drop)
}

/// Finds a key of type `user` from the session keyring on, and reads it. How long its payload is.
pub fn read_key(description: &CStr) -> io::Result<usize> {
    const KEYCTL_SEARCH: libc::c_long = 10;
    const KEYCTL_READ: libc::c_long = 11;
    const KEY_SPEC_SESSION_KEYRING: libc::c_long = -3;
    let (search, session) = (KEYCTL_SEARCH, KEY_SPEC_SESSION_KEYRING);
    let (kind, description) = (c"user".as_ptr(), description.as_ptr());
    // SAFETY: both strings end in NUL, and the key is linked nowhere.
    let key = check(unsafe { libc::syscall(libc::SYS_keyctl, search, session, kind, description, 0) })?;
    let mut payload = [0u8; 256];
    // SAFETY: the buffer is writable and as long as is said.
    let read = unsafe { libc::syscall(libc::SYS_keyctl, KEYCTL_READ, key, payload.as_mut_ptr(), payload.len()) };
    check(read).map(|len| len as usize)
}

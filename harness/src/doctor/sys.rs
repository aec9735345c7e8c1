//! System calls of the doctor that neither std nor nix offers.

use std::{
    io,
    os::fd::{AsFd, AsRawFd},
};

use nix::{
    errno::Errno,
    sys::{
        prctl,
        signal::{Signal, kill},
        wait::waitpid,
    },
    unistd::{ForkResult, Pid},
};

/// Which of the two processes this is.
pub enum Forked {
    Child,
    Parent(Pid),
}

/// Forks. The child dies with this process.
pub fn fork() -> nix::Result<Forked> {
    let parent = nix::unistd::getpid();
    // SAFETY: the doctor forks before it has a second thread, so no lock is held by a thread that the child lacks.
    match unsafe { nix::unistd::fork() }? {
        ForkResult::Parent { child } => Ok(Forked::Parent(child)),
        ForkResult::Child => {
            // The parent may have ended before the request; in a pid namespace of its own it has no number.
            let orphaned = ![parent, Pid::from_raw(0)].contains(&nix::unistd::getppid());
            if prctl::set_pdeathsig(Signal::SIGKILL).is_err() || orphaned {
                exit_now();
            }
            Ok(Forked::Child)
        }
    }
}

/// Ends this process at once, without anything of the parent's that is registered for its end.
pub fn exit_now() -> ! {
    // SAFETY: _exit ends the process and touches no memory.
    unsafe { libc::_exit(0) }
}

/// Kills and collects a child that was not collected yet, so that its number still means it.
pub fn end(child: Pid) {
    // It has mostly ended by itself.
    let _ = kill(child, Signal::SIGKILL);
    while waitpid(child, None) == Err(Errno::EINTR) {}
}

/// Makes a socket and closes it. Never connects or binds it.
pub fn socket(family: i32, kind: i32, protocol: i32) -> nix::Result<()> {
    // SAFETY: the call takes numbers only.
    let fd = Errno::result(unsafe { libc::socket(family, kind | libc::SOCK_CLOEXEC, protocol) })?;
    // SAFETY: the descriptor was just made and is owned by nobody else.
    unsafe { libc::close(fd) };
    Ok(())
}

/// Puts this process under a filter of system calls that permits all of them.
pub fn install_filter() -> nix::Result<()> {
    let code = (libc::BPF_RET | libc::BPF_K) as u16;
    let mut allow = libc::sock_filter { code, jt: 0, jf: 0, k: libc::SECCOMP_RET_ALLOW };
    let program = libc::sock_fprog { len: 1, filter: &raw mut allow };
    // SAFETY: the program and its one instruction outlive the call, which copies them.
    let result = unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program) };
    Errno::result(result).map(drop)
}

/// The kernel's Landlock ABI version.
pub fn landlock_abi() -> nix::Result<i64> {
    const VERSION: u32 = 1;
    let nothing = std::ptr::null::<u8>();
    // SAFETY: with this flag the attribute must be null and its size 0; nothing is read.
    Errno::result(unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0, VERSION) })
}

/// Sets up an io_uring of one entry and closes it.
pub fn io_uring() -> nix::Result<()> {
    /// `struct io_uring_params`: 120 bytes, all of which may be 0.
    #[repr(C, align(8))]
    struct Params([u8; 120]);
    let mut params = Params([0; 120]);
    // SAFETY: the kernel reads and writes the 120 bytes of the structure, which outlives the call.
    let fd = Errno::result(unsafe { libc::syscall(libc::SYS_io_uring_setup, 1, &raw mut params) })?;
    // SAFETY: the descriptor was just made and is owned by nobody else.
    unsafe { libc::close(fd as i32) };
    Ok(())
}

/// Pushes one byte into the input of this terminal (`TIOCSTI`).
pub fn push_input(terminal: impl AsFd) -> io::Result<()> {
    let byte = b' ';
    // SAFETY: the kernel reads one byte from the pointer.
    let result = unsafe { libc::ioctl(terminal.as_fd().as_raw_fd(), libc::TIOCSTI, &raw const byte) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

//! Processes: children that run one function, their ends, names and programs.

use std::{
    ffi::{CStr, CString},
    io,
    os::fd::{AsRawFd, BorrowedFd},
    ptr,
};

use super::check;

/// A process id of this pid namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pid(pub i32);

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Exited(i32),
    Killed(i32),
}

/// Runs `child` in a forked process and ends that process with its status.
///
/// `fork` comes first because the C library then keeps its own state right (thread ids, the allocator's locks);
/// the bare `clone3` serves where a filter took `clone` away.
pub fn spawn(child: impl FnOnce() -> u8) -> io::Result<Pid> {
    // SAFETY: other threads of the probe only ever wait in one system call, so no lock is held across the fork.
    let forked = check(unsafe { libc::fork() });
    match forked {
        Ok(0) => run_and_exit(child),
        Ok(pid) => Ok(Pid(pid)),
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM)) => spawn_by_clone3(0, child),
        Err(error) => Err(error),
    }
}

/// As [`spawn`], by `clone3` with these flags (`CLONE_NEW*` only: anything that shares memory would be unsound).
pub fn spawn_by_clone3(namespaces: i32, child: impl FnOnce() -> u8) -> io::Result<Pid> {
    const NAMESPACES: i32 = libc::CLONE_NEWUSER | libc::CLONE_NEWNET | libc::CLONE_NEWNS;
    let arguments = CloneArguments {
        flags: (namespaces & NAMESPACES) as u64,
        exit_signal: libc::SIGCHLD as u64,
        ..CloneArguments::default()
    };
    // SAFETY: without CLONE_VM and with no stack given, the child goes on with a copy of this one, as after `fork`.
    let cloned = unsafe { libc::syscall(libc::SYS_clone3, &raw const arguments, size_of::<CloneArguments>()) };
    match check(cloned)? {
        0 => run_and_exit(child),
        pid => Ok(Pid(pid as i32)),
    }
}

/// `struct clone_args`, version 0 (64 bytes), which every kernel with `clone3` takes.
#[repr(C)]
#[derive(Default)]
struct CloneArguments {
    flags: u64,
    pidfd: u64,
    child_tid: u64,
    parent_tid: u64,
    exit_signal: u64,
    stack: u64,
    stack_size: u64,
    tls: u64,
}

fn run_and_exit(child: impl FnOnce() -> u8) -> ! {
    /// A panic must not let a child go on as if it were its parent.
    struct ExitOnPanic;
    impl Drop for ExitOnPanic {
        fn drop(&mut self) {
            exit(70);
        }
    }
    let guard = ExitOnPanic;
    let status = child();
    std::mem::forget(guard);
    exit(status)
}

/// Ends this process at once: no exit handler, no buffer flushed twice.
pub fn exit(status: u8) -> ! {
    // SAFETY: `_exit` does not return and touches no memory.
    unsafe { libc::_exit(i32::from(status)) }
}

/// One child that has ended, if there is one, left to be waited for: until then its pid and group are no one else's.
pub fn ended() -> Option<Pid> {
    // SAFETY: all zero is a valid `siginfo_t`, which the call fills where it finds a child; the pid is then its active field.
    unsafe {
        let mut information: libc::siginfo_t = std::mem::zeroed();
        let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        let pid = check(libc::waitid(libc::P_ALL, 0, &mut information, options)).map(|_| information.si_pid());
        pid.ok().filter(|pid| *pid > 0).map(Pid)
    }
}

/// Waits until this child has ended.
pub fn wait_for(pid: Pid) -> io::Result<End> {
    let mut status = 0;
    loop {
        // SAFETY: `status` is a valid place for the call to write to.
        match check(unsafe { libc::waitpid(pid.0, &mut status, 0) }) {
            Ok(_) if libc::WIFSIGNALED(status) => return Ok(End::Killed(libc::WTERMSIG(status))),
            Ok(_) => return Ok(End::Exited(libc::WEXITSTATUS(status))),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Kills a child of ours and its process group, if it has made one.
pub fn kill_group(pid: Pid) {
    // SAFETY: `kill` takes no pointer. The pid is a child that was not waited for, or a group that is named after it.
    unsafe {
        libc::kill(-pid.0, libc::SIGKILL);
        libc::kill(pid.0, libc::SIGKILL);
    }
}

/// Kills what is left of a group whose leader has ended and was not waited for.
pub fn kill_rest_of_group(pid: Pid) {
    // SAFETY: `kill` takes no pointer.
    unsafe { libc::kill(-pid.0, libc::SIGKILL) };
}

/// A process group of its own, and an end by `SIGKILL` when the thread that forked it ends.
pub fn own_group() {
    // SAFETY: neither call takes a pointer.
    unsafe {
        libc::setpgid(0, 0);
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0);
    }
}

pub fn own_session() -> io::Result<()> {
    // SAFETY: `setsid` takes no pointer.
    check(unsafe { libc::setsid() }).map(drop)
}

/// Names this thread: 15 bytes of `comm`.
pub fn set_name(comm: &str) {
    let mut name = [0u8; 16];
    name.iter_mut().take(15).zip(comm.bytes().filter(|byte| *byte != 0)).for_each(|(to, from)| *to = from);
    // SAFETY: `name` is 16 bytes long and ends with a NUL.
    unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr()) };
}

pub fn own_pid() -> i32 {
    // SAFETY: takes nothing, cannot fail.
    unsafe { libc::getpid() }
}

/// Closes a descriptor that this process inherited and never owned.
pub fn close_inherited(fd: i32) {
    // SAFETY: used only for inherited descriptors, which no `OwnedFd` of this process refers to.
    unsafe { libc::close(fd) };
}

/// Puts `from` in the place of descriptor `to` (0, 1 or 2) of this process.
pub fn replace_standard(from: BorrowedFd<'_>, to: i32) -> io::Result<()> {
    // SAFETY: no `OwnedFd` of the probe refers to 0, 1 or 2.
    check(unsafe { libc::dup2(from.as_raw_fd(), to) })?;
    if from.as_raw_fd() == to {
        // SAFETY: takes no pointer; the descriptor was already in place and only has to survive the exec.
        check(unsafe { libc::fcntl(to, libc::F_SETFD, 0) })?;
    }
    Ok(())
}

/// Executes this program in place of this process. Returns only if it could not.
pub fn execute(program: &CStr, arguments: &[CString]) -> io::Error {
    let mut pointers: Vec<_> =
        std::iter::once(program.as_ptr()).chain(arguments.iter().map(|text| text.as_ptr())).collect();
    pointers.push(ptr::null());
    // SAFETY: the vector is a list of NUL-terminated strings that ends with a null pointer; all outlive the call.
    unsafe { libc::execv(program.as_ptr(), pointers.as_ptr()) };
    io::Error::last_os_error()
}

/// The path by which the kernel executed this program (`AT_EXECFN`): it is there without /proc.
pub fn executed_as() -> Option<CString> {
    // SAFETY: the auxiliary vector's entry is 0 or a NUL-terminated string that lives as long as the process.
    unsafe {
        let path = libc::getauxval(libc::AT_EXECFN) as *const libc::c_char;
        (!path.is_null()).then(|| CStr::from_ptr(path).to_owned())
    }
}

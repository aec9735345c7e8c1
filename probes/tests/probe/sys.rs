//! System calls of the tests: namespaces of the calling thread, links, and what a child does before it executes the probe.

use std::{
    ffi::CString,
    fs, io,
    net::SocketAddr,
    os::fd::{AsRawFd, FromRawFd, OwnedFd},
    os::unix::process::CommandExt,
    process::Command,
};

use nix::{
    mount::{MsFlags, mount},
    sched::{CloneFlags, unshare},
    unistd::{Uid, chroot, getegid, geteuid},
};

/// Uid 0 of a user namespace where this is not root already.
pub fn become_root() {
    if geteuid().is_root() {
        return;
    }
    let (uid, gid) = (geteuid(), getegid());
    unshare(CloneFlags::CLONE_NEWUSER).expect("a user namespace");
    fs::write("/proc/self/setgroups", "deny").expect("setgroups");
    fs::write("/proc/self/uid_map", format!("0 {uid} 1")).expect("uid_map");
    fs::write("/proc/self/gid_map", format!("0 {gid} 1")).expect("gid_map");
    assert_eq!(geteuid(), Uid::from_raw(0));
}

/// A network namespace of this thread's own, loopback up or not.
pub fn new_network(up: bool) {
    unshare(CloneFlags::CLONE_NEWNET).expect("a network namespace");
    if up {
        raise_loopback();
    }
}

fn raise_loopback() {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").expect("a socket");
    // SAFETY: the request is a whole `ifreq`, zeroed and then named, that the call only reads.
    unsafe {
        let mut request: libc::ifreq = std::mem::zeroed();
        request.ifr_name[0] = b'l' as libc::c_char;
        request.ifr_name[1] = b'o' as libc::c_char;
        request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
        assert_eq!(libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS as _, &raw const request), 0, "loopback up");
    }
}

/// The cookie of this thread's network namespace.
pub fn network_cookie() -> u64 {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").expect("a socket");
    let mut cookie = 0u64;
    let mut len = 8;
    // SAFETY: the cookie is 8 writable bytes.
    let asked =
        unsafe { libc::getsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, 71, (&raw mut cookie).cast(), &mut len) };
    assert_eq!(asked, 0, "a cookie");
    cookie
}

/// Makes `setup` run in the child before it executes the program. It must only make system calls.
pub fn before_exec(command: &mut Command, setup: impl FnMut() -> io::Result<()> + Send + Sync + 'static) {
    // SAFETY: every setup of these tests makes bare system calls on memory that was made before the fork.
    unsafe { command.pre_exec(setup) };
}

/// A filter that lets a process go on but answers these system calls with `action` (a `SECCOMP_RET_*`).
pub fn filter(calls: &[i64], action: u32) -> io::Result<()> {
    let statement = |code: u32, k| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k };
    let mut program = vec![statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0)];
    for call in calls {
        let jump = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
        program.push(libc::sock_filter { code: jump, jt: 0, jf: 1, k: *call as u32 });
        program.push(statement(libc::BPF_RET | libc::BPF_K, action));
    }
    program.push(statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW));
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: the program lives across the calls and is as long as is said.
    unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        match libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter) {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Runs on as the first process of a new pid namespace, in an empty read-only root that holds the program alone as `/probe`.
///
/// The caller's process waits for it and ends with its status.
pub fn enter_empty_root(root: &str, program: &str) -> io::Result<()> {
    let namespaces =
        CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWIPC;
    unshare(namespaces)?;
    // SAFETY: between fork and exec this process and its child only make system calls.
    unsafe {
        let child = libc::fork();
        if child > 0 {
            let mut status = 0;
            libc::waitpid(child, &mut status, 0);
            libc::_exit(if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 128 + libc::WTERMSIG(status) });
        }
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
    }
    let nothing: Option<&str> = None;
    mount(nothing, "/", nothing, MsFlags::MS_REC | MsFlags::MS_PRIVATE, nothing)?;
    mount(Some("root"), root, Some("tmpfs"), MsFlags::empty(), nothing)?;
    let inside = format!("{root}/probe");
    fs::write(&inside, "")?;
    mount(Some(program), inside.as_str(), nothing, MsFlags::MS_BIND, nothing)?;
    let read_only = MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY;
    mount(nothing, root, nothing, read_only, nothing)?;
    chroot(root)?;
    std::env::set_current_dir("/")
}

/// Limits the number of a descriptor.
pub fn limit_descriptors(most: u64) -> io::Result<()> {
    nix::sys::resource::setrlimit(nix::sys::resource::Resource::RLIMIT_NOFILE, most, most).map_err(io::Error::from)
}

/// Makes a descriptor survive the exec, under this number.
pub fn hand_down(from: i32, to: i32) -> io::Result<()> {
    // SAFETY: takes no pointer; in the child nothing else owns `to`.
    match unsafe { libc::dup2(from, to) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// A Unix listener on an abstract name.
pub fn abstract_listener(name: &str, kind: i32) -> OwnedFd {
    let mut address = vec![0; 0];
    address.extend((libc::AF_UNIX as u16).to_ne_bytes());
    address.push(0);
    address.extend(name.as_bytes());
    // SAFETY: the address is as long as is said; the descriptor is new and ours.
    unsafe {
        let fd = OwnedFd::from_raw_fd(libc::socket(libc::AF_UNIX, kind | libc::SOCK_CLOEXEC, 0));
        let bound = libc::bind(fd.as_raw_fd(), address.as_ptr().cast(), address.len() as libc::socklen_t);
        assert_eq!(bound, 0, "bound to {name}");
        fd
    }
}

/// A C string.
pub fn c(text: &str) -> CString {
    CString::new(text).expect("no NUL")
}

/// Any address of this loopback port.
pub fn loopback(port: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], port))
}

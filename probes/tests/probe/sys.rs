//! System calls of the tests: namespaces of the calling thread, links, and what a child does before it executes the probe.

use std::{fs, io, os::fd::AsRawFd, os::unix::process::CommandExt, process::Command};

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

/// A directory that every machine has, to mount an empty root over in a mount namespace of its own.
pub const EMPTY_ROOT: &str = "/mnt";

/// Runs on as the first process of a new pid namespace, in an empty read-only root that holds the program alone as `/probe`.
///
/// The caller's process waits for it and ends with its status.
pub fn enter_empty_root(root: &str, program: &str) -> io::Result<()> {
    let namespaces =
        CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWIPC;
    unshare(namespaces)?;
    run_on_in_child();
    let nothing: Option<&str> = None;
    private_mounts()?;
    mount(Some("root"), root, Some("tmpfs"), MsFlags::empty(), nothing)?;
    let inside = format!("{root}/probe");
    fs::write(&inside, "")?;
    mount(Some(program), inside.as_str(), nothing, MsFlags::MS_BIND, nothing)?;
    let read_only = MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY;
    mount(nothing, root, nothing, read_only, nothing)?;
    chroot(root)?;
    std::env::set_current_dir("/")
}

/// Goes on in a child, for which this process waits and with whose status it ends.
fn run_on_in_child() {
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
}

/// Limits the number of a descriptor.
pub fn limit_descriptors(most: u64) -> io::Result<()> {
    nix::sys::resource::setrlimit(nix::sys::resource::Resource::RLIMIT_NOFILE, most, most).map_err(io::Error::from)
}

/// Hands these descriptors down across the exec, numbered from `first` on, and no others but 0, 1 and 2.
pub fn keep_only(descriptors: &[i32], first: i32) -> io::Result<()> {
    for (from, to) in descriptors.iter().zip(first..) {
        // SAFETY: takes no pointer; in the child nothing else owns `to`.
        if unsafe { libc::dup2(*from, to) } == -1 {
            return Err(io::Error::last_os_error());
        }
    }
    let after = first as libc::c_uint + descriptors.len() as libc::c_uint;
    for (from, to) in [(3, first as libc::c_uint - 1), (after, libc::c_uint::MAX)] {
        // SAFETY: takes no pointer; nothing is closed before the exec.
        if unsafe { libc::syscall(libc::SYS_close_range, from, to, libc::CLOSE_RANGE_CLOEXEC) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Gives up every capability for good: uid 0 regains none by an exec.
pub fn drop_privileges() -> io::Result<()> {
    const NOROOT_LOCKED: libc::c_ulong = 3;
    let header = [0x2008_0522u32, 0];
    let nothing = [0u32; 6];
    // SAFETY: header and data are as version 3 of `capset` lays them out.
    unsafe {
        for capability in 0..64 {
            libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0);
        }
        let locked = libc::prctl(libc::PR_SET_SECUREBITS, NOROOT_LOCKED, 0, 0, 0);
        let dropped = libc::syscall(libc::SYS_capset, header.as_ptr(), nothing.as_ptr());
        if locked != 0 || dropped != 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

/// Runs on as the first process of a new pid namespace with a /proc of its own, in a mount namespace of its own.
pub fn enter_pid_namespace() -> io::Result<()> {
    unshare(CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWNS)?;
    run_on_in_child();
    private_mounts()?;
    let nothing: Option<&str> = None;
    mount(Some("proc"), "/proc", Some("proc"), MsFlags::empty(), nothing).map_err(io::Error::from)
}

fn private_mounts() -> io::Result<()> {
    let nothing: Option<&str> = None;
    mount(nothing, "/", nothing, MsFlags::MS_REC | MsFlags::MS_PRIVATE, nothing).map_err(io::Error::from)
}

/// A mount namespace of this thread's own, where `file` stands in the place of `over`.
pub fn cover_file(file: &str, over: &str) {
    unshare(CloneFlags::CLONE_NEWNS).expect("a mount namespace");
    private_mounts().expect("private mounts");
    let nothing: Option<&str> = None;
    mount(Some(file), over, nothing, MsFlags::MS_BIND, nothing).expect("covered");
}

/// A route to 10.9.0.0/16 over loopback, which no kernel makes by itself.
pub fn add_route_over_loopback() {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").expect("a socket");
    let address = |octets: [u8; 4]| {
        let mut data = [0; 14];
        data[2..6].copy_from_slice(&octets.map(|octet| octet as libc::c_char));
        libc::sockaddr { sa_family: libc::AF_INET as u16, sa_data: data }
    };
    // SAFETY: the request is a whole `rtentry`; the device's name is NUL-terminated and lives across the call.
    unsafe {
        let mut request: libc::rtentry = std::mem::zeroed();
        request.rt_dst = address([10, 9, 0, 0]);
        request.rt_genmask = address([255, 255, 0, 0]);
        request.rt_flags = libc::RTF_UP;
        request.rt_dev = c"lo".as_ptr().cast_mut();
        assert_eq!(libc::ioctl(socket.as_raw_fd(), libc::SIOCADDRT as _, &raw const request), 0, "a route");
    }
}

/// Goes on in a child with a network namespace of its own, and in no other one than its parent otherwise.
pub fn run_on_in_child_of_own_network() -> io::Result<()> {
    run_on_in_child();
    unshare(CloneFlags::CLONE_NEWNET).map_err(io::Error::from)
}

/// Whether uid 0 here is uid 0 of the machine, so that every other uid can be taken.
pub fn is_root_of_the_machine() -> bool {
    fs::read_to_string("/proc/self/uid_map").is_ok_and(|map| map.split_whitespace().eq(["0", "0", "4294967295"]))
}

/// Takes another uid and gid, with no further group.
pub fn become_user(id: u32, no_new_privs: bool) -> io::Result<()> {
    nix::unistd::setgroups(&[])?;
    nix::unistd::setresgid(id.into(), id.into(), id.into())?;
    nix::unistd::setresuid(id.into(), id.into(), id.into())?;
    if no_new_privs {
        nix::sys::prctl::set_no_new_privs()?;
    }
    Ok(())
}

/// Limits the number of processes of the uid.
pub fn limit_processes(most: u64) -> io::Result<()> {
    nix::sys::resource::setrlimit(nix::sys::resource::Resource::RLIMIT_NPROC, most, most).map_err(io::Error::from)
}

/// What careless launchers hand down: children that vanish without a status.
pub fn ignore_ends_of_children() -> io::Result<()> {
    // SAFETY: ignoring a signal installs no handler.
    unsafe { nix::sys::signal::signal(nix::sys::signal::SIGCHLD, nix::sys::signal::SigHandler::SigIgn) }?;
    Ok(())
}

/// Takes a terminal, by its number, as the controlling one of this session leader.
pub fn take_terminal(number: i32) -> io::Result<()> {
    // SAFETY: TIOCSCTTY takes an integer.
    match unsafe { libc::ioctl(number, libc::TIOCSCTTY, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// One semaphore under this key.
pub fn make_semaphores(key: i32) {
    // SAFETY: the call takes no pointer.
    let made = unsafe { libc::semget(key, 1, libc::IPC_CREAT | libc::IPC_EXCL | 0o600) };
    assert!(made >= 0, "semaphores: {}", io::Error::last_os_error());
}

//! What the kernel offers to sandboxes and to attempts: filters, socket families, rings, terminals.

use std::fs::{self, File};

use nix::{
    fcntl::OFlag,
    pty::{grantpt, posix_openpt, ptsname_r, unlockpt},
    sys::{
        prctl,
        signal::{SigSet, Signal},
    },
    unistd::setsid,
};
use watertight_reports::doctor::{Finding, Group, State};

use super::{
    namespaces::ordinary_user,
    sys,
    tried::{Step, Tried, finding, in_child},
};

/// Filters, which the reference needs.
pub fn needed() -> Finding {
    finding("seccomp", "seccomp filters", Group::Needed, in_child(seccomp), "set CONFIG_SECCOMP_FILTER")
}

/// What some attempts need, or some sandboxes use. All tried as an ordinary user.
pub fn findings() -> Vec<Finding> {
    let socket = |id: &str, title: &str, [family, kind, protocol]: [i32; 3], remedy: &str| {
        let tried = in_child(|| {
            ordinary_user()?;
            sys::socket(family, kind, protocol).step("socket")?;
            Ok("a socket can be made".into())
        });
        finding(id, title, Group::Attempts, tried, remedy)
    };
    let (inet, stream, dgram) = (libc::AF_INET, libc::SOCK_STREAM, libc::SOCK_DGRAM);
    vec![
        landlock(),
        finding("tun", "/dev/net/tun", Group::Attempts, in_child(tun), "modprobe tun; chmod 666 /dev/net/tun"),
        socket("vsock", "AF_VSOCK", [libc::AF_VSOCK, stream, 0], "modprobe vsock"),
        socket("mptcp", "MPTCP", [inet, stream, libc::IPPROTO_MPTCP], "sysctl -w net.mptcp.enabled=1"),
        socket("sctp", "SCTP", [inet, stream, libc::IPPROTO_SCTP], "modprobe sctp"),
        socket("dccp", "DCCP", [inet, SOCK_DCCP, libc::IPPROTO_DCCP], "modprobe dccp_ipv4 (Linux 6.15 and older)"),
        socket("udp-lite", "UDP-Lite", [inet, dgram, libc::IPPROTO_UDPLITE], "use a kernel with UDP-Lite"),
        finding("io-uring", "io_uring", Group::Attempts, in_child(io_uring), "sysctl -w kernel.io_uring_disabled=0"),
        finding("tiocsti", "TIOCSTI", Group::Attempts, in_child(tiocsti), "sysctl -w dev.tty.legacy_tiocsti=1"),
    ]
}

/// `SOCK_DCCP` (linux/net.h).
const SOCK_DCCP: i32 = 6;

fn seccomp() -> Tried {
    ordinary_user()?;
    prctl::set_no_new_privs().step("set no_new_privs")?;
    sys::install_filter().step("install a filter")?;
    Ok("a filter was installed, with no_new_privs".into())
}

/// Information only: nothing here needs it, sandboxes do.
fn landlock() -> Finding {
    let tried = in_child(|| {
        let abi = sys::landlock_abi().step("landlock_create_ruleset")?;
        Ok(format!("ABI {abi}"))
    });
    let remedy = "boot with lsm=landlock,…";
    let found = finding("landlock", "Landlock", Group::Attempts, tried, remedy);
    Finding { state: if found.state == State::Ok { State::Ok } else { State::Untestable }, ..found }
}

fn tun() -> Tried {
    ordinary_user()?;
    File::options().read(true).write(true).open("/dev/net/tun").step("open /dev/net/tun")?;
    Ok("an ordinary user can open it".into())
}

fn io_uring() -> Tried {
    ordinary_user()?;
    sys::io_uring().step("io_uring_setup")?;
    Ok("an ordinary user can set one up".into())
}

/// On a terminal of its own, which nobody else has.
fn tiocsti() -> Tried {
    ordinary_user()?;
    // The hang-up when this terminal is closed again must not end the attempt before it has answered.
    let mut hang_up = SigSet::empty();
    hang_up.add(Signal::SIGHUP);
    hang_up.thread_block().step("block SIGHUP")?;
    setsid().step("start a session")?;
    let master = posix_openpt(OFlag::O_RDWR | OFlag::O_NOCTTY).step("open a terminal")?;
    grantpt(&master).step("open a terminal")?;
    unlockpt(&master).step("open a terminal")?;
    let name = ptsname_r(&master).step("open a terminal")?;
    // The first terminal that a session's leader opens becomes its own.
    let terminal = File::options().read(true).write(true).open(name).step("open a terminal")?;
    let setting = fs::read_to_string("/proc/sys/dev/tty/legacy_tiocsti").unwrap_or_else(|_| "not there".into());
    let setting = format!("dev.tty.legacy_tiocsti = {}", setting.trim());
    sys::push_input(&terminal).step(&format!("push a byte into a terminal's input ({setting})"))?;
    Ok(format!("input can be pushed into a terminal ({setting})"))
}

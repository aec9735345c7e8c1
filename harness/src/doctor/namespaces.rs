//! Namespaces and the mounts and links in them: as whoever makes worlds, and as an ordinary user.

use std::fs;

use nix::{
    mount::{MsFlags, mount},
    sched::{CloneFlags, unshare},
    sys::{
        prctl,
        socket::{AddressFamily, SockFlag, SockProtocol, SockType, socket},
    },
    unistd::{Gid, Uid, geteuid, setgroups, setresgid, setresuid},
};
use watertight_fixtures::world::{AGENT_ID, EnterError, enter};
use watertight_reports::doctor::{Finding, Group};

use super::{
    link,
    sys::{self, Forked},
    tried::{Failure, Step, Tried, finding, in_child},
};

const CONTAINER: &str = "in a container: run it privileged, or with unmasked /proc and /sys \
                         (`podman run --security-opt unmask=ALL`); elsewhere: unmount what covers parts of them";

/// What every world needs.
pub fn findings() -> Vec<Finding> {
    let needed =
        |id, title, attempt: fn() -> Tried, remedy| finding(id, title, Group::Needed, in_child(attempt), remedy);
    vec![
        needed("user-namespaces", "user namespaces", user_namespace, ""),
        needed("network-namespaces", "network namespaces", network_namespace, "set CONFIG_NET_NS"),
        needed("veth", "veth pairs", veth, "modprobe veth"),
        needed("proc", "a fresh /proc", proc, CONTAINER),
        needed("sysfs", "a fresh /sys", sysfs, CONTAINER),
        needed("packet-capture", "packet capture", packet, "modprobe af_packet"),
    ]
}

/// Whether an overlay can be laid on /etc. Worlds do without, file by file.
pub fn overlay() -> Finding {
    let remedy = "none needed: worlds cover the files of /etc one by one instead";
    finding("overlay", "overlay on /etc", Group::Attempts, in_child(try_overlay), remedy)
}

/// Becomes an ordinary user, where it is root.
pub fn ordinary_user() -> Result<(), Failure> {
    if geteuid().is_root() {
        let (uid, gid) = (Uid::from_raw(AGENT_ID), Gid::from_raw(AGENT_ID));
        setgroups(&[]).step("drop supplementary groups")?;
        setresgid(gid, gid, gid).step("become an ordinary group")?;
        setresuid(uid, uid, uid).step("become an ordinary user")?;
        // Without it the process's own files in /proc stay root's.
        prctl::set_dumpable(true).step("own its own /proc files")?;
    }
    Ok(())
}

/// Gets what making worlds takes: nothing as root, a user namespace otherwise.
fn world_maker() -> Result<(), Failure> {
    enter().map(drop).map_err(|error| entered(&error))
}

fn user_namespace() -> Tried {
    // Each user namespace has a limit of its own: the machine's is meant.
    let limit = fs::read_to_string("/proc/sys/user/max_user_namespaces").unwrap_or_default();
    ordinary_user()?;
    world_maker()?;
    Ok(format!("an ordinary user can make them (user.max_user_namespaces = {})", limit.trim()))
}

fn entered(error: &EnterError) -> Failure {
    const APPARMOR: &str = "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0";
    let (what, errno, remedy) = match error {
        EnterError::Unshare(errno, advice) => {
            (format!("unshare(CLONE_NEWUSER): {}", errno_name(*errno)), *errno as i32, (*advice).to_owned())
        }
        EnterError::Map { uid, source } => {
            let errno = source.raw_os_error().unwrap_or(0);
            (format!("map uid {uid} in a new user namespace: {source}"), errno, APPARMOR.to_owned())
        }
        EnterError::Powerless(errno) => {
            let what = format!("a new user namespace gives no capability: {}", errno_name(*errno));
            (what, *errno as i32, APPARMOR.to_owned())
        }
        other @ (EnterError::Cookie(_) | EnterError::Capabilities(_)) => {
            (other.to_string(), 0, "use Linux 5.14 or newer, with /proc mounted".to_owned())
        }
    };
    Failure { what, errno, remedy: Some(remedy) }
}

fn errno_name(errno: nix::errno::Errno) -> String {
    crate::describe::errno_name(errno as i32)
}

fn network_namespace() -> Tried {
    world_maker()?;
    unshare(CloneFlags::CLONE_NEWNET).step("unshare(CLONE_NEWNET)")?;
    Ok("made".into())
}

fn veth() -> Tried {
    network_namespace()?;
    link::make_veth().step("make a veth pair")?;
    Ok("made in a network namespace of its own".into())
}

fn packet() -> Tried {
    network_namespace()?;
    let (family, kind) = (AddressFamily::Packet, SockType::Raw);
    socket(family, kind, SockFlag::SOCK_CLOEXEC, SockProtocol::EthAll).step("socket(AF_PACKET)")?;
    Ok("AF_PACKET opens in a network namespace of its own".into())
}

/// Makes the mounts private in a mount namespace of its own.
fn own_mounts(also: CloneFlags) -> Result<(), Failure> {
    world_maker()?;
    unshare(CloneFlags::CLONE_NEWNS | also).step("unshare(CLONE_NEWNS)")?;
    let none = None::<&str>;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none).step("make the mounts private")
}

fn proc() -> Tried {
    own_mounts(CloneFlags::CLONE_NEWPID)?;
    // Only a process in the new namespace can mount its /proc.
    let (read, write) = nix::unistd::pipe().step("make a pipe")?;
    match sys::fork().step("fork")? {
        Forked::Child => {
            let mounted = mount(Some("proc"), "/proc", Some("proc"), MsFlags::empty(), None::<&str>);
            let errno = mounted.err().map_or(0, |errno| errno as i32);
            let _ = nix::unistd::write(&write, &errno.to_ne_bytes());
            sys::exit_now()
        }
        Forked::Parent(child) => {
            drop(write);
            let mut errno = [0; 4];
            let len = nix::unistd::read(&read, &mut errno).step("read the answer");
            sys::end(child);
            match (len?, i32::from_ne_bytes(errno)) {
                (4, 0) => Ok("mounts in namespaces of its own".into()),
                (4, errno) => Err(nix::errno::Errno::from_raw(errno)).step("mount proc"),
                (..) => Err(nix::errno::Errno::EIO).step("mount proc"),
            }
        }
    }
}

fn sysfs() -> Tried {
    own_mounts(CloneFlags::CLONE_NEWNET)?;
    mount(Some("sysfs"), "/sys", Some("sysfs"), MsFlags::MS_RDONLY, None::<&str>).step("mount sysfs")?;
    Ok("mounts in namespaces of its own".into())
}

fn try_overlay() -> Tried {
    own_mounts(CloneFlags::empty())?;
    mount(Some("tmpfs"), "/tmp", Some("tmpfs"), MsFlags::empty(), None::<&str>).step("mount tmpfs")?;
    fs::create_dir("/tmp/etc").step("make a directory")?;
    mount(Some("overlay"), "/etc", Some("overlay"), MsFlags::MS_RDONLY, Some("lowerdir=/tmp/etc:/etc"))
        .step("mount overlay")?;
    Ok("mounts".into())
}

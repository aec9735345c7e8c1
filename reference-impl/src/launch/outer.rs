//! The launcher's own user and mount namespaces, and the directory of the relay sockets in them.
//!
//! The directory is a tmpfs that no other namespace has: however the launcher ends, the kernel removes it.

use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use nix::sched::{CloneFlags, unshare};
use nix::unistd::{Gid, Uid, fchdir, getegid, geteuid, setfsgid, setfsuid};

use super::error::{LaunchError, Step};
use super::identity::Identity;
use crate::guards::Guards;
use crate::relay::{Listener, listen_with};
use crate::sys::mount::{attach, detached_tmpfs};

pub(crate) const PROVIDER_SOCKET: &str = "provider.sock";
pub(crate) const INSTANCE_SOCKET: &str = "instance.sock";

/// How the mount is called in the launcher's `mountinfo`.
const SOURCE: &str = "watertight-sockets";
/// Where it can be attached: directories that the launcher itself has no use for.
const MOUNT_POINTS: [&str; 4] = ["/mnt", "/media", "/srv", "/tmp"];

/// Enters a user namespace, where the user keeps its uid and gid, and a mount namespace. Needs a single thread.
pub(crate) fn enter_own_namespaces(identity: &Identity) -> Result<(), LaunchError> {
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS).map_err(|errno| {
        LaunchError::kernel("make a user namespace", errno.into(), advice_on_user_namespaces(errno))
    })?;
    map_user(identity.uid, identity.gid, true)
}

/// Maps one uid and one gid onto themselves; no group can be set or dropped there.
pub(crate) fn map_user(uid: u32, gid: u32, deny_setgroups: bool) -> Result<(), LaunchError> {
    let advice = "; is /proc mounted?";
    if deny_setgroups {
        std::fs::write("/proc/self/setgroups", "deny").step_or("deny setgroups", advice)?;
    }
    std::fs::write("/proc/self/uid_map", format!("{uid} {uid} 1")).step_or("map the uid", advice)?;
    std::fs::write("/proc/self/gid_map", format!("{gid} {gid} 1")).step_or("map the gid", advice)
}

/// The relay sockets and the detached mount that they live in.
pub(crate) struct Sockets {
    pub directory: OwnedFd,
    pub provider: UnixListener,
    pub instance: Option<UnixListener>,
}

impl Sockets {
    /// Listens on fresh sockets. The working directory is their directory afterwards.
    pub(crate) fn listen<G: Guards>(with_instance: bool) -> Result<Self, LaunchError> {
        Self::listen_as::<G>(with_instance, None)
    }

    /// The same for another user, where root calls: directory and sockets are that user's from their first moment.
    pub(crate) fn listen_as<G: Guards>(with_instance: bool, owner: Option<&Identity>) -> Result<Self, LaunchError> {
        let (uid, gid) = owner.map_or_else(|| (geteuid().as_raw(), getegid().as_raw()), |owner| (owner.uid, owner.gid));
        let id = |number: u32| CString::new(number.to_string()).unwrap_or_default();
        let mode = CString::new(format!("{:o}", G::socket_directory_mode())).unwrap_or_default();
        let source = CString::new(SOURCE).unwrap_or_default();
        let (user, group) = (id(uid), id(gid));
        let mut options: Vec<(&CStr, &CStr)> = vec![(c"mode", &mode), (c"size", c"1m"), (c"nr_inodes", c"16")];
        if owner.is_some() {
            options.extend([(c"uid", user.as_c_str()), (c"gid", group.as_c_str())]);
        }
        let directory = detached_tmpfs(&source, &options)
            .step_or("make a tmpfs for the relay sockets", "; Linux 5.12 or newer with CONFIG_TMPFS is needed")?;
        fchdir(&directory).step("enter the directory of the relay sockets")?;
        let listen = |name: &str| listen_with::<G>(Path::new(name)).map(Listener::leave_file);
        let both = || Ok((listen(PROVIDER_SOCKET)?, with_instance.then(|| listen(INSTANCE_SOCKET)).transpose()?));
        let (provider, instance) = as_owner(uid, gid, both)?;
        Ok(Self { directory, provider, instance })
    }

    /// Attaches the directory in the launcher's own mount namespace, so that it can be looked at from outside. The
    /// sandbox, which was made before, has a copy of that namespace without it.
    pub(crate) fn attach(&self) -> Result<(), LaunchError> {
        let place = MOUNT_POINTS.iter().map(Path::new).find(|place| place.is_dir()).unwrap_or(Path::new("/tmp"));
        self.attach_at(place)
    }

    /// Attaches the directory there.
    pub(crate) fn attach_at(&self, place: &Path) -> Result<(), LaunchError> {
        attach(&self.directory, place).step(format!("mount the relay sockets on {}", place.display()))
    }
}

/// Does this while new files belong to that user and group.
fn as_owner<T>(uid: u32, gid: u32, work: impl FnOnce() -> Result<T, LaunchError>) -> Result<T, LaunchError> {
    let group = setfsgid(Gid::from_raw(gid));
    let user = setfsuid(Uid::from_raw(uid));
    let done = work();
    setfsuid(user);
    setfsgid(group);
    done
}

/// Where the relay sockets of a running launcher can be seen by whoever may trace it.
pub fn socket_directory(launcher: u32) -> std::io::Result<PathBuf> {
    let mounts = std::fs::read_to_string(format!("/proc/{launcher}/mountinfo"))?;
    let is_ours = |line: &&str| line.rsplit_once(" - ").is_some_and(|(_, tail)| tail.split(' ').nth(1) == Some(SOURCE));
    let place = mounts.lines().find(is_ours).and_then(|line| line.split(' ').nth(4));
    let place =
        place.ok_or_else(|| std::io::Error::new(std::io::ErrorKind::NotFound, "the process has no relay sockets"))?;
    Ok(PathBuf::from(format!("/proc/{launcher}/root{place}")))
}

/// What forbids user namespaces here, as far as the kernel's settings say.
fn advice_on_user_namespaces(errno: nix::Error) -> &'static str {
    let setting =
        |name: &str| std::fs::read_to_string(format!("/proc/sys/{name}")).ok().map(|text| text.trim().to_owned());
    if setting("user/max_user_namespaces").as_deref() == Some("0") {
        "; set user.max_user_namespaces to 1000 or more with sysctl"
    } else if setting("kernel/unprivileged_userns_clone").as_deref() == Some("0") {
        "; set kernel.unprivileged_userns_clone=1 with sysctl"
    } else if setting("kernel/apparmor_restrict_unprivileged_userns").as_deref() == Some("1") {
        "; give this program an AppArmor profile with `userns,`, or set kernel.apparmor_restrict_unprivileged_userns=0"
    } else {
        match errno {
            nix::Error::ENOSPC => "; raise user.max_user_namespaces with sysctl, here or in the container around",
            nix::Error::EINVAL => "; a kernel with CONFIG_USER_NS is needed, and a launcher with a single thread",
            _ => "; a system call filter or a chroot around the launcher forbids it",
        }
    }
}

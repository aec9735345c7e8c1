//! A /dev that holds the devices every program expects, and nothing of the machine.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::path::Path;

use nix::mount::{MsFlags, mount};

use super::error::{LaunchError, Step};
use crate::sys::mount::{Attributes, attach, clone_tree, set_attributes};

const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];
const LINKS: [(&str, &str); 5] = [
    ("/proc/self/fd", "/dev/fd"),
    ("/proc/self/fd/0", "/dev/stdin"),
    ("/proc/self/fd/1", "/dev/stdout"),
    ("/proc/self/fd/2", "/dev/stderr"),
    ("pts/ptmx", "/dev/ptmx"),
];

/// The device files of the host that a sandbox gets, taken before they are covered or made useless by `nodev`.
pub(crate) struct Devices(Vec<(String, OwnedFd)>);

impl Devices {
    pub(crate) fn take() -> Result<Self, LaunchError> {
        let take = |name: &&str| {
            let path = format!("/dev/{name}");
            let tree = clone_tree(Path::new(&path)).step(format!("take {path}"))?;
            Ok((path, tree))
        };
        DEVICES.iter().map(take).collect::<Result<_, _>>().map(Self)
    }

    /// Mounts a fresh /dev with these devices, a devpts of its own and a fresh /dev/shm.
    pub(crate) fn mount(self) -> Result<(), LaunchError> {
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC;
        mount(Some("tmpfs"), "/dev", Some("tmpfs"), flags, Some("mode=755,nr_inodes=64")).step("mount a fresh /dev")?;
        for (path, tree) in self.0 {
            fs::File::create(&path).step(format!("make {path}"))?;
            attach(tree, Path::new(&path)).step(format!("mount {path}"))?;
        }
        for (target, link) in LINKS {
            symlink(target, link).step(format!("link {link}"))?;
        }
        for directory in ["/dev/pts", "/dev/shm"] {
            fs::create_dir(directory).step(format!("make {directory}"))?;
        }
        mount(Some("devpts"), "/dev/pts", Some("devpts"), flags, Some("newinstance,ptmxmode=0666,mode=620"))
            .step_or("mount a fresh /dev/pts", "; CONFIG_UNIX98_PTYS is needed")?;
        let shm = flags | MsFlags::MS_NODEV;
        mount(Some("tmpfs"), "/dev/shm", Some("tmpfs"), shm, Some("mode=1777")).step("mount a fresh /dev/shm")?;
        set_attributes(Path::new("/dev"), Attributes { read_only: true, ..Attributes::default() }, false)
            .step("make /dev read-only")
    }
}

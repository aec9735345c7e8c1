//! What the world's root gets of the kernel here: of the rest no attempt could show anything.

use std::{
    fs::{self, OpenOptions},
    os::unix::fs::OpenOptionsExt,
    path::PathBuf,
    sync::OnceLock,
};

use watertight_fixtures::world::World;
use watertight_probe::plan::KernelCall;

/// Who is in the cgroup that a world has of its own.
pub const CGROUP: &str = "/sys/fs/cgroup/cgroup.procs";

/// Files by which the kernel is set for every process of the machine. They are opened, and never written.
pub const KERNEL_FILES: [&str; 6] = [
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/modprobe",
    "/proc/sysrq-trigger",
    "/proc/irq/default_smp_affinity",
    "/sys/kernel/uevent_helper",
    CGROUP,
];

/// Devices that do something, where a machine has them.
pub const NODES: [&str; 2] = ["/dev/net/tun", "/dev/fuse"];

/// Everything that is asked for: paths, and names of system calls.
pub fn asked() -> Vec<String> {
    let calls = KernelCall::ALL.map(KernelCall::name);
    KERNEL_FILES.into_iter().chain(NODES).chain(calls).map(str::to_owned).collect()
}

/// Whether this kernel lets anybody type into a terminal that controls it (`dev.tty.legacy_tiocsti`, Linux 6.2).
pub fn typing() -> bool {
    fs::read_to_string("/proc/sys/dev/tty/legacy_tiocsti").map_or(true, |text| text.trim() != "0")
}

/// [`spare_here`] in the world. The same in every world of a process, so that it is asked once.
pub fn spare(world: &World) -> Option<PathBuf> {
    static SPARE: OnceLock<Option<PathBuf>> = OnceLock::new();
    SPARE.get_or_init(|| world.in_host_files(spare_here).unwrap_or_default()).clone()
}

/// A directory in which nothing is: what is mounted on it hides nothing.
pub fn spare_here() -> Option<PathBuf> {
    let is_empty = |place: &&str| fs::read_dir(place).is_ok_and(|mut entries| entries.next().is_none());
    ["/srv", "/media", "/mnt"].iter().find(|place| is_empty(place)).map(PathBuf::from)
}

/// What of it the world's root gets. The same in every world of a process, so that it is asked once.
pub fn by(world: &World) -> Vec<String> {
    static GRANTED: OnceLock<Vec<String>> = OnceLock::new();
    GRANTED.get_or_init(|| world.in_host_files(here).unwrap_or_default()).clone()
}

/// What of it the calling thread gets: paths, and names of system calls.
pub fn here() -> Vec<String> {
    let opens = |path: &&str| {
        let mut options = OpenOptions::new();
        options.read(NODES.contains(path)).write(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
        options.open(path).is_ok()
    };
    let files = KERNEL_FILES.into_iter().chain(NODES).filter(opens);
    let calls = KernelCall::ALL.into_iter().filter(|call| call.is_granted()).map(KernelCall::name);
    files.chain(calls).map(str::to_owned).collect()
}

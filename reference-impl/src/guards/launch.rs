//! The defences of the launcher and the bridge: one function each, up unless overridden.

use std::{io, os::fd::OwnedFd};

use crate::relay::Bearer;

/// The namespaces that a sandbox gets of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Namespaces {
    pub user: bool,
    pub network: bool,
    pub mount: bool,
    pub pid: bool,
    pub ipc: bool,
    pub uts: bool,
    pub cgroup: bool,
}

impl Namespaces {
    pub const ALL: Self =
        Self { user: true, network: true, mount: true, pid: true, ipc: true, uts: true, cgroup: true };
}

/// The capability sets of a thread. Those that are not dropped are carried across exec as far as they can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapSets {
    pub effective: bool,
    pub permitted: bool,
    pub inheritable: bool,
    pub bounding: bool,
    pub ambient: bool,
}

impl CapSets {
    pub const ALL: Self = Self { effective: true, permitted: true, inheritable: true, bounding: true, ambient: true };
}

/// How a rule of the system call filter compares an argument that the kernel truncates to 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// As the kernel does: the high half is not looked at.
    Low32,
    /// All 64 bits, which a caller evades by setting one that the kernel ignores.
    Whole64,
    /// No rule at all.
    Absent,
}

/// Which families of sockets the workload is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Families {
    /// All but Unix, IPv4, IPv6 and routing netlink.
    AllOthers,
    /// Only the one that network namespaces are known not to confine.
    Vsock(Comparison),
    None,
}

/// The defences of the launcher and the bridge.
pub trait LaunchGuards: Send + Sync + 'static {
    // Identity and namespaces
    /// Started as root, the launcher becomes an ordinary user, so the workload's uid outside is never 0.
    fn becomes_ordinary_user() -> bool {
        true
    }
    fn drops_supplementary_groups() -> bool {
        true
    }
    fn namespaces() -> Namespaces {
        Namespaces::ALL
    }
    /// Something missing stops the launch, and the command is never executed.
    fn stops_at_first_failure() -> bool {
        true
    }
    /// `user.max_user_namespaces` of the sandbox is 0.
    fn forbids_user_namespaces_by_limit() -> bool {
        true
    }
    fn hides_host_name() -> bool {
        true
    }
    /// A way out of the sandbox's network beside the relays: none. Asked while the launcher, a single thread, is still in
    /// the host's namespaces.
    fn way_out() -> Option<OwnedFd> {
        None
    }
    /// What init, with loopback raised, does with [`Self::way_out`].
    fn lead_out(_way_out: OwnedFd) -> io::Result<()> {
        Ok(())
    }

    // What a workload would inherit
    fn closes_inherited_descriptors() -> bool {
        true
    }
    fn passes_environment_by_allow_list() -> bool {
        true
    }
    /// HOME and TMPDIR are directories of this spawn alone, never the workspace.
    fn gives_fresh_home() -> bool {
        true
    }
    fn starts_new_session() -> bool {
        true
    }
    fn joins_fresh_session_keyring() -> bool {
        true
    }
    fn forbids_core_dumps() -> bool {
        true
    }

    /// What the workload shows to the provider's relay: drawn anew for each spawn.
    fn bearer() -> io::Result<Bearer> {
        Bearer::generate()
    }

    // Privileges
    fn capability_sets_to_drop() -> CapSets {
        CapSets::ALL
    }
    fn sets_no_new_privs() -> bool {
        true
    }
    fn locks_securebits() -> bool {
        true
    }

    // The system call filter
    fn filters_system_calls() -> bool {
        true
    }
    fn denies_socket_families() -> Families {
        Families::AllOthers
    }
    /// TIOCSTI and TIOCLINUX.
    fn denies_terminal_injection() -> Comparison {
        Comparison::Low32
    }
    fn denies_io_uring() -> bool {
        true
    }
    /// CLONE_NEWUSER of clone and unshare.
    fn denies_user_namespaces() -> bool {
        true
    }
    /// clone3, whose flags no filter can see.
    fn denies_clone3() -> bool {
        true
    }
    fn denies_keyrings() -> bool {
        true
    }
    /// The mount family and setns.
    fn denies_mounts() -> bool {
        true
    }
    /// bpf, userfaultfd, perf_event_open, open_by_handle_at, kexec, modules and the like.
    fn denies_kernel_interfaces() -> bool {
        true
    }
    /// Calls of i386 and x32.
    fn kills_foreign_architectures() -> bool {
        true
    }

    // The file system
    fn makes_root_read_only() -> bool {
        true
    }
    fn forbids_setuid_and_devices() -> bool {
        true
    }
    fn makes_mounts_private() -> bool {
        true
    }
    /// /tmp and /var/tmp.
    fn covers_temporary_directories() -> bool {
        true
    }
    fn covers_run() -> bool {
        true
    }
    /// $HOME, /home and /root.
    fn covers_homes() -> bool {
        true
    }
    fn covers_sys() -> bool {
        true
    }
    /// /dev holds null, zero, full, random, urandom, tty, a pts of its own and a fresh /dev/shm.
    fn gives_minimal_dev() -> bool {
        true
    }
    fn mounts_fresh_proc() -> bool {
        true
    }
    /// A process shows only those that it may trace, which init never is.
    fn hides_untraceable_processes() -> bool {
        true
    }
    fn neutralises_resolver() -> bool {
        true
    }
    fn hides_key_file() -> bool {
        true
    }
    /// Pathname sockets that listen in directories which stay visible: a read-only mount does not stop `connect`.
    fn hides_host_sockets() -> bool {
        true
    }

    // The launcher and init
    /// The key is read when the sandbox's memory is already a copy of its own.
    fn reads_key_after_clone() -> bool {
        true
    }
    fn launcher_is_untraceable() -> bool {
        true
    }
    fn init_is_untraceable() -> bool {
        true
    }
    /// Init's copy of the launcher's command line and environment is overwritten.
    fn init_forgets_launcher_strings() -> bool {
        true
    }
    fn init_drops_privileges() -> bool {
        true
    }
    fn init_reaps_orphans() -> bool {
        true
    }
    fn init_ends_with_launcher() -> bool {
        true
    }
    /// A signal to the launcher goes on to the sandbox.
    fn forwards_signal(_signal: i32) -> bool {
        true
    }
    fn socket_directory_mode() -> u32 {
        0o700
    }

    // The bridge
    /// The end of one direction leaves the other one open.
    fn bridge_keeps_half_open_streams() -> bool {
        true
    }
    /// A client that has closed, as against one that has ended its request, hangs up on the relay.
    fn bridge_tells_closed_from_half_closed() -> bool {
        true
    }
    /// The relay's hang-up reaches the client at once.
    fn bridge_passes_hang_up_to_client() -> bool {
        true
    }
    fn bridge_passes_reset_to_relay() -> bool {
        true
    }
    fn bridge_limits_connections() -> bool {
        true
    }
}

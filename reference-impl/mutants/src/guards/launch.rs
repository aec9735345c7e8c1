//! The defences of the launcher and the bridge.

use std::{io, os::fd::OwnedFd};

use watertight_reference::{
    guards::{CapSets, Comparison, Families, LaunchGuards, Namespaces},
    relay::Bearer,
};

use super::Mutant;
use crate::{
    way,
    which::{any, is},
};

impl LaunchGuards for Mutant {
    fn namespaces() -> Namespaces {
        Namespaces {
            network: !any(&["share-network", "share-network-and-user-namespaces"]),
            pid: !is("share-pid"),
            ipc: !is("share-ipc"),
            uts: !is("share-uts"),
            cgroup: !is("share-cgroup"),
            ..Namespaces::ALL
        }
    }

    fn stops_at_first_failure() -> bool {
        !any(&["go-on-after-failure", "share-network", "share-network-and-user-namespaces"])
    }

    fn forbids_user_namespaces_by_limit() -> bool {
        !any(&[
            "allow-user-namespaces",
            "allow-clone3",
            "allow-unshare",
            "share-network-and-user-namespaces",
            // It is set by the /proc that this one does not mount.
            "share-pid",
        ])
    }

    fn hides_host_name() -> bool {
        // The name that is shared is not the sandbox's to set.
        !is("share-uts")
    }

    fn way_out() -> Option<OwnedFd> {
        if is("open-a-third-port") {
            // It only has to be something: init opens the port by itself.
            return std::fs::File::open("/dev/null").ok().map(OwnedFd::from);
        }
        way::out()
    }

    fn lead_out(way_out: OwnedFd) -> io::Result<()> {
        if is("open-a-third-port") {
            // Open as long as init lives.
            std::mem::forget(std::net::TcpListener::bind("127.0.0.1:9229")?);
            return Ok(());
        }
        way::lead(way_out)
    }

    fn closes_inherited_descriptors() -> bool {
        !is("inherit-descriptors")
    }

    fn passes_environment_by_allow_list() -> bool {
        !is("keep-environment")
    }

    fn gives_fresh_home() -> bool {
        !is("keep-home")
    }

    fn starts_new_session() -> bool {
        !is("keep-session")
    }

    fn joins_fresh_session_keyring() -> bool {
        !is("keep-session-keyring")
    }

    fn bearer() -> io::Result<Bearer> {
        if is("constant-bearer") { Ok(Bearer::known("c".repeat(43))) } else { Bearer::generate() }
    }

    fn capability_sets_to_drop() -> CapSets {
        CapSets {
            bounding: !any(&["keep-bounding-set", "keep-all-sets", "keep-bounding-and-inheritable-sets"]),
            inheritable: !any(&["keep-inheritable-set", "keep-bounding-and-inheritable-sets"]),
            permitted: !any(&["keep-inheritable-set", "keep-bounding-and-inheritable-sets"]),
            ambient: !any(&["keep-ambient-set", "keep-all-sets", "keep-ambient-set-and-mounts", "leak-raw"]),
            ..CapSets::ALL
        }
    }

    fn sets_no_new_privs() -> bool {
        !any(&["allow-new-privs", "allow-new-privs-and-setuid"])
    }

    fn denies_socket_families() -> Families {
        if is("allow-all-families") {
            Families::None
        } else if is("compare-family-as-64-bits") {
            Families::Vsock(Comparison::Whole64)
        } else {
            Families::AllOthers
        }
    }

    fn denies_io_uring() -> bool {
        !is("allow-io-uring")
    }

    fn denies_user_namespaces() -> bool {
        !any(&["allow-user-namespaces", "allow-unshare", "share-network-and-user-namespaces"])
    }

    fn denies_clone3() -> bool {
        !any(&["allow-user-namespaces", "allow-clone3", "share-network-and-user-namespaces"])
    }

    fn denies_keyrings() -> bool {
        !any(&["allow-keyrings", "keep-session-keyring"])
    }

    fn denies_mounts() -> bool {
        !is("keep-ambient-set-and-mounts")
    }

    fn denies_kernel_interfaces() -> bool {
        !is("allow-kernel-interfaces")
    }

    fn forbids_setuid_and_devices() -> bool {
        !any(&["allow-new-privs-and-setuid", "share-devices"])
    }

    fn makes_root_read_only() -> bool {
        !any(&["keep-home", "keep-temporary", "share-sys"])
    }

    fn covers_sys() -> bool {
        !is("share-sys")
    }

    fn gives_minimal_dev() -> bool {
        !any(&["share-dev", "share-devices"])
    }

    fn mounts_fresh_proc() -> bool {
        // The namespace that is shared is not the sandbox's to mount.
        !is("share-pid")
    }

    fn hides_untraceable_processes() -> bool {
        !is("traceable-init")
    }

    fn covers_temporary_directories() -> bool {
        !any(&["share-tmp", "keep-temporary"])
    }

    fn covers_run() -> bool {
        !is("share-run")
    }

    fn covers_homes() -> bool {
        !any(&["share-home", "key-file-in-view", "keep-home"])
    }

    fn hides_key_file() -> bool {
        !is("key-file-in-view")
    }

    fn hides_host_sockets() -> bool {
        !is("show-host-sockets")
    }

    fn launcher_is_untraceable() -> bool {
        // Init begins as a copy of it.
        !is("traceable-init")
    }

    fn init_is_untraceable() -> bool {
        !is("traceable-init")
    }

    fn init_ends_with_launcher() -> bool {
        !is("outlive-launcher")
    }

    fn forwards_signal(signal: i32) -> bool {
        signal != libc::SIGTERM || !is("swallow-signals")
    }

    fn socket_directory_mode() -> u32 {
        if is("directory-mode-open") { 0o755 } else { 0o700 }
    }

    fn bridge_keeps_half_open_streams() -> bool {
        !is("end-on-half-close")
    }

    fn bridge_tells_closed_from_half_closed() -> bool {
        !is("mistake-close-for-half-close")
    }

    fn bridge_passes_hang_up_to_client() -> bool {
        !is("keep-client-on-upstream-end")
    }

    fn bridge_passes_reset_to_relay() -> bool {
        !is("mistake-close-for-half-close")
    }
}

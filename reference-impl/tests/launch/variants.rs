//! The launcher with one defence taken down, by name.

use std::ffi::OsString;

use watertight_reference::guards::{
    AllUp, CapSets, Comparison, Families, Guards, LaunchGuards, Namespaces, RelayGuards,
};

/// What is done with a set of guards.
pub trait With {
    fn with<G: Guards>(self, arguments: Vec<OsString>) -> i32;
}

macro_rules! variants {
    ($($name:literal $type:ident { $($body:tt)* })*) => {
        $(
            struct $type;
            impl LaunchGuards for $type { $($body)* }
            impl RelayGuards for $type {}
            impl Guards for $type {}
        )*

        /// The relays' sockets made too wide.
        struct WideSocket;
        impl LaunchGuards for WideSocket {}
        impl RelayGuards for WideSocket {
            fn socket_mode() -> u32 {
                0o666
            }
        }
        impl Guards for WideSocket {}

        /// Calls `with` with the guards of this name; the empty name has all of them up.
        pub fn dispatch(name: &str, with: impl With, arguments: Vec<OsString>) -> i32 {
            match name {
                "" => with.with::<AllUp>(arguments),
                "wide-socket" => with.with::<WideSocket>(arguments),
                $($name => with.with::<$type>(arguments),)*
                other => panic!("no variant is called {other}"),
            }
        }
    };
}

variants! {
    "keep-descriptors" KeepDescriptors { fn closes_inherited_descriptors() -> bool { false } }
    "keep-environment" KeepEnvironment { fn passes_environment_by_allow_list() -> bool { false } }
    "keep-home" KeepHome { fn gives_fresh_home() -> bool { false } }
    "keep-session" KeepSession { fn starts_new_session() -> bool { false } }
    "allow-keyrings" AllowKeyrings { fn denies_keyrings() -> bool { false } }
    "keep-keyring" KeepKeyring {
        fn denies_keyrings() -> bool { false }
        fn joins_fresh_session_keyring() -> bool { false }
    }
    "allow-core" AllowCore { fn forbids_core_dumps() -> bool { false } }
    "keep-bounding" KeepBounding {
        fn capability_sets_to_drop() -> CapSets { CapSets { bounding: false, ..CapSets::ALL } }
    }
    "keep-inheritable" KeepInheritable {
        fn capability_sets_to_drop() -> CapSets { CapSets { inheritable: false, permitted: false, ..CapSets::ALL } }
    }
    "keep-ambient" KeepAmbient {
        fn capability_sets_to_drop() -> CapSets { CapSets { ambient: false, ..CapSets::ALL } }
    }
    "allow-new-privileges" AllowNewPrivileges { fn sets_no_new_privs() -> bool { false } }
    "open-securebits" OpenSecurebits { fn locks_securebits() -> bool { false } }
    "no-filter" NoFilter { fn filters_system_calls() -> bool { false } }
    "allow-families" AllowFamilies { fn denies_socket_families() -> Families { Families::None } }
    "allow-injection" AllowInjection { fn denies_terminal_injection() -> Comparison { Comparison::Absent } }
    "compare-64-bits" Compare64Bits { fn denies_terminal_injection() -> Comparison { Comparison::Whole64 } }
    "allow-io-uring" AllowIoUring { fn denies_io_uring() -> bool { false } }
    "allow-user-namespaces" AllowUserNamespaces { fn denies_user_namespaces() -> bool { false } }
    "unlimited-user-namespaces" UnlimitedUserNamespaces {
        fn denies_user_namespaces() -> bool { false }
        fn forbids_user_namespaces_by_limit() -> bool { false }
    }
    "allow-clone3" AllowClone3 { fn denies_clone3() -> bool { false } }
    "allow-mounts" AllowMounts { fn denies_mounts() -> bool { false } }
    "allow-kernel-interfaces" AllowKernelInterfaces { fn denies_kernel_interfaces() -> bool { false } }
    "allow-foreign" AllowForeign { fn kills_foreign_architectures() -> bool { false } }
    "writable-root" WritableRoot { fn makes_root_read_only() -> bool { false } }
    "allow-setuid" AllowSetuid { fn forbids_setuid_and_devices() -> bool { false } }
    "shared-mounts" SharedMounts { fn makes_mounts_private() -> bool { false } }
    "show-tmp" ShowTmp { fn covers_temporary_directories() -> bool { false } }
    "show-run" ShowRun { fn covers_run() -> bool { false } }
    "show-homes" ShowHomes { fn covers_homes() -> bool { false } }
    "show-sys" ShowSys { fn covers_sys() -> bool { false } }
    "host-dev" HostDev { fn gives_minimal_dev() -> bool { false } }
    "host-proc" HostProc {
        fn mounts_fresh_proc() -> bool { false }
        fn forbids_user_namespaces_by_limit() -> bool { false }
    }
    "show-processes" ShowProcesses { fn hides_untraceable_processes() -> bool { false } }
    "show-init" ShowInit {
        fn hides_untraceable_processes() -> bool { false }
        fn init_is_untraceable() -> bool { false }
    }
    "keep-resolver" KeepResolver { fn neutralises_resolver() -> bool { false } }
    "show-host-sockets" ShowHostSockets { fn hides_host_sockets() -> bool { false } }
    "show-key" ShowKey { fn hides_key_file() -> bool { false } }
    "keep-host-name" KeepHostName { fn hides_host_name() -> bool { false } }
    "traceable-launcher" TraceableLauncher { fn launcher_is_untraceable() -> bool { false } }
    "traceable-init" TraceableInit { fn init_is_untraceable() -> bool { false } }
    "init-remembers" InitRemembers { fn init_forgets_launcher_strings() -> bool { false } }
    "init-keeps-privileges" InitKeepsPrivileges { fn init_drops_privileges() -> bool { false } }
    "leave-zombies" LeaveZombies { fn init_reaps_orphans() -> bool { false } }
    "outlive-launcher" OutliveLauncher { fn init_ends_with_launcher() -> bool { false } }
    "swallow-signals" SwallowSignals { fn forwards_signal(_: i32) -> bool { false } }
    "wide-directory" WideDirectory { fn socket_directory_mode() -> u32 { 0o755 } }
    "early-key" EarlyKey { fn reads_key_after_clone() -> bool { false } }
    "stay-root" StayRoot { fn becomes_ordinary_user() -> bool { false } }
    "keep-groups" KeepGroups { fn drops_supplementary_groups() -> bool { false } }
    "share-network" ShareNetwork {
        fn namespaces() -> Namespaces { Namespaces { network: false, ..Namespaces::ALL } }
        fn stops_at_first_failure() -> bool { false }
    }
    "share-ipc" ShareIpc { fn namespaces() -> Namespaces { Namespaces { ipc: false, ..Namespaces::ALL } } }
    "share-uts" ShareUts {
        fn namespaces() -> Namespaces { Namespaces { uts: false, ..Namespaces::ALL } }
        fn hides_host_name() -> bool { false }
    }
    "share-cgroup" ShareCgroup { fn namespaces() -> Namespaces { Namespaces { cgroup: false, ..Namespaces::ALL } } }
    "go-on-after-failure" GoOnAfterFailure { fn stops_at_first_failure() -> bool { false } }
    "cut-half-open" CutHalfOpen { fn bridge_keeps_half_open_streams() -> bool { false } }
    "mistake-close" MistakeClose { fn bridge_tells_closed_from_half_closed() -> bool { false } }
    "keep-hung-up" KeepHungUp { fn bridge_passes_hang_up_to_client() -> bool { false } }
    "swallow-reset" SwallowReset {
        fn bridge_passes_reset_to_relay() -> bool { false }
        fn bridge_tells_closed_from_half_closed() -> bool { false }
    }
    "unlimited-connections" UnlimitedConnections { fn bridge_limits_connections() -> bool { false } }
}

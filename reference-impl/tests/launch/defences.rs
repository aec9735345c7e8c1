//! Each defence as the workload meets it: up, and taken down, where the same attempt must come out differently.

use libtest_mimic::Trial;

use super::support::{By, Scene, UID};

/// One attempt, its outcome with every defence up, and a variant by which the same attempt succeeds.
struct Defence {
    fact: &'static str,
    attempt: Attempt,
    up: &'static str,
    variant: &'static str,
    down: Down,
}

enum Attempt {
    Shell(&'static str),
    Inside(String),
}

enum Down {
    Is(&'static str),
    Differs,
}

use Attempt::Shell;
use Down::{Differs, Is};

fn call(number: i64, arguments: &str) -> Attempt {
    Attempt::Inside(format!("call {number} {arguments}"))
}

fn inside(attempt: &str) -> Attempt {
    Attempt::Inside(attempt.to_owned())
}

const NONE: &str = "0000000000000000";

fn defences() -> Vec<Defence> {
    let defence = |fact, attempt, up, variant, down| Defence { fact, attempt, up, variant, down };
    let mut all = vec![
        // `ls` itself opens 3.
        defence("inherited_descriptors_are_closed", Shell("ls /proc/self/fd"), "0 1 2 3", "keep-descriptors", Differs),
        defence(
            "unlisted_variables_do_not_pass",
            Shell("echo ${PLANTED-none}"),
            "none",
            "keep-environment",
            Is("secret"),
        ),
        defence("home_is_of_this_spawn", Shell("echo $HOME"), "/run/watertight/home", "keep-home", Differs),
        defence("the_session_is_its_own", inside("session"), "own", "keep-session", Is("inherited")),
        defence("keyring_calls_are_denied", inside("keyring"), "EPERM", "allow-keyrings", Is("ENOKEY")),
        defence("the_session_keyring_is_fresh", inside("keyring"), "EPERM", "keep-keyring", Is("ok")),
        defence("core_files_are_forbidden", Shell("ulimit -c"), "0", "allow-core", Differs),
        defence("the_bounding_set_is_empty", inside("status CapBnd"), NONE, "keep-bounding", Differs),
        defence("the_inheritable_set_is_empty", inside("status CapInh"), NONE, "keep-inheritable", Differs),
        defence("the_ambient_set_is_empty", inside("status CapAmb"), NONE, "keep-ambient", Differs),
        defence("the_effective_set_is_empty", inside("status CapEff"), NONE, "keep-ambient", Differs),
        defence("the_permitted_set_is_empty", inside("status CapPrm"), NONE, "keep-ambient", Differs),
        defence("no_new_privs_is_set", inside("status NoNewPrivs"), "1", "allow-new-privileges", Is("0")),
        defence("securebits_are_locked", inside("securebits"), "0xef", "open-securebits", Is("0x0")),
        defence("a_filter_is_installed", inside("status Seccomp"), "2", "no-filter", Is("0")),
        // Netlink of a protocol other than routing stands for every family that cannot be tried everywhere.
        defence(
            "other_families_are_denied",
            call(libc::SYS_socket, "16 3 4"),
            "EAFNOSUPPORT",
            "allow-families",
            Is("ok"),
        ),
        defence(
            "packet_sockets_are_denied",
            call(libc::SYS_socket, "17 3 0"),
            "EAFNOSUPPORT",
            "allow-families",
            Is("EPERM"),
        ),
        // The standard input is the null device, which would answer ENOTTY.
        defence("tiocsti_is_denied", call(libc::SYS_ioctl, "0 0x5412 0"), "EPERM", "allow-injection", Is("ENOTTY")),
        defence("tioclinux_is_denied", call(libc::SYS_ioctl, "0 0x541C 0"), "EPERM", "allow-injection", Is("ENOTTY")),
        defence(
            "tiocsti_with_a_high_bit_is_denied",
            call(libc::SYS_ioctl, "0 0x100005412 0"),
            "EPERM",
            "compare-64-bits",
            Is("ENOTTY"),
        ),
        defence("io_uring_is_absent", call(libc::SYS_io_uring_setup, "1 0"), "ENOSYS", "allow-io-uring", Is("EFAULT")),
        defence(
            "unshare_of_a_user_namespace_is_denied",
            call(libc::SYS_unshare, "0x10000000"),
            "EPERM",
            "unlimited-user-namespaces",
            Is("ok"),
        ),
        defence(
            "the_limit_stands_behind_the_filter",
            Shell("cat /proc/sys/user/max_user_namespaces"),
            "0",
            "unlimited-user-namespaces",
            Differs,
        ),
        defence("clone3_is_absent", call(libc::SYS_clone3, "0 0"), "ENOSYS", "allow-clone3", Is("EINVAL")),
        // A tree of a descriptor that is not open: refused before it is looked for, where a filter does it.
        defence("mount_calls_are_denied", call(libc::SYS_open_tree, "9999 0 0"), "EPERM", "allow-mounts", Is("EFAULT")),
        defence("setns_is_denied", call(libc::SYS_setns, "9999 0"), "EPERM", "allow-mounts", Is("EBADF")),
        defence(
            "userfaultfd_is_denied",
            call(libc::SYS_userfaultfd, "0xffff"),
            "EPERM",
            "allow-kernel-interfaces",
            Is("EINVAL"),
        ),
        defence(
            "perf_is_denied",
            call(libc::SYS_perf_event_open, "0 0"),
            "EPERM",
            "allow-kernel-interfaces",
            Is("EFAULT"),
        ),
        defence(
            "handles_are_denied",
            call(libc::SYS_name_to_handle_at, "9999 0"),
            "EPERM",
            "allow-kernel-interfaces",
            Differs,
        ),
        defence("sys_is_empty", Shell("ls /sys | wc -l"), "0", "show-sys", Differs),
        defence(
            "dev_is_minimal",
            Shell("echo $(ls /dev)"),
            "fd full null ptmx pts random shm stderr stdin stdout tty urandom zero",
            "host-dev",
            Differs,
        ),
        defence("proc_is_fresh", inside("proc"), "fresh", "host-proc", Is("foreign")),
        defence("init_is_not_visible", Shell("ls -d /proc/[0-9]* | grep -cx /proc/1"), "0", "show-init", Is("1")),
        defence("names_are_not_resolved", Shell("grep -c nameserver /etc/resolv.conf"), "0", "keep-resolver", Differs),
        defence(
            "the_host_name_is_hidden",
            Shell("cat /proc/sys/kernel/hostname"),
            "watertight",
            "keep-host-name",
            Differs,
        ),
        defence("homes_are_covered", Shell("ls -A /usr/share | wc -l"), "0", "show-homes", Differs),
    ];
    if cfg!(target_arch = "x86_64") {
        let killed = "(Some(159): )";
        all.push(defence("x32_is_killed", call(0x4000_0027, "0"), killed, "allow-foreign", Is("ENOSYS")));
        all.push(defence("i386_is_killed", inside("i386"), killed, "allow-foreign", Is("ok")));
    }
    all
}

fn scene(by: By, variant: &str) -> Scene {
    // The shell leaves a descriptor open across exec, as a careless caller does.
    let careless = ["/bin/sh", "-c", "ulimit -c unlimited; exec 7</etc/hostname; exec \"$0\" \"$@\""];
    let mut scene = Scene::through(by, variant, &careless);
    // A home that certainly holds something, on every machine.
    scene.command.env("PLANTED", "secret").env("HOME", "/usr/share").arg("--plant-key");
    scene
}

fn observe(by: By, variant: &str, attempt: &Attempt) -> String {
    match attempt {
        Shell(script) => scene(by, variant).shell(script).split_whitespace().collect::<Vec<_>>().join(" "),
        Attempt::Inside(attempt) => scene(by, variant).inside(attempt),
    }
}

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for by in By::all() {
        for defence in defences() {
            trials.push(Trial::test(format!("defences::{}_{}", defence.fact, by.name()), move || {
                assert_eq!(observe(by, "", &defence.attempt), defence.up, "with every defence up");
                let without = observe(by, defence.variant, &defence.attempt);
                match defence.down {
                    Is(outcome) => assert_eq!(without, outcome, "by {}", defence.variant),
                    Differs => assert_ne!(without, defence.up, "by {}", defence.variant),
                }
                Ok(())
            }));
        }
        trials.push(Trial::test(format!("defences::vsock_cannot_be_created_{}", by.name()), move || {
            // Made and closed with the process; never bound or connected.
            for family in ["40", "0x100000028", "0xffffffff00000028"] {
                let make = call(libc::SYS_socket, &format!("{family} 1 0"));
                assert_eq!(observe(by, "", &make), "EAFNOSUPPORT");
                let without = observe(by, "allow-families", &make);
                let here =
                    super::sys::raw(libc::SYS_socket, [40, (libc::SOCK_STREAM | libc::SOCK_CLOEXEC) as u64, 0, 0]);
                assert_eq!(without == "ok", here.is_ok(), "without the rule it can be made where the kernel has it");
            }
            Ok(())
        }));
        trials.push(Trial::test(format!("defences::the_allowed_families_work_{}", by.name()), move || {
            for family in [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6] {
                assert_eq!(observe(by, "", &call(libc::SYS_socket, &format!("{family} 1 0"))), "ok");
            }
            assert_eq!(observe(by, "", &call(libc::SYS_socket, "16 3 0")), "ok");
            Ok(())
        }));
        trials.push(Trial::test(
            format!("defences::the_limit_alone_forbids_user_namespaces_{}", by.name()),
            move || {
                let unshare = call(libc::SYS_unshare, "0x10000000");
                assert_eq!(observe(by, "allow-user-namespaces", &unshare), "ENOSPC");
                Ok(())
            },
        ));
        trials.push(Trial::test(format!("defences::the_uid_is_ordinary_outside_{}", by.name()), move || {
            let uid = if by == By::Root { UID } else { super::support::ordinary_uid() };
            assert_eq!(observe(by, "", &inside("status Uid")), [uid.to_string().as_str(); 4].join(" "));
            let map = observe(by, "", &Shell("cat /proc/self/uid_map; cat /proc/self/setgroups"));
            assert_eq!(map, format!("{uid} {uid} 1 deny"));
            Ok(())
        }));
    }
    trials
}

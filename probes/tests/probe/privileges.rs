//! Attempts on privileges, namespaces and mounts, and processes that the probe starts.

use std::{
    fs,
    io::BufReader,
    os::unix::fs::{MetadataExt, PermissionsExt},
    process::Stdio,
};

use watertight_probe::{
    observation::{Facts, McpCall, Outcome},
    plan::{Attempt, End, Plan},
    wire::Line,
};

use crate::{
    launch::{self, launch, launch_after, nonce, plan},
    servers, sys,
};

crate::trials! {
    privileges_are_those_of_the_process_and_of_what_descends_from_it,
    new_namespaces_are_made_with_privilege_and_refused_by_a_filter,
    the_machines_network_is_not_used_where_the_first_process_is_in_it,
    mounts_are_made_only_outside_the_machines_mount_namespace,
    a_set_user_id_copy_says_who_it_is,
    the_mcp_server_is_asked_for_its_tools_and_called,
    a_lingering_process_survives_the_probe_and_ignores_signals,
}

fn privileges_are_those_of_the_process_and_of_what_descends_from_it() {
    sys::new_network(true);
    let said = launch(&plan([Attempt::Privileges]));
    let Facts::Privileges { of } = said.facts(0) else { panic!("other facts: {said:?}") };
    assert_eq!(of.iter().map(|holder| holder.of.as_str()).collect::<Vec<_>>(), ["self", "thread", "fork", "exec"]);
    assert!(of.iter().all(|holder| holder.uid == [0; 4] && holder.effective == holder.permitted), "{of:?}");
    assert!(of.iter().all(|holder| holder.effective & 1 << 12 != 0 && !holder.no_new_privs), "CAP_NET_ADMIN: {of:?}");
    let said = launch_after(&plan([Attempt::Privileges]), || {
        sys::drop_privileges()?;
        sys::filter(&[libc::SYS_reboot], libc::SECCOMP_RET_ERRNO)
    });
    let Facts::Privileges { of } = said.facts(0) else { panic!("other facts: {said:?}") };
    assert_eq!(of.len(), 4);
    for holder in of {
        let sets = [holder.inheritable, holder.permitted, holder.effective, holder.bounding, holder.ambient];
        assert_eq!((sets, holder.no_new_privs, holder.seccomp), ([0; 5], true, 2), "{holder:?}");
    }
}

const NAMESPACES: i64 = libc::SYS_unshare;

fn namespaces(by_clone3: bool, reach: std::net::SocketAddr) -> Attempt {
    Attempt::NewNamespaces { user: true, network: true, mount: true, by_clone3, reach }
}

fn new_namespaces_are_made_with_privilege_and_refused_by_a_filter() {
    sys::new_network(true);
    let (reach, reached) = servers::tcp("127.0.0.1:0");
    let attempts = plan([namespaces(false, reach), namespaces(true, reach)]);
    let said = launch_after(&attempts, sys::enter_pid_namespace);
    for index in 0..2 {
        let Facts::Namespaces { reached: false, tries } = said.facts(index) else { panic!("other facts: {said:?}") };
        let errno = |wanted: &str| tries.iter().find(|(what, _)| what == wanted).map(|(_, errno)| *errno);
        // Loopback is there again, and nobody listens on it; the first process's namespace belongs to another user namespace.
        assert_eq!((errno("lo up"), errno("connect"), errno("packet")), (Some(0), Some(libc::ECONNREFUSED), Some(0)));
        assert!(matches!(errno("setns"), Some(libc::EPERM | libc::EACCES)), "{tries:?}");
    }
    let with_root = Attempt::NewNamespaces { user: false, network: true, mount: true, by_clone3: false, reach };
    let said = launch_after(&plan([with_root]), sys::enter_pid_namespace);
    let Facts::Namespaces { reached: true, tries } = said.facts(0) else { panic!("not reached: {said:?}") };
    assert!(tries.contains(&("connect after setns".into(), 0)) && tries.contains(&("mount".into(), 0)), "{tries:?}");
    assert!(reached.recv().expect("told").starts_with(b"wt:"));
    let refuse = || sys::filter(&[NAMESPACES], libc::SECCOMP_RET_ERRNO | libc::EPERM as u32);
    assert_eq!(launch_after(&plan([namespaces(false, reach)]), refuse).refused(0), ("unshare", libc::EPERM));
    let refuse = || sys::filter(&[libc::SYS_clone3], libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32);
    assert_eq!(launch_after(&plan([namespaces(true, reach)]), refuse).refused(0), ("clone3", libc::ENOSYS));
}

fn the_machines_network_is_not_used_where_the_first_process_is_in_it() {
    sys::new_network(true);
    let (reach, reached) = servers::tcp("127.0.0.1:0");
    let machine_netns = sys::network_cookie();
    let attempts = [
        Attempt::NewNamespaces { user: false, network: true, mount: false, by_clone3: false, reach },
        Attempt::ChangeNetwork { change: watertight_probe::plan::NetworkChange::AddVeth },
    ];
    // The first process keeps this network, which stands for the machine's; the probe has one of its own.
    let said = launch_after(&Plan { machine_netns, ..plan(attempts) }, || {
        sys::enter_pid_namespace()?;
        sys::run_on_in_child_of_own_network()
    });
    let Facts::Namespaces { reached: false, tries } = said.facts(0) else { panic!("other facts: {said:?}") };
    assert_eq!(tries.last(), Some(&("setns".into(), 0)), "joined, and nothing done there");
    let Outcome::Absent { what, .. } = said.outcome(1) else { panic!("not absent: {said:?}") };
    assert!(what.contains("machine"), "{what}");
    assert!(reached.try_recv().is_err());
}

fn mounts_are_made_only_outside_the_machines_mount_namespace() {
    sys::new_network(true);
    let mounts = [false, true].map(|new_api| Attempt::Mount { over: "/tmp".into(), new_api });
    let own = fs::metadata("/proc/thread-self/ns/mnt").expect("there").ino();
    for machine_mnt in [None, Some(own)] {
        let said = launch(&Plan { machine_mnt, ..plan(mounts.clone()) });
        (0..2).for_each(|index| assert!(matches!(said.outcome(index), Outcome::Absent { .. }), "{said:?}"));
    }
    // One at a time: an unmount takes what lies on top, whoever mounted it.
    let elsewhere = Plan { machine_mnt: Some(own), parallel: 1, ..plan(mounts) };
    let said = launch_after(&elsewhere, sys::enter_pid_namespace);
    (0..2).for_each(|index| assert_eq!(said.facts(index), &Facts::Mounted));
    let said = launch_after(&elsewhere, || {
        sys::enter_pid_namespace()?;
        sys::drop_privileges()
    });
    assert_eq!(said.refused(0), ("mount", libc::EPERM));
    assert_eq!(said.refused(1), ("fsopen", libc::EPERM));
}

fn a_set_user_id_copy_says_who_it_is() {
    sys::new_network(true);
    let path = format!("{}-suid-{}", launch::program(), std::process::id());
    fs::copy(launch::program(), &path).expect("copied");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o4755)).expect("set-user-id");
    let plan = plan([Attempt::SetUserId { path: path.clone() }, Attempt::SetUserId { path: "/nowhere".into() }]);
    let said = launch(&plan);
    assert!(matches!(said.outcome(1), Outcome::Refused { errno: libc::ENOENT, .. }), "{said:?}");
    let Facts::Identity { ruid: 0, euid: 0, no_new_privs: false, effective } = *said.facts(0) else {
        panic!("other facts: {said:?}")
    };
    assert_ne!(effective, 0);
    if sys::is_root_of_the_machine() {
        for no_new_privs in [false, true] {
            let said = launch_after(&plan, move || sys::become_user(1777, no_new_privs));
            let euid = if no_new_privs { 1777 } else { 0 };
            let Facts::Identity { ruid, euid: seen, no_new_privs: kept, .. } = *said.facts(0) else {
                panic!("other facts: {said:?}")
            };
            assert_eq!((ruid, seen, kept), (1777, euid, no_new_privs));
        }
    }
    fs::remove_file(path).expect("removed");
}

fn the_mcp_server_is_asked_for_its_tools_and_called() {
    sys::new_network(true);
    let said = launch(&plan([Attempt::Mcp { instance: "http://instance.test".into() }]));
    let call = |tool: &str| McpCall {
        tool: tool.into(),
        is_error: tool == "post_message",
        text: format!("{tool} {} at http://instance.test", nonce(0)),
    };
    let tools = vec!["get_context".into(), "post_message".into()];
    assert_eq!(said.facts(0), &Facts::Mcp { tools, calls: vec![call("get_context"), call("post_message")] });
}

fn a_lingering_process_survives_the_probe_and_ignores_signals() {
    sys::new_network(true);
    let (to, ended) = servers::tcp_with("127.0.0.1:0", |mut stream| {
        let mut request = [0; 1024];
        let read = std::io::Read::read(&mut stream, &mut request).expect("read");
        let then = std::io::Read::read(&mut stream, &mut request).expect("read");
        (read, then)
    });
    let steps = vec![watertight_probe::plan::Step::Send("GET / HTTP/1.1\\x0d\\x0a\\x0d\\x0a".into())];
    let holding = Some((watertight_probe::plan::Endpoint::Tcp(to), steps));
    let attempt = Attempt::Linger { comm: "wt-linger".into(), holding };
    let plan = Plan { end: End::Exit(0), ..plan([attempt]) };
    let mut child = launch::start(&mut launch::command(&plan), Stdio::null());
    let mut output = BufReader::new(child.stdout.take().expect("piped"));
    let pid = loop {
        if let Line::Observed(observation) = launch::next_line(&mut output) {
            let Outcome::Found { facts: Facts::Lingering { pid } } = observation.outcome else {
                panic!("does not linger: {observation:?}")
            };
            break pid;
        }
    };
    assert!(child.wait().expect("ended").success());
    let process = nix::unistd::Pid::from_raw(pid);
    let comm = || fs::read_to_string(format!("/proc/{pid}/comm")).map(|comm| comm.trim_end().to_owned());
    for signal in [nix::sys::signal::SIGTERM, nix::sys::signal::SIGHUP, nix::sys::signal::SIGINT] {
        nix::sys::signal::kill(process, signal).expect("sent");
    }
    assert_eq!(comm().expect("still there"), "wt-linger");
    assert_eq!(nix::unistd::getsid(Some(process)).expect("asked"), process, "a session of its own");
    assert!(ended.try_recv().is_err(), "the request is still held");
    nix::sys::signal::kill(process, nix::sys::signal::SIGKILL).expect("sent");
    assert_eq!(ended.recv().expect("told"), (18, 0));
}

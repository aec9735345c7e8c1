//! Hostile surroundings: an empty root, few descriptors, filters that refuse or kill, attempts that hang.

use std::{
    net::{TcpListener, UdpSocket},
    os::fd::AsFd,
    process::{ExitCode, Stdio},
    time::{Duration, Instant},
};

use nix::{
    fcntl::{FcntlArg, OFlag, fcntl},
    poll::{PollFd, PollFlags, PollTimeout, poll},
};
use watertight_probe::{
    observation::{Facts, Outcome},
    plan::{Attempt, Plan, Planned, Stream},
    wire::Line,
};

use crate::{
    launch::{self, launch, launch_after, plan, planned},
    sys,
};

crate::trials! {
    it_works_as_the_first_process_of_an_empty_root,
    it_works_with_few_descriptors_and_loses_no_attempt,
    it_works_where_processes_are_few,
    it_works_where_the_ends_of_children_are_ignored,
    an_attempt_that_a_filter_kills_is_said_so_and_the_others_go_on,
    it_works_where_filters_take_its_own_calls_away,
    an_attempt_that_hangs_costs_its_deadline_once,
    an_attempt_that_cannot_be_stopped_from_inside_is_killed_at_its_deadline,
    what_an_attempt_started_is_killed_with_it,
    a_full_pipe_that_does_not_block_loses_no_line,
}

/// The end of the name under which this program does nothing.
pub const HANGS: &str = "-that-hangs";

/// Does nothing for longer than any test takes.
pub fn hang() -> ExitCode {
    std::thread::park_timeout(Duration::from_secs(60));
    ExitCode::SUCCESS
}

fn one_of_many() -> Vec<Attempt> {
    let to = "203.0.113.9:80".parse().expect("an address");
    vec![
        Attempt::Connect { transport: Stream::Tcp, to, source_port: None },
        Attempt::Socket { family: libc::AF_UNIX.into(), kind: libc::SOCK_STREAM, protocol: 0 },
        Attempt::Network,
        Attempt::Privileges,
        Attempt::Read { path: "/etc/hostname".into() },
        Attempt::Write { path: "/file".into() },
        Attempt::Scan { needles: vec![], roots: vec!["/".into()] },
        Attempt::Resolve { zone: "zone.test".into() },
        Attempt::Ports { of: "127.0.0.1".parse().expect("v4"), from: 1, to: 1, known: false },
        Attempt::Mcp { instance: "http://instance.test".into() },
    ]
}

fn it_works_as_the_first_process_of_an_empty_root() {
    let plan = Plan { machine_mnt: Some(1), ..plan(one_of_many()) };
    let said = launch::launch_in_empty_root(&plan, || Ok(()));
    let hello = said.hello();
    assert_eq!((hello.pid, hello.uid), (1, 0));
    assert!(
        hello.executed.is_some() && hello.netns.is_some(),
        "the program is found by the path it was executed by: {hello:?}"
    );
    assert_eq!(said.refused(0), ("connect", libc::ENETUNREACH));
    assert_eq!(said.facts(1), &Facts::SocketMade);
    assert!(matches!(said.facts(2), Facts::Network { .. }));
    let Facts::Privileges { of } = said.facts(3) else { panic!("other facts: {said:?}") };
    assert_eq!(of.len(), 4);
    assert_eq!(said.refused(4), ("open", libc::ENOENT));
    assert_eq!(said.refused(5), ("open", libc::EROFS));
    assert!(matches!(said.facts(6), Facts::Scanned { complete: true, .. }));
    assert!(matches!(said.refused(7), ("getaddrinfo", _)));
    assert!(matches!(said.refused(8), ("connect", libc::ENETUNREACH | libc::EADDRNOTAVAIL)), "{said:?}");
    assert!(matches!(said.facts(9), Facts::Mcp { .. }));
    assert_eq!((said.lines.last(), said.status), (Some(&Line::Done { attempts: 10 }), Some(0)));
}

fn many() -> Plan {
    let attempts =
        (0..100).map(|_| Attempt::Socket { family: libc::AF_UNIX.into(), kind: libc::SOCK_STREAM, protocol: 0 });
    Plan { parallel: 100, ..plan(attempts) }
}

fn it_works_with_few_descriptors_and_loses_no_attempt() {
    sys::new_network(true);
    let said = launch_after(&many(), || sys::limit_descriptors(32));
    (0..100).for_each(|index| assert_eq!(said.facts(index), &Facts::SocketMade));
    assert!(said.hello().executed.is_some());
}

fn it_works_where_processes_are_few() {
    if !sys::is_root_of_the_machine() {
        // Another uid, whose processes are counted from none, is not to be had.
        return;
    }
    sys::new_network(true);
    let plan = many();
    // A uid that nothing else runs as. With two more processes there is room for one attempt at a time.
    let said = launch_after(&plan, || {
        sys::limit_processes(3)?;
        sys::become_user(1779, false)
    });
    (0..100).for_each(|index| assert_eq!(said.facts(index), &Facts::SocketMade));
}

fn it_works_where_the_ends_of_children_are_ignored() {
    sys::new_network(true);
    let said = launch_after(&many(), sys::ignore_ends_of_children);
    (0..100).for_each(|index| assert_eq!(said.facts(index), &Facts::SocketMade));
    assert!(said.hello().executed.is_some());
}

fn an_attempt_that_a_filter_kills_is_said_so_and_the_others_go_on() {
    sys::new_network(true);
    let said = launch_after(&plan(one_of_many()), || sys::filter(&[libc::SYS_socket], libc::SECCOMP_RET_KILL_PROCESS));
    assert_eq!(said.hello().netns, None, "asked in a child, which was killed");
    for index in [0, 1, 2, 8] {
        assert_eq!(said.outcome(index), &Outcome::Killed { signal: libc::SIGSYS });
    }
    assert!(matches!(said.facts(3), Facts::Privileges { .. }));
    assert_eq!(said.lines.last(), Some(&Line::Done { attempts: 10 }));
}

fn it_works_where_filters_take_its_own_calls_away() {
    sys::new_network(true);
    let refused = |errno: i32| libc::SECCOMP_RET_ERRNO | errno as u32;
    let table: [(&[i64], u32); 5] = [
        (&[libc::SYS_clone], refused(libc::EPERM)),
        (&[libc::SYS_clone3], refused(libc::ENOSYS)),
        (&[libc::SYS_clone3], libc::SECCOMP_RET_KILL_PROCESS),
        (&[libc::SYS_rt_sigtimedwait, libc::SYS_prctl, libc::SYS_setpgid], refused(libc::EPERM)),
        (&[libc::SYS_execve, libc::SYS_pipe2], refused(libc::ENOSYS)),
    ];
    for (calls, action) in table {
        let socket = Attempt::Socket { family: libc::AF_UNIX.into(), kind: libc::SOCK_STREAM, protocol: 0 };
        let mut command = launch::command(&plan([socket.clone(), socket]));
        // The exec that starts the probe is not the probe's own.
        let is_exec = calls.contains(&libc::SYS_execve);
        let calls: Vec<i64> = calls.iter().copied().filter(|call| *call != libc::SYS_execve).collect();
        sys::before_exec(&mut command, move || sys::filter(&calls, action));
        let said = launch::read(launch::start(&mut command, Stdio::null()));
        (0..2).for_each(|index| assert_eq!(said.facts(index), &Facts::SocketMade, "{action:x}"));
        assert_eq!(said.hello().executed.is_none(), is_exec, "no pipe, no executed sample");
    }
}

fn an_attempt_that_hangs_costs_its_deadline_once() {
    sys::new_network(true);
    let silent = TcpListener::bind("127.0.0.1:0").expect("bound");
    let to = silent.local_addr().expect("bound");
    let hanging = |index| Planned {
        deadline_ms: 1200,
        ..planned(index, Attempt::Connect { transport: Stream::Tcp, to, source_port: None })
    };
    let quick =
        |index| planned(index, Attempt::Socket { family: libc::AF_UNIX.into(), kind: libc::SOCK_STREAM, protocol: 0 });
    let attempts: Vec<_> = (0..4).map(hanging).chain((4..40).map(quick)).collect();
    let begun = Instant::now();
    let said = launch(&Plan { attempts, parallel: 5, ..plan([]) });
    assert!(begun.elapsed() < Duration::from_millis(4 * 950), "beside each other: {:?}", begun.elapsed());
    (0..4).for_each(|index| assert_eq!(said.outcome(index), &Outcome::Silent { step: "recv".into() }));
    (4..40).for_each(|index| assert_eq!(said.facts(index), &Facts::SocketMade));
    let first_hanging = said.observations().position(|seen| matches!(seen.outcome, Outcome::Silent { .. }));
    assert_eq!(first_hanging, Some(36), "the quick ones were told before");
}

fn an_attempt_that_cannot_be_stopped_from_inside_is_killed_at_its_deadline() {
    sys::new_network(true);
    let path = std::env::temp_dir().join(format!("watertight-probe-silent-resolver-{}", std::process::id()));
    std::fs::write(&path, "nameserver 127.0.0.1\noptions timeout:30 attempts:5\n").expect("written");
    sys::cover_file(path.to_str().expect("text"), "/etc/resolv.conf");
    std::fs::remove_file(path).expect("removed");
    let _silent = UdpSocket::bind("127.0.0.1:53").expect("bound");
    let attempt = Planned { deadline_ms: 300, ..planned(0, Attempt::Resolve { zone: "zone.test".into() }) };
    let said = launch(&Plan { attempts: vec![attempt], ..plan([]) });
    assert_eq!(said.outcome(0), &Outcome::TimedOut { step: "getaddrinfo".into() });
    let micros = said.observation(0).micros;
    assert!((300_000..5_000_000).contains(&micros), "{micros}");
}

fn what_an_attempt_started_is_killed_with_it() {
    sys::new_network(true);
    let path = format!("{}-{}{HANGS}", launch::program(), std::process::id());
    std::fs::copy(launch::program(), &path).expect("copied");
    let attempt = Planned { deadline_ms: 300, ..planned(0, Attempt::SetUserId { path: path.clone() }) };
    let said = launch(&Plan { attempts: vec![attempt], ..plan([]) });
    assert_eq!(said.outcome(0), &Outcome::TimedOut { step: "execve".into() });
    std::fs::remove_file(&path).expect("removed");
    let is_left = || {
        std::fs::read_dir("/proc").expect("there").flatten().any(|process| {
            let program = std::fs::read_link(process.path().join("exe"));
            program.is_ok_and(|program| program.to_string_lossy().starts_with(&path))
        })
    };
    // Killed is not yet gone.
    let deadline = Instant::now() + Duration::from_secs(10);
    while is_left() {
        assert!(Instant::now() < deadline, "the executed program is still there");
        std::thread::yield_now();
    }
}

fn a_full_pipe_that_does_not_block_loses_no_line() {
    sys::new_network(true);
    let (output, input) = nix::unistd::pipe2(OFlag::O_CLOEXEC | OFlag::O_NONBLOCK).expect("a pipe");
    fcntl(&input, FcntlArg::F_SETPIPE_SZ(4096)).expect("a small one");
    let mut command = launch::command(&many());
    let mut child = command.stdin(Stdio::null()).stdout(input.try_clone().expect("cloned")).spawn().expect("started");
    drop(command);
    // Full: what the probe writes next is refused.
    let deadline = Instant::now() + Duration::from_secs(10);
    while poll(&mut [PollFd::new(input.as_fd(), PollFlags::POLLOUT)], PollTimeout::ZERO).expect("polled") == 1 {
        assert!(Instant::now() < deadline, "never full");
        std::thread::yield_now();
    }
    drop(input);
    fcntl(&output, FcntlArg::F_SETFL(OFlag::empty())).expect("blocking");
    let lines = launch::lines_of(std::fs::File::from(output));
    assert_eq!((lines.len(), lines.last()), (202, Some(&Line::Done { attempts: 100 })));
    assert!(child.wait().expect("ended").success());
}

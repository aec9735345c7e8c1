//! Attempts on the network: each succeeds where nothing confines it, and is refused where something does.

use std::net::{IpAddr, SocketAddr};

use watertight_probe::{
    observation::{Facts, Outcome},
    plan::{Attempt, Datagram, DnsQuery, NetworkChange, Plan, SendCall, Stream},
};

use crate::{
    launch::{launch, launch_after, launch_confined, nonce, plan},
    servers, sys,
};

crate::trials! {
    every_stream_transport_reaches_a_listener_and_carries_the_nonce,
    a_stream_is_refused_where_there_is_no_listener_or_no_route,
    every_datagram_call_reaches_a_listener_and_carries_the_nonce,
    a_datagram_is_refused_where_there_is_no_listener_or_no_route,
    dns_questions_carry_the_nonce_as_their_first_label,
    the_c_library_resolves_names_that_carry_the_nonce,
    echo_requests_packets_and_frames_leave_only_with_privilege,
    sockets_are_made_or_refused_by_a_filter,
    what_the_network_holds_is_listed_without_what_every_kernel_makes,
    changes_of_the_network_take_privilege_and_are_undone,
    ports_that_accept_are_found_and_a_socket_connected_to_itself_is_none,
}

const NOBODY: &str = "203.0.113.9:80";

fn connect(transport: Stream, to: SocketAddr) -> Attempt {
    Attempt::Connect { transport, to, source_port: None }
}

fn send(call: SendCall, to: SocketAddr) -> Attempt {
    Attempt::Send { transport: Datagram::Udp, to, call, source_port: None, dns: None }
}

fn every_stream_transport_reaches_a_listener_and_carries_the_nonce() {
    sys::new_network(true);
    let (v4, told_v4) = servers::tcp("127.0.0.1:0");
    let (v6, told_v6) = servers::tcp("[::1]:0");
    let mut attempts: Vec<_> = [Stream::Tcp, Stream::Mptcp, Stream::TcpFastOpen, Stream::IoUring]
        .into_iter()
        .flat_map(|transport| [connect(transport, v4), connect(transport, v6)])
        .collect();
    attempts.push(Attempt::Connect { transport: Stream::Tcp, to: v4, source_port: Some(53) });
    let said = launch(&plan(attempts.clone()));
    for (index, attempt) in attempts.iter().enumerate() {
        assert_eq!(said.heard(index), "banner\\x0a", "{attempt:?}");
        let told = if index % 2 == 1 { &told_v6 } else { &told_v4 };
        let arrived = told.recv().expect("told");
        assert!(arrived.starts_with(b"wt:") && arrived.ends_with(b"\n"), "{arrived:?}");
    }
}

fn a_stream_is_refused_where_there_is_no_listener_or_no_route() {
    sys::new_network(true);
    let transports = [Stream::Tcp, Stream::Mptcp, Stream::TcpFastOpen, Stream::IoUring];
    let free = "127.0.0.1:1".parse().expect("an address");
    let said = launch(&plan(transports.map(|transport| connect(transport, free))));
    for (index, call) in ["connect", "connect", "connect", "io_uring connect"].into_iter().enumerate() {
        assert_eq!(said.refused(index), (call, libc::ECONNREFUSED));
    }
    let nowhere = NOBODY.parse().expect("an address");
    let said = launch(&plan(transports.map(|transport| connect(transport, nowhere))));
    for (index, call) in ["connect", "connect", "sendto", "io_uring connect"].into_iter().enumerate() {
        assert_eq!(said.refused(index), (call, libc::ENETUNREACH));
    }
    let said = launch_after(&plan(transports.map(|transport| connect(transport, free))), || {
        sys::filter(&[libc::SYS_socket, libc::SYS_io_uring_setup], libc::SECCOMP_RET_ERRNO | libc::EPERM as u32)
    });
    for (index, call) in ["socket", "socket", "socket", "io_uring_setup"].into_iter().enumerate() {
        assert_eq!(said.refused(index), (call, libc::EPERM));
    }
}

const CALLS: [SendCall; 4] = [SendCall::SendTo, SendCall::SendMsg, SendCall::SendMmsg, SendCall::Write];

fn every_datagram_call_reaches_a_listener_and_carries_the_nonce() {
    sys::new_network(true);
    for at in ["127.0.0.1:0", "[::1]:0"] {
        let (to, told) = servers::udp(at, <[u8]>::to_vec);
        let said = launch(&plan(CALLS.map(|call| send(call, to))));
        for index in 0..CALLS.len() {
            assert_eq!(said.heard(index), format!("wt:{}", nonce(index)));
            assert_eq!(told.recv().expect("told").len(), 35);
        }
    }
}

fn a_datagram_is_refused_where_there_is_no_listener_or_no_route() {
    sys::new_network(true);
    let free = "127.0.0.1:1".parse().expect("an address");
    let said = launch(&plan(CALLS.map(|call| send(call, free))));
    (0..CALLS.len()).for_each(|index| assert_eq!(said.refused(index), ("recv", libc::ECONNREFUSED)));
    let nowhere = NOBODY.parse().expect("an address");
    let said = launch(&plan(CALLS.map(|call| send(call, nowhere))));
    for (index, call) in ["sendto", "sendmsg", "sendmmsg", "connect"].into_iter().enumerate() {
        assert_eq!(said.refused(index), (call, libc::ENETUNREACH));
    }
}

fn dns_questions_carry_the_nonce_as_their_first_label() {
    sys::new_network(true);
    let query = DnsQuery { zone: "zone.test".into(), qtype: 1 };
    let (udp, asked) = servers::udp("127.0.0.1:0", servers::dns_answer);
    let (tcp, asked_over_tcp) = servers::tcp("127.0.0.1:0");
    let (tls, greeted) = servers::tcp("127.0.0.1:853");
    let said = launch(&plan([
        Attempt::Send {
            transport: Datagram::Udp,
            to: udp,
            call: SendCall::SendTo,
            source_port: None,
            dns: Some(query.clone()),
        },
        Attempt::DnsStream { to: tcp, query: query.clone() },
        Attempt::DnsStream { to: tls, query },
    ]));
    let label = |index| [b"\x20", nonce(index).to_string().as_bytes(), b"\x04zone\x04test\0\0\x01\0\x01"].concat();
    assert!(asked.recv().expect("told").ends_with(&label(0)));
    assert!(said.heard(0).contains(&nonce(0).to_string()), "the answer repeats the question");
    let over_tcp = asked_over_tcp.recv().expect("told");
    assert_eq!(usize::from(over_tcp[1]), over_tcp.len() - 2, "the length stands in front");
    assert!(over_tcp.ends_with(&label(1)));
    let greeting = greeted.recv().expect("told");
    assert!(greeting.starts_with(&[22, 3, 1]) && greeting.ends_with(&label(2)), "{greeting:?}");
    assert_eq!((said.heard(1), said.heard(2)), ("banner\\x0a", "banner\\x0a"));
}

fn the_c_library_resolves_names_that_carry_the_nonce() {
    sys::new_network(true);
    let path = std::env::temp_dir().join(format!("watertight-probe-resolv-{}", std::process::id()));
    std::fs::write(&path, "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n").expect("written");
    sys::cover_file(path.to_str().expect("text"), "/etc/resolv.conf");
    std::fs::remove_file(path).expect("removed");
    let resolve = || plan([Attempt::Resolve { zone: "zone.test".into() }]);
    let said = launch(&resolve());
    assert!(matches!(said.refused(0), ("getaddrinfo", code) if code < 0), "nobody answers: {said:?}");
    let (_, asked) = servers::udp("127.0.0.1:53", servers::dns_answer);
    let said = launch(&resolve());
    assert_eq!(said.heard(0), "192.0.2.1");
    let wanted = nonce(0).to_string();
    assert!(asked.recv().expect("told").windows(32).any(|bytes| bytes == wanted.as_bytes()));
}

fn echo_requests_packets_and_frames_leave_only_with_privilege() {
    sys::new_network(true);
    std::fs::write("/proc/sys/net/ipv4/ping_group_range", "0 0").expect("ping sockets allowed");
    let (v4, v6): (IpAddr, IpAddr) = ("127.0.0.1".parse().expect("v4"), "::1".parse().expect("v6"));
    let plan = plan([
        Attempt::Ping { to: v4, raw: true },
        Attempt::Ping { to: v6, raw: true },
        Attempt::Ping { to: v4, raw: false },
        Attempt::RawIp { to: v4, protocol: 253 },
        Attempt::RawIp { to: v4, protocol: 255 },
        Attempt::Frame,
    ]);
    let said = launch(&plan);
    for index in 0..3 {
        assert_eq!(said.heard(index), format!("wt:{}", nonce(index)));
    }
    for (index, step) in [(3, "sent"), (4, "sent"), (5, "sent on 1 links")] {
        assert_eq!(said.outcome(index), &Outcome::Silent { step: step.into() });
    }
    let said = launch_confined(&plan);
    for index in [0, 1, 3, 4, 5] {
        assert_eq!(said.refused(index), ("socket", libc::EPERM));
    }
}

fn sockets_are_made_or_refused_by_a_filter() {
    sys::new_network(true);
    let wide = 0x1_0000_0000 + i64::from(libc::AF_INET);
    let families = [i64::from(libc::AF_INET), libc::AF_UNIX.into(), wide];
    let plan = plan(families.map(|family| Attempt::Socket { family, kind: libc::SOCK_STREAM, protocol: 0 }));
    let said = launch(&plan);
    (0..3).for_each(|index| assert_eq!(said.facts(index), &Facts::SocketMade));
    let said =
        launch_after(&plan, || sys::filter(&[libc::SYS_socket], libc::SECCOMP_RET_ERRNO | libc::EAFNOSUPPORT as u32));
    (0..3).for_each(|index| assert_eq!(said.refused(index), ("socket", libc::EAFNOSUPPORT)));
}

/// Name, whether it is loopback, whether it is up.
type Link = (String, bool, bool);

/// Links, addresses and routes.
#[track_caller]
fn network() -> (Vec<Link>, Vec<String>, Vec<String>) {
    let said = launch(&plan([Attempt::Network]));
    let Facts::Network { links, addresses, routes } = said.facts(0).clone() else { panic!("other facts: {said:?}") };
    let links = links.into_iter().map(|link| (link.name, link.loopback, link.up)).collect();
    let addresses = addresses.into_iter().map(|address| address.address.to_string()).collect();
    (links, addresses, routes.into_iter().map(|route| format!("{} in {}", route.destination, route.table)).collect())
}

fn what_the_network_holds_is_listed_without_what_every_kernel_makes() {
    sys::new_network(false);
    let (links, addresses, routes) = network();
    assert!(links.contains(&("lo".into(), true, false)), "{links:?}");
    assert_eq!((addresses.len(), routes.len()), (0, 0), "{addresses:?} {routes:?}");
    sys::new_network(true);
    let (links, addresses, routes) = network();
    assert!(links.contains(&("lo".into(), true, true)), "{links:?}");
    assert_eq!((addresses, routes), (vec!["127.0.0.1".to_owned(), "::1".into()], vec![]));
    sys::add_route_over_loopback();
    assert_eq!(network().2, ["10.9.0.0/16 in 254"]);
}

fn changes_of_the_network_take_privilege_and_are_undone() {
    sys::new_network(true);
    let before = network();
    let changes = [
        NetworkChange::LinkDown,
        NetworkChange::AddAddress("192.0.2.7".parse().expect("v4")),
        NetworkChange::AddAddress("2001:db8::7".parse().expect("v6")),
        NetworkChange::AddDefaultRoute,
        NetworkChange::AddVeth,
        NetworkChange::AddTun,
    ];
    let attempts = changes.map(|change| Attempt::ChangeNetwork { change });
    let one_by_one = Plan { parallel: 1, ..plan(attempts.clone()) };
    // Veth pairs reach into the namespace of the first process: here that is the probe itself.
    let said = launch_after(&one_by_one, sys::enter_pid_namespace);
    for (index, attempt) in attempts.iter().enumerate().take(4) {
        assert_eq!(said.facts(index), &Facts::Changed, "{attempt:?}");
    }
    let possible = |outcome: &Outcome| match outcome {
        Outcome::Found { facts } => *facts == Facts::Changed,
        // This kernel has no veth or no tun.
        Outcome::Refused { errno: libc::EOPNOTSUPP, .. } => true,
        // The device belongs to the machine's root.
        Outcome::Refused { errno: libc::EACCES, .. } => !sys::is_root_of_the_machine(),
        Outcome::Absent { what, .. } => what == "/dev/net/tun",
        _ => false,
    };
    assert!(possible(said.outcome(4)) && possible(said.outcome(5)), "{said:?}");
    assert_eq!(network(), before, "as it was");
    let said = launch_confined(&one_by_one);
    let calls = ["SIOCSIFFLAGS", "RTM_NEWADDR", "RTM_NEWADDR", "RTM_NEWROUTE", "RTM_NEWLINK"];
    for (index, call) in calls.into_iter().enumerate() {
        assert_eq!(said.refused(index), (call, libc::EPERM));
    }
}

fn ports_that_accept_are_found_and_a_socket_connected_to_itself_is_none() {
    sys::new_network(true);
    let look = |of: &str, from, to| Attempt::Ports { of: of.parse().expect("an address"), from, to, known: false };
    let listener = std::net::TcpListener::bind("127.0.0.1:39999").expect("bound");
    let said = launch(&plan([look("127.0.0.1", 1, 65535), look("::1", 39990, 40010)]));
    assert_eq!(said.facts(0), &Facts::Ports { open: vec![39999], tried: 65535, known: None });
    assert_eq!(said.facts(1), &Facts::Ports { open: vec![], tried: 21, known: None });
    for of in ["127.0.0.1", "::1"] {
        let all = Attempt::Ports { of: of.parse().expect("an address"), from: 1, to: 65535, known: true };
        let said = launch(&plan([all]));
        let Facts::Ports { open, known: Some(known), .. } = said.facts(0) else { panic!("{:?}", said.facts(0)) };
        assert!(open.contains(known), "the scan sees the port that the probe opened: {open:?}");
    }
    drop(listener);
    // With four ports to choose from, a connect to one of them soon takes that very port.
    std::fs::write("/proc/sys/net/ipv4/ip_local_port_range", "40000 40003").expect("few ports of its own");
    let attempts = (0..40).map(|_| look("127.0.0.1", 40000, 40003));
    let said = launch(&Plan { parallel: 1, ..plan(attempts) });
    (0..40).for_each(|index| assert_eq!(said.facts(index), &Facts::Ports { open: vec![], tried: 4, known: None }));
}

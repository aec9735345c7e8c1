//! Attempts on sockets by name, descriptors, files and secrets.

use std::{
    fs::{self, File},
    io::{IoSlice, Read, Seek, Write},
    net::UdpSocket,
    os::{
        fd::{AsRawFd, OwnedFd},
        linux::net::SocketAddrExt,
        unix::{
            fs::{PermissionsExt, symlink},
            net::{SocketAddr, UnixDatagram, UnixListener},
        },
    },
    path::PathBuf,
};

use nix::sys::socket::{
    AddressFamily, Backlog, ControlMessage, MsgFlags, SockFlag, SockType, UnixAddr, accept, bind, listen, sendmsg,
    socket,
};
use watertight_probe::{
    observation::{Descriptor, Facts, Outcome},
    plan::{Attempt, Needle, UnixAddress, UnixKind},
};

use crate::{
    launch::{self, launch, launch_after, launch_confined, nonce, plan},
    servers, sys,
};

crate::trials! {
    unix_sockets_are_reached_by_path_and_by_abstract_name,
    a_unix_socket_that_is_not_there_is_refused,
    descriptors_that_a_peer_hands_over_are_counted,
    inherited_descriptors_are_named_and_tried_and_the_probes_own_are_not_among_them,
    descriptors_are_found_without_proc_too,
    files_are_read_with_size_digest_and_nonce,
    files_are_written_and_read_back_and_what_they_held_stays,
    files_that_permissions_protect_are_refused,
    the_scan_finds_what_is_planted_and_not_what_is_absent,
}

/// A directory that goes when the test ends.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Self {
        let thread = format!("{:?}", std::thread::current().id()).replace(|letter: char| !letter.is_alphanumeric(), "");
        let path = std::env::temp_dir().join(format!("watertight-probe-{}-{thread}", std::process::id()));
        fs::create_dir(&path).expect("a directory");
        Self(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).into_os_string().into_string().expect("text")
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // What a failed test leaves, its own message explains.
        drop(fs::remove_dir_all(&self.0));
    }
}

fn unix(address: UnixAddress, kind: UnixKind) -> Attempt {
    Attempt::Unix { address, kind }
}

fn unix_sockets_are_reached_by_path_and_by_abstract_name() {
    sys::new_network(true);
    let directory = Directory::new();
    let path = directory.path("stream");
    let by_path = UnixListener::bind(&path).expect("bound");
    let name = SocketAddr::from_abstract_name("canary").expect("a name");
    let by_name = UnixListener::bind_addr(&name).expect("bound");
    let datagram_name = SocketAddr::from_abstract_name("datagrams").expect("a name");
    let datagrams = UnixDatagram::bind_addr(&datagram_name).expect("bound");
    let packets = socket(AddressFamily::Unix, SockType::SeqPacket, SockFlag::SOCK_CLOEXEC, None).expect("a socket");
    bind(packets.as_raw_fd(), &UnixAddr::new_abstract(b"packets").expect("a name")).expect("bound");
    listen(&packets, Backlog::new(4).expect("a backlog")).expect("listening");
    let streams = std::thread::spawn(move || {
        [by_path, by_name].map(|listener| {
            let (mut stream, _) = listener.accept().expect("accepted");
            let mut bytes = [0; 36];
            stream.read_exact(&mut bytes).expect("read");
            stream.write_all(servers::BANNER).expect("written");
            bytes
        })
    });
    let others = std::thread::spawn(move || {
        let mut bytes = [0; 64];
        let (_, from) = datagrams.recv_from(&mut bytes).expect("received");
        datagrams.send_to_addr(servers::BANNER, &from).expect("sent");
        let peer = accept(&packets).expect("accepted");
        nix::unistd::close(peer).expect("closed");
    });
    let said = launch(&plan([
        unix(UnixAddress::Path(path), UnixKind::Stream),
        unix(UnixAddress::Abstract("canary".into()), UnixKind::Stream),
        unix(UnixAddress::Abstract("datagrams".into()), UnixKind::Datagram),
        unix(UnixAddress::Abstract("packets".into()), UnixKind::Seqpacket),
    ]));
    (0..3).for_each(|index| assert_eq!(said.heard(index), "banner\\x0a"));
    assert!(!matches!(said.outcome(3), Outcome::Broken { .. } | Outcome::TimedOut { .. }), "{said:?}");
    let arrived = streams.join().expect("served");
    assert_eq!(arrived[0], format!("wt:{}\n", nonce(0)).as_bytes());
    others.join().expect("served");
}

fn a_unix_socket_that_is_not_there_is_refused() {
    sys::new_network(true);
    let kinds = [UnixKind::Stream, UnixKind::Datagram, UnixKind::Seqpacket];
    let said = launch(&plan(kinds.map(|kind| unix(UnixAddress::Abstract("nobody".into()), kind))));
    (0..3).for_each(|index| assert_eq!(said.refused(index), ("connect", libc::ECONNREFUSED)));
    let said = launch(&plan(kinds.map(|kind| unix(UnixAddress::Path("/nowhere/socket".into()), kind))));
    (0..3).for_each(|index| assert_eq!(said.refused(index), ("connect", libc::ENOENT)));
}

fn descriptors_that_a_peer_hands_over_are_counted() {
    sys::new_network(true);
    let name = SocketAddr::from_abstract_name("generous").expect("a name");
    let listener = UnixListener::bind_addr(&name).expect("bound");
    let peer = std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("accepted");
        let gifts = [UdpSocket::bind("127.0.0.1:0").expect("bound"), UdpSocket::bind("127.0.0.1:0").expect("bound")];
        let descriptors = gifts.each_ref().map(AsRawFd::as_raw_fd);
        let control = [ControlMessage::ScmRights(&descriptors)];
        sendmsg::<()>(stream.as_raw_fd(), &[IoSlice::new(b"take\n")], &control, MsgFlags::empty(), None).expect("sent");
    });
    let said = launch(&plan([unix(UnixAddress::Abstract("generous".into()), UnixKind::Stream)]));
    assert_eq!(said.facts(0), &Facts::DescriptorsReceived { count: 2 });
    peer.join().expect("served");
}

/// One of each kind, in the order of the numbers from 10 on that they are handed down as.
fn one_of_each(directory: &Directory) -> (Vec<OwnedFd>, [&'static str; 8]) {
    let (read_end, write_end) = nix::unistd::pipe().expect("a pipe");
    let file = File::options().read(true).append(true).create(true).open(directory.path("file")).expect("a file");
    let (near, far) = UnixDatagram::pair().expect("a pair");
    let netlink = socket(AddressFamily::Netlink, SockType::Raw, SockFlag::empty(), None).expect("a socket");
    let kept: Vec<OwnedFd> = vec![
        file.into(),
        File::open(&directory.0).expect("a directory").into(),
        write_end,
        near.into(),
        UdpSocket::bind("127.0.0.1:0").expect("bound").into(),
        netlink,
        nix::sys::eventfd::EventFd::new().expect("an eventfd").into(),
        File::open("/proc/thread-self/ns/net").expect("a namespace").into(),
        read_end,
        far.into(),
    ];
    (kept, ["regular", "directory", "pipe", "unix", "inet", "netlink", "anon", "namespace"])
}

fn inherited_descriptors_are_named_and_tried_and_the_probes_own_are_not_among_them() {
    sys::new_network(true);
    let directory = Directory::new();
    let (reach, reached) = servers::udp("127.0.0.1:0", <[u8]>::to_vec);
    let (kept, kinds) = one_of_each(&directory);
    let numbers: Vec<_> = kept.iter().take(kinds.len()).map(AsRawFd::as_raw_fd).collect();
    let said = launch_after(&plan([Attempt::Descriptors { reach }]), move || sys::keep_only(&numbers, 100));
    let wanted = kinds.into_iter().zip(100..).map(|(kind, fd)| Descriptor { fd, kind: kind.into(), usable: true });
    assert_eq!(said.facts(0), &Facts::Descriptors { open: wanted.collect() });
    let payload = format!("wt:{}", nonce(0));
    assert_eq!(fs::read_to_string(directory.path("file")).expect("there"), payload);
    assert_eq!(reached.recv().expect("told"), payload.as_bytes());
    let mut piped = [0; 35];
    nix::unistd::read(&kept[8], &mut piped).expect("read");
    assert_eq!(piped, payload.as_bytes());
}

fn descriptors_are_found_without_proc_too() {
    let plan = plan([Attempt::Descriptors { reach: "127.0.0.1:9".parse().expect("v4") }]);
    let said = launch::launch_in_empty_root(&plan, || sys::keep_only(&[1], 900));
    let Facts::Descriptors { open } = said.facts(0) else { panic!("other facts: {said:?}") };
    assert_eq!(open.iter().map(|open| (open.fd, open.kind.as_str())).collect::<Vec<_>>(), [(900, "pipe")]);
}

fn files_are_read_with_size_digest_and_nonce() {
    sys::new_network(true);
    let directory = Directory::new();
    fs::write(directory.path("with"), format!("{}wt:{}!", " ".repeat(65_520), nonce(0))).expect("written");
    fs::write(directory.path("without"), "abc").expect("written");
    let said = launch(&plan(["with", "without", "none"].map(|name| Attempt::Read { path: directory.path(name) })));
    assert!(matches!(said.facts(0), Facts::File { len: 65_556, has_nonce: true, .. }), "{said:?}");
    let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad".into();
    assert_eq!(said.facts(1), &Facts::File { len: 3, sha256, has_nonce: false });
    assert_eq!(said.refused(2), ("open", libc::ENOENT));
}

fn files_are_written_and_read_back_and_what_they_held_stays() {
    sys::new_network(true);
    let directory = Directory::new();
    fs::write(directory.path("old"), "kept;").expect("written");
    fs::write(directory.path("core_pattern"), "kept").expect("written");
    let names = ["new", "old", "core_pattern"];
    let mut attempts = names.map(|name| Attempt::Write { path: directory.path(name) }).to_vec();
    attempts.push(Attempt::Write { path: "/dev/null".into() });
    let said = launch(&plan(attempts));
    (0..2).for_each(|index| assert_eq!(said.facts(index), &Facts::Written));
    (2..4).for_each(|index| assert!(matches!(said.outcome(index), Outcome::Silent { .. }), "{said:?}"));
    let text = |name| fs::read_to_string(directory.path(name)).expect("there");
    assert_eq!((text("new"), text("old")), (format!("wt:{}", nonce(0)), format!("kept;wt:{}", nonce(1))));
    assert_eq!(text("core_pattern"), "kept", "such a file is never written to");
}

fn files_that_permissions_protect_are_refused() {
    sys::new_network(true);
    let directory = Directory::new();
    let path = directory.path("shut");
    fs::write(&path, "secret").expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).expect("shut");
    let said = launch_confined(&plan([Attempt::Read { path: path.clone() }, Attempt::Write { path }]));
    (0..2).for_each(|index| assert_eq!(said.refused(index), ("open", libc::EACCES)));
}

fn needle(name: &str, secret: &str) -> Needle {
    let sum = secret.bytes().map(u32::from).sum();
    // The digest comes from the probe itself: what it reads of a file is tested above against a known one.
    let mut file = launch::nameless_file();
    file.write_all(secret.as_bytes()).expect("written");
    file.rewind().expect("rewound");
    let path = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
    let said = launch(&plan([Attempt::Read { path }]));
    let Facts::File { sha256, .. } = said.facts(0).clone() else { panic!("other facts: {said:?}") };
    Needle { name: name.into(), len: secret.len() as u32, sum, sha256 }
}

fn the_scan_finds_what_is_planted_and_not_what_is_absent() {
    sys::new_network(true);
    let (root, elsewhere) = (Directory::new(), "secret-outside-the-root");
    let outside = std::env::temp_dir().join(format!("watertight-probe-outside-{}", std::process::id()));
    fs::write(&outside, elsewhere).expect("written");
    fs::create_dir_all(root.path("deep/er")).expect("made");
    fs::write(root.path("deep/er/file"), format!("{}secret-of-the-file", "x".repeat(65_530))).expect("written");
    symlink(&outside, root.path("link")).expect("linked");
    let needles = vec![
        needle("file", "secret-of-the-file"),
        needle("environment", "secret-of-the-environment"),
        needle("outside", elsewhere),
        needle("nowhere", &format!("{}-{}", "secret-of", "nobody")),
    ];
    let scan = |needles| plan([Attempt::Scan { needles, roots: vec![root.path("")] }]);
    let mut command = launch::command(&scan(needles));
    command.env("PLANTED", "secret-of-the-environment");
    sys::before_exec(&mut command, sys::enter_pid_namespace);
    let said = launch::read(launch::start(&mut command, std::process::Stdio::null()));
    fs::remove_file(outside).expect("removed");
    let Facts::Scanned { found, places, bytes, complete } = said.facts(0).clone() else {
        panic!("other facts: {said:?}")
    };
    let places_of = |name: &str| {
        found.iter().filter(|(other, _)| other == name).map(|(_, place)| place.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(places_of("file"), [root.path("deep/er/file")]);
    assert!(
        places_of("environment").contains(&"environ") && places_of("environment").contains(&"/proc/1/environ"),
        "{found:?}"
    );
    assert!(places_of("outside").is_empty() && places_of("nowhere").is_empty(), "{found:?}");
    assert!(complete && places >= 6 && bytes > 65_548, "{said:?}");
}

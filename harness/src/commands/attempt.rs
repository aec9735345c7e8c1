//! What an attempt does, in words.

use std::net::{IpAddr, SocketAddr};

use watertight_fixtures::world::{HOST_V4, HOST_V6, INSTANCE_V4, INSTANCE_V6, PROVIDER_V4, PROVIDER_V6};
use watertight_probe::plan::{
    Access, Attempt, BearerForm, Carry, Datagram, Endpoint, IpcObject, NetworkChange, Proxy, ProxyAt, SendCall, Step,
    Stream, TerminalWay, UnixAddress, UnixKind,
};

use crate::{
    planner::{INSTANCE_PORT, PROVIDER_PORT},
    scenario::{BadInput, Ending, Prerequisite, Scenario},
};

/// What the workload does. Destinations are named by what they are.
pub fn words(attempt: &Attempt) -> String {
    match attempt {
        Attempt::Connect { transport, to, source_port } => {
            let from = source_port.map_or(String::new(), |port| format!(" from source port {port}"));
            format!("connects by {} to {}{from}", stream(*transport), place(*to))
        }
        Attempt::Send { transport, to, call, source_port, dns } => {
            let what = match dns {
                Some(query) => format!("asks for a name under {} (type {})", query.zone, query.qtype),
                None => "sends".into(),
            };
            let from = source_port.map_or(String::new(), |port| format!(" from source port {port}"));
            format!("{what} by {} ({}) to {}{from}", datagram(*transport), send_call(*call), place(*to))
        }
        Attempt::DnsStream { to, query } => format!("asks for a name under {} over TCP at {}", query.zone, place(*to)),
        Attempt::Resolve { zone } => format!("resolves a name under {zone} with the C library"),
        Attempt::Ping { to, raw } => {
            let socket = if *raw { "a raw socket" } else { "a ping socket" };
            format!("sends an ICMP echo request through {socket} to {}", address(*to))
        }
        Attempt::RawIp { to, protocol } => {
            format!("sends a raw IP packet of protocol {protocol} to {}", address(*to))
        }
        Attempt::Frame => "sends an Ethernet frame on every link (AF_PACKET)".into(),
        Attempt::Unix { address, kind } => {
            let kind = match kind {
                UnixKind::Stream => "stream",
                UnixKind::Datagram => "datagram",
                UnixKind::Seqpacket => "seqpacket",
            };
            match address {
                UnixAddress::Path(path) => format!("connects to the {kind} Unix socket {path}"),
                UnixAddress::Abstract(_) => format!("connects to an abstract {kind} Unix socket of the host"),
            }
        }
        Attempt::Socket { family, kind, protocol } => socket(*family, *kind, *protocol),
        Attempt::Descriptors { .. } => "looks at every open descriptor but 0, 1 and 2, and tries to use it".into(),
        Attempt::Network => "lists links, addresses and routes by netlink".into(),
        Attempt::ChangeNetwork { change } => match change {
            NetworkChange::LinkDown => "takes loopback down".into(),
            NetworkChange::AddAddress(to) => format!("adds the address {to} to loopback"),
            NetworkChange::AddDefaultRoute => "adds a default route".into(),
            NetworkChange::AddVeth => "makes a veth pair whose other end is pid 1's".into(),
            NetworkChange::AddTun => "makes a tunnel interface through /dev/net/tun".into(),
        },
        Attempt::Privileges => {
            "reports identity, capability sets and no_new_privs of every thread, and of what it forks and executes"
                .into()
        }
        Attempt::NewNamespaces { user, network, mount, by_clone3, .. } => {
            let kinds = [(*user, "user"), (*network, "network"), (*mount, "mount")];
            let kinds: Vec<_> = kinds.into_iter().filter(|(wanted, _)| *wanted).map(|(_, kind)| kind).collect();
            let call = if *by_clone3 { "clone3" } else { "unshare" };
            format!("makes new namespaces ({}) by {call}, and tries to reach the outside from them", kinds.join(", "))
        }
        Attempt::Mount { over, new_api } => {
            let api = if *new_api { "fsopen, fsmount, move_mount" } else { "mount" };
            format!("mounts a tmpfs over {over} ({api})")
        }
        Attempt::SetUserId { .. } => "executes a set-user-id program of root's and reports who it is".into(),
        Attempt::Read { path } => format!("reads {path}"),
        Attempt::Write { path } => format!("writes {path}"),
        Attempt::Append { path } => format!("writes to the end of {path}"),
        Attempt::Scan { needles, .. } => {
            let names: Vec<_> = needles.iter().map(|needle| needle.name.as_str()).collect();
            let of = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
            format!("searches memory, environment, arguments and files for secrets{of}")
        }
        Attempt::Exchange { to, steps } => exchange(to, steps),
        Attempt::Proxied { proxy, to } => format!("asks {} for {to}", self::proxy(proxy)),
        Attempt::ProxyVariables => "reads which proxies the environment names".into(),
        Attempt::Ports { of, from, to, .. } => format!("tries the ports {from} to {to} of {of}"),
        Attempt::Mcp { .. } => "starts an MCP server beside it, lists its tools and calls two of them".into(),
        Attempt::Linger { .. } => {
            "starts a process that ignores signals and tries to outlive the sandbox, holding a request open".into()
        }
        Attempt::Ipc { object } => match object {
            IpcObject::SharedMemory(_) => "attaches shared memory of the host's (shmget, shmat)".into(),
            IpcObject::Semaphores(_) => "finds semaphores of the host's (semget)".into(),
            IpcObject::Messages(_) => "finds a message queue of the host's (msgget)".into(),
            IpcObject::PosixMessages(_) => "opens a POSIX message queue of the host's (mq_open)".into(),
        },
        Attempt::Key { description } => {
            format!("searches its session keyring for the launcher's key {description:?}, and reads it")
        }
        Attempt::Process { pid, access } => {
            let whom = if *pid == 1 { "pid 1".to_owned() } else { "a process of the host's".to_owned() };
            match access {
                Access::Signal => format!("asks whether it may signal {whom} (kill with signal 0)"),
                Access::Descriptor => format!("opens a descriptor of {whom} (pidfd_open)"),
                Access::Trace => format!("traces {whom} (PTRACE_SEIZE)"),
                Access::Arguments => format!("opens the command line of {whom} in /proc"),
                Access::Environment => format!("opens the environment of {whom} in /proc"),
            }
        }
        Attempt::Terminal { way } => match way {
            TerminalWay::Write => "writes to its controlling terminal (/dev/tty)".into(),
            TerminalWay::Inject => "types into its controlling terminal (TIOCSTI)".into(),
            TerminalWay::InjectWithHighBit => {
                "types into its controlling terminal, with a bit of TIOCSTI above the 32 that the kernel reads".into()
            }
        },
        Attempt::Open { path, read } => {
            let how = if *read { "reading and writing" } else { "writing" };
            format!("opens {path} for {how}, and closes it")
        }
        Attempt::Kernel { call } => format!("asks the kernel for {}, and gives it back", call.name()),
    }
}

/// What a launch of its own does.
pub fn scenario(scenario: Scenario) -> String {
    match scenario {
        Scenario::Ends(ending) => {
            let how = match ending {
                Ending::Exit => "the workload exits",
                Ending::WorkloadKilled => "the workload is killed",
                Ending::Terminate => "the launcher gets SIGTERM",
                Ending::Interrupt => "the launcher gets SIGINT",
                Ending::HangUp => "the launcher gets SIGHUP",
                Ending::Kill => "the launcher gets SIGKILL",
            };
            format!("a launch that ends so: {how}, while processes linger and requests are open")
        }
        Scenario::Hides(prerequisite) => {
            let what = match prerequisite {
                Prerequisite::UserNamespaces => "user namespaces",
                Prerequisite::NetworkNamespaces => "network namespaces",
                Prerequisite::Mounts => "mounts",
                Prerequisite::Seccomp => "seccomp",
                Prerequisite::NoNewPrivs => "no_new_privs",
            };
            format!("a launch for which the kernel refuses {what}: the workload must not run")
        }
        Scenario::Refuses(input) => match input {
            BadInput::NoProvider => "a launch without a provider".into(),
            BadInput::SharedNetwork => "a launch that asks for the host's network".into(),
            BadInput::ProviderWithQuery => "a launch whose provider URL has a query".into(),
            BadInput::ProviderWithCredentials => "a launch whose provider URL has credentials".into(),
            BadInput::InstanceWithPath => "a launch whose instance has a path".into(),
            BadInput::OpenKeyFile => "a launch whose key file others can read".into(),
            BadInput::LinkedKeyFile => "a launch whose key file is a symbolic link".into(),
            BadInput::KeyInWorkspace => "a launch whose key file lies in the workspace".into(),
            BadInput::NoOrdinaryUser => "a launch by root that names no ordinary user".into(),
            BadInput::UnknownOption => "a launch with an option that there is not".into(),
            BadInput::MissingConfiguration => "a launch whose configuration is not there".into(),
            BadInput::MalformedConfiguration => "a launch whose configuration cannot be read".into(),
        },
        Scenario::KilledEarly => "launches whose launcher is killed in its first milliseconds".into(),
        Scenario::FailsLate => "a launch whose program does not exist, so that it fails when its sockets listen".into(),
        Scenario::Status(status) => format!("a launch whose workload exits with status {status}"),
    }
}

/// A socket by the names of its family and type, where it has some.
fn socket(family: i64, kind: i32, protocol: i32) -> String {
    // The kernel reads the low 32 bits.
    let name = match family as i32 {
        libc::AF_UNIX => "AF_UNIX".into(),
        libc::AF_INET => "AF_INET".into(),
        libc::AF_INET6 => "AF_INET6".into(),
        libc::AF_NETLINK => "AF_NETLINK".into(),
        libc::AF_PACKET => "AF_PACKET".into(),
        libc::AF_VSOCK => "AF_VSOCK".into(),
        libc::AF_ALG => "AF_ALG".into(),
        libc::AF_BLUETOOTH => "AF_BLUETOOTH".into(),
        libc::AF_CAN => "AF_CAN".into(),
        libc::AF_KEY => "AF_KEY".into(),
        libc::AF_TIPC => "AF_TIPC".into(),
        other => format!("family {other}"),
    };
    let kind = match kind {
        libc::SOCK_STREAM => "stream".into(),
        libc::SOCK_DGRAM => "datagram".into(),
        libc::SOCK_RAW => "raw".into(),
        libc::SOCK_SEQPACKET => "seqpacket".into(),
        other => format!("type {other}"),
    };
    let protocol = if protocol == 0 { String::new() } else { format!(", protocol {protocol}") };
    let high = if i64::from(family as i32) == family { "" } else { ", with a bit above the 32 that the kernel reads" };
    format!("makes a socket ({name}, {kind}{protocol}){high}, and closes it")
}

fn proxy(proxy: &Proxy) -> String {
    let by = match proxy.by {
        Carry::Connect => "by CONNECT",
        Carry::Absolute => "in absolute-form",
        Carry::Socks5 => "by SOCKS5",
    };
    match proxy.at {
        ProxyAt::Address(at) => format!("the target's proxy at {at}, {by},"),
        ProxyAt::Environment => format!("the target's proxy that the environment names, {by},"),
    }
}

fn exchange(to: &Endpoint, steps: &[Step]) -> String {
    let relay = match to {
        Endpoint::Tcp(to) if to.port() == PROVIDER_PORT => "the provider's relay".into(),
        Endpoint::Tcp(to) if to.port() == INSTANCE_PORT => "the instance's relay".into(),
        Endpoint::Tcp(to) => place(*to),
        Endpoint::UnixPath(path) => path.clone(),
        Endpoint::Proxied { proxy, to } => format!("{to} by {}", self::proxy(proxy)),
    };
    let mut did: Vec<String> = vec![];
    for step in steps {
        let word = match step {
            Step::Send(text) => match request_line(text) {
                Some(line) => format!("sends `{line}`"),
                // The rest of a head that a bearer stands in.
                None => continue,
            },
            Step::SendBearer(form) => format!("with {}", bearer(*form)),
            Step::SendBody { len, .. } => format!("sends a body of {len} bytes"),
            Step::HalfClose => "closes its sending half".into(),
            Step::ReadHead => "reads the response's head".into(),
            Step::ReadUntil(_) => "reads a part of the body".into(),
            Step::ReadResponse => "reads the response".into(),
            Step::ReadToEnd => "reads to the connection's end".into(),
            Step::Await(_) => "waits for the fixture".into(),
            Step::Close => "closes".into(),
            Step::Reset => "resets the connection".into(),
        };
        if did.last() != Some(&word) {
            did.push(word);
        }
    }
    format!("at {relay}: {}", did.join(", "))
}

/// The first line of a request, short; nothing where the text is not the start of one.
fn request_line(text: &str) -> Option<String> {
    let line = text.split("\r\n").next().filter(|line| line.contains(" HTTP/"))?;
    let mut short: String = line.chars().take(60).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    Some(short)
}

fn bearer(form: BearerForm) -> &'static str {
    match form {
        BearerForm::Right => "the right bearer",
        BearerForm::Short => "the bearer less its last byte",
        BearerForm::Long => "the bearer and a byte more",
        BearerForm::AllDifferent => "a bearer that differs in every byte",
        BearerForm::FirstDifferent => "a bearer that differs in its first byte",
        BearerForm::LastDifferent => "a bearer that differs in its last byte",
        BearerForm::Multibyte => "a bearer that ends with a character of two bytes",
    }
}

fn stream(transport: Stream) -> &'static str {
    match transport {
        Stream::Tcp => "TCP",
        Stream::Mptcp => "MPTCP",
        Stream::Sctp => "SCTP",
        Stream::Dccp => "DCCP",
        Stream::TcpFastOpen => "TCP Fast Open",
        Stream::IoUring => "TCP through io_uring",
    }
}

fn datagram(transport: Datagram) -> &'static str {
    match transport {
        Datagram::Udp => "UDP",
        Datagram::UdpLite => "UDP-Lite",
    }
}

fn send_call(call: SendCall) -> &'static str {
    match call {
        SendCall::SendTo => "sendto",
        SendCall::SendMsg => "sendmsg",
        SendCall::SendMmsg => "sendmmsg",
        SendCall::Write => "connect, write",
    }
}

fn place(to: SocketAddr) -> String {
    format!("{}, port {}", address(to.ip()), to.port())
}

/// An address by what it is in the world.
fn address(ip: IpAddr) -> String {
    let what = match ip {
        ip if ip == HOST_V4 || ip == HOST_V6 => "the host's interface",
        ip if ip == PROVIDER_V4 || ip == PROVIDER_V6 => "the provider",
        ip if ip == INSTANCE_V4 || ip == INSTANCE_V6 => "the instance",
        IpAddr::V4(ip) if ip.is_loopback() => "host loopback",
        IpAddr::V6(ip) if ip.is_loopback() => "host loopback",
        IpAddr::V4(ip) if ip.octets() == [169, 254, 169, 254] => "the metadata service",
        // Where the planner puts destinations that one attempt alone uses.
        IpAddr::V4(ip) if ip.octets()[0] == 9 => return "the internet (v4)".into(),
        IpAddr::V6(ip) if ip.segments()[..2] == [0x2620, 0xfe] => return "the internet (v6)".into(),
        ip => return ip.to_string(),
    };
    format!("{what} ({ip})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destinations_are_named_by_what_they_are() {
        let of = |text: &str| address(text.parse().expect("an address"));
        assert_eq!(of("9.0.0.7"), "the internet (v4)");
        assert_eq!(of("2620:fe::7"), "the internet (v6)");
        assert_eq!(of("198.51.100.2"), "the host's interface (198.51.100.2)");
        assert_eq!(of("169.254.169.254"), "the metadata service (169.254.169.254)");
        assert_eq!(of("::1"), "host loopback (::1)");
        assert_eq!(of("240.0.0.1"), "240.0.0.1");
    }

    #[test]
    fn sockets_are_named() {
        assert_eq!(socket(40, 1, 0), "makes a socket (AF_VSOCK, stream), and closes it");
        let high = socket((1 << 32) | 40, 5, 0);
        assert_eq!(
            high,
            "makes a socket (AF_VSOCK, seqpacket), with a bit above the 32 that the kernel reads, and closes it"
        );
        assert_eq!(socket(99, 7, 3), "makes a socket (family 99, type 7, protocol 3), and closes it");
    }

    #[test]
    fn an_exchange_is_told_step_by_step() {
        let to = Endpoint::Tcp(SocketAddr::from(([127, 0, 0, 1], PROVIDER_PORT)));
        let steps = [
            Step::Send("GET /v1/models HTTP/1.1\r\nauthorization: ".into()),
            Step::SendBearer(BearerForm::Short),
            Step::Send("\r\n\r\n".into()),
            Step::ReadResponse,
        ];
        assert_eq!(
            words(&Attempt::Exchange { to, steps: steps.into() }),
            "at the provider's relay: sends `GET /v1/models HTTP/1.1`, with the bearer less its last byte, reads the \
             response"
        );
    }
}

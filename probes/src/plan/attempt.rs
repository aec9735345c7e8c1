//! What can be attempted, and the words of its kinds.

use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};

use super::exchange::{Authority, Endpoint, Proxy, Step};

/// One thing that a workload might do. Every variant says which bytes carry the nonce.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Attempt {
    /// Connects a stream, sends `wt:<nonce>\n` and reads what comes back.
    Connect {
        transport: Stream,
        to: SocketAddr,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source_port: Option<u16>,
    },
    /// Through a proxy of the target's own: a tunnel, then as `Connect`; or, by absolute-form, `GET /wt:<nonce>`.
    Proxied { proxy: Proxy, to: Authority },
    /// Where the environment says that proxies are: for CONNECT, for absolute-form, for SOCKS5.
    ProxyVariables,
    /// Sends one datagram and reads what comes back. The payload is `wt:<nonce>`, or a DNS query for `<nonce>.<zone>`.
    Send {
        transport: Datagram,
        to: SocketAddr,
        call: SendCall,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source_port: Option<u16>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dns: Option<DnsQuery>,
    },
    /// Asks for a DNS name `<nonce>.<zone>` over a stream (RFC 1035 4.2.2), with or without TLS's first record in front.
    DnsStream { to: SocketAddr, query: DnsQuery },
    /// Resolves `<nonce>.<zone>` with the C library.
    Resolve { zone: String },
    /// One ICMP echo request with `wt:<nonce>` as its data, over a ping socket or a raw one.
    Ping { to: IpAddr, raw: bool },
    /// One raw IP packet of this protocol with `wt:<nonce>` as its data.
    RawIp { to: IpAddr, protocol: u8 },
    /// One Ethernet frame of type 0x88b5 with `wt:<nonce>` as its data on every link, loopback included (`AF_PACKET`).
    Frame,
    /// Connects a Unix socket, sends `wt:<nonce>\n`, reads what comes back and counts the descriptors that came with it.
    Unix { address: UnixAddress, kind: UnixKind },
    /// Makes a socket and closes it. Never binds or connects it.
    ///
    /// The family goes to the raw system call as 64 bits: the kernel reads the low 32, a careless filter all of them.
    Socket { family: i64, kind: i32, protocol: i32 },
    /// Every open descriptor but 0, 1 and 2: what it is, and whether `wt:<nonce>` can be written to it or, for an
    /// unconnected internet socket, sent through it to `reach`.
    Descriptors { reach: SocketAddr },
    /// What the network namespace holds: links, addresses, routes, by netlink.
    Network,
    /// A change of the network namespace by netlink (or, for `LinkDown`, an ioctl).
    ChangeNetwork { change: NetworkChange },
    /// Identity and privileges of this process, its threads, and fork and exec descendants of it.
    Privileges,
    /// Makes new namespaces (`unshare`, or `clone3` where `by_clone`) and then tries, inside them, to reach `reach`.
    NewNamespaces { user: bool, network: bool, mount: bool, by_clone3: bool, reach: SocketAddr },
    /// Mounts a tmpfs over `over`, by the old or the new mount calls. Only where the mount namespace is not the machine's.
    Mount { over: String, new_api: bool },
    /// Runs a set-user-id copy of the probe at this path and reports its identity.
    SetUserId { path: String },
    /// Opens a file for reading and reports size, digest and whether it holds `wt:<nonce>`.
    Read { path: String },
    /// Creates or opens a file for writing, writes `wt:<nonce>`, and reads it back.
    Write { path: String },
    /// Writes `wt:<nonce>` to the end of a file that is there. Whether it came to the host's file, only the host can tell.
    Append { path: String },
    /// Looks for needles in everything that the workload can read.
    Scan { needles: Vec<Needle>, roots: Vec<String> },
    /// A scripted exchange of bytes with a relay: see [`Step`].
    Exchange { to: Endpoint, steps: Vec<Step> },
    /// Which ports of a loopback address (1 to 65535) accept a connection.
    /// With `known`, the probe first listens on a port of that address itself, to show that the scan sees one.
    Ports {
        of: IpAddr,
        from: u16,
        to: u16,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        known: bool,
    },
    /// Starts the MCP server beside the probe (this program's `mcp-server`), lists its tools and calls two of them.
    /// The nonce travels in the calls' arguments.
    Mcp { instance: String },
    /// Starts a process that tries to outlive everything: new session, signals ignored, reparented, named `comm`.
    /// With `holding`, it first does these steps and keeps the connection open.
    Linger { comm: String, holding: Option<(Endpoint, Vec<Step>)> },
    /// Opens an object of inter-process communication that somebody else made. Never makes one.
    Ipc { object: IpcObject },
    /// Finds a key of type `user` from the session keyring on, and reads it.
    Key { description: String },
    /// Asks for access to a process that is not the workload's, and does nothing with it.
    Process { pid: i32, access: Access },
    /// Sends `wt:<nonce>\n` to the controlling terminal, or puts it into the terminal's input.
    Terminal { way: TerminalWay },
    /// Opens a file for writing, or for both, and closes it at once. Nothing is ever written.
    Open { path: String, read: bool },
    /// Asks the kernel for this interface in its smallest form, and gives it back.
    Kernel { call: KernelCall },
}

/// An object of inter-process communication, by the name that its maker gave it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IpcObject {
    /// System V, by key.
    SharedMemory(i32),
    Semaphores(i32),
    Messages(i32),
    /// A POSIX message queue: `/name`.
    PosixMessages(String),
}

/// What is asked of another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// `kill` with signal 0, which is none.
    Signal,
    /// `pidfd_open`.
    Descriptor,
    /// `PTRACE_SEIZE`, which stops nothing.
    Trace,
    /// Opens its `cmdline` in /proc.
    Arguments,
    /// Opens its `environ` in /proc: what may be read of its memory.
    Environment,
}

/// How something reaches the controlling terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TerminalWay {
    Write,
    /// `TIOCSTI`, as if it had been typed.
    Inject,
    /// The same with a bit of the request set above the 32 that the kernel reads.
    InjectWithHighBit,
}

/// A kernel interface with a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KernelCall {
    IoUring,
    Userfaultfd,
    Bpf,
    PerfEvent,
    Keyctl,
}

impl KernelCall {
    pub const ALL: [Self; 5] = [Self::IoUring, Self::Userfaultfd, Self::Bpf, Self::PerfEvent, Self::Keyctl];

    /// The system call.
    pub fn name(self) -> &'static str {
        match self {
            Self::IoUring => "io_uring_setup",
            Self::Userfaultfd => "userfaultfd",
            Self::Bpf => "bpf",
            Self::PerfEvent => "perf_event_open",
            Self::Keyctl => "keyctl",
        }
    }

    /// Whether this kernel gives it to the calling process.
    pub fn is_granted(self) -> bool {
        crate::sys::kernel::call(self).is_ok()
    }
}

/// Transports with `connect` and a stream of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    Tcp,
    Mptcp,
    Sctp,
    Dccp,
    /// TCP whose SYN carries data (`MSG_FASTOPEN`).
    TcpFastOpen,
    /// TCP through io_uring's own socket, connect and send.
    IoUring,
}

/// Transports with single datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Datagram {
    Udp,
    UdpLite,
}

/// Which system call sends the datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SendCall {
    SendTo,
    SendMsg,
    SendMmsg,
    /// `connect`, then `write`.
    Write,
}

/// A question that carries the nonce as its first label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DnsQuery {
    pub zone: String,
    /// The record type's number: 1 A, 28 AAAA, 16 TXT, 65 HTTPS, 33 SRV, 255 ANY.
    pub qtype: u16,
}

/// Where a Unix socket is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnixAddress {
    Path(String),
    /// Without the leading NUL.
    Abstract(String),
}

/// What kind of Unix socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnixKind {
    Stream,
    Datagram,
    Seqpacket,
}

/// A change that a confined workload must not be able to make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkChange {
    /// Takes loopback down and, where that worked, up again.
    LinkDown,
    AddAddress(IpAddr),
    AddDefaultRoute,
    /// A veth pair whose other end lands in the namespace of pid 1.
    AddVeth,
    /// Opens /dev/net/tun and makes an interface.
    AddTun,
}

/// A secret to look for without carrying it: length and SHA-256 of its bytes, and the sum of its bytes to skip by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Needle {
    pub name: String,
    pub len: u32,
    /// Sum of the bytes modulo 2^32: a rolling check before the digest.
    pub sum: u32,
    /// 64 hexadecimal digits.
    pub sha256: String,
}

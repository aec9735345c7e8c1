//! The plan: everything that one launch of the probe is asked to attempt.

use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::nonce::Nonce;

/// What one launch does. Travels as base64 of its JSON in one argument of at most [`crate::wire::MAX_PLAN`] bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Which launch of the run this is; repeated in every line.
    pub launch: String,
    /// What the probe and its samples call themselves (`PR_SET_NAME`): 15 bytes that the witness looks for.
    pub comm: String,
    /// Seconds since 1970 after which the probe refuses to make any attempt.
    pub expires: u64,
    /// The cookie (`SO_NETNS_COOKIE`) of the machine's own network namespace: a probe that finds itself there attempts nothing.
    pub machine_netns: u64,
    /// The inode of the machine's own mount namespace (`/proc/self/ns/mnt`): where it is absent, or the probe finds itself
    /// there, [`Attempt::Mount`] is not made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_mnt: Option<u64>,
    /// How the probe waits before its first attempt.
    pub gate: Gate,
    /// How many attempts run at once.
    pub parallel: u16,
    /// Where the workload finds its bearer, for the steps that send it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bearer: Option<BearerAt>,
    /// Made one instant after start, before the gate, guarded by `machine_netns` alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub first: Vec<Planned>,
    pub attempts: Vec<Planned>,
    /// Made one after another when all of `attempts` have ended: they change what others rely on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub last: Vec<Planned>,
    /// What the probe does after its last attempt.
    pub end: End,
}

/// What must happen before the first attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// One byte on standard input, which the harness sends when it has found the probe in the world.
    Go,
    /// Nothing: for targets whose manifest says why standard input is not ours.
    Cookie,
}

/// Where a workload finds the bearer of the provider's relay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BearerAt {
    /// The value of this environment variable.
    Env(String),
    /// The contents of this file, white space trimmed.
    File(String),
}

/// The bearer, right or wrong in one way. A step that needs it and cannot find it stops the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BearerForm {
    Right,
    /// Without its last byte.
    Short,
    /// With one `A` more.
    Long,
    /// Of the same length, every byte another one.
    AllDifferent,
    FirstDifferent,
    LastDifferent,
    /// As many characters, the last one two bytes long.
    Multibyte,
}

/// What the probe does when every attempt has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// Exits with this status.
    Exit(u8),
    /// Dies by this signal.
    Signal(i32),
    /// Says `done` and then stays, until something ends it or a minute has passed.
    Stay,
}

/// One attempt of the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Planned {
    /// Unique in the launch: `check-slug/name`.
    pub id: String,
    pub nonce: Nonce,
    /// Milliseconds until the attempt's process is killed and the attempt counts as timed out.
    pub deadline_ms: u32,
    pub attempt: Attempt,
}

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

/// Where an exchange connects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Endpoint {
    Tcp(SocketAddr),
    UnixPath(String),
    /// Through a tunnel of a proxy.
    Proxied {
        proxy: Proxy,
        to: Authority,
    },
}

/// A proxy that the target brings, and how it is used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proxy {
    pub at: ProxyAt,
    pub by: Carry,
}

/// Where a proxy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProxyAt {
    Address(SocketAddr),
    /// Where the variables of the environment say, with the credentials that they have: `HTTPS_PROXY` for CONNECT,
    /// `HTTP_PROXY` for absolute-form, `ALL_PROXY` or `FTP_PROXY` for SOCKS5, and another one where none has such a URL.
    Environment,
}

/// How a proxy is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Carry {
    /// HTTP CONNECT.
    Connect,
    /// An HTTP request in absolute-form. As an endpoint of an exchange it is CONNECT.
    Absolute,
    /// SOCKS5, with the name as it is where there is one.
    Socks5,
}

/// A host, by name or address, and a port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Authority {
    pub host: String,
    pub port: u16,
}

impl std::fmt::Display for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { host, port } = self;
        // An IPv6 address stands in brackets (RFC 3986 3.2.2).
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

impl From<SocketAddr> for Authority {
    fn from(to: SocketAddr) -> Self {
        Self { host: to.ip().to_string(), port: to.port() }
    }
}

/// One step of a scripted exchange. A step that cannot be done ends the script; the facts say which one it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Sends these bytes. Text as it is; `\xNN` escapes for the rest (see [`crate::wire::unescape`]).
    Send(String),
    /// Sends `len` bytes of [`pseudo_random`] with this seed.
    SendBody { len: u64, seed: u32 },
    /// `shutdown(SHUT_WR)`.
    HalfClose,
    /// Reads and parses one response head.
    ReadHead,
    /// Reads on until the body read so far holds this text.
    ReadUntil(String),
    /// Reads the response (head if not read yet, body by its framing) to its end, or the connection's.
    ReadResponse,
    /// Reads until the connection ends, whatever the framing says.
    ReadToEnd,
    /// Sends the bearer in this form: of `Plan::bearer`.
    SendBearer(BearerForm),
    /// On a connection of its own to the same endpoint, does these steps, reads the response and wants a 200: how a
    /// script waits for the fixture.
    Await(Vec<Step>),
    /// Closes in the ordinary way (FIN).
    Close,
    /// Closes with a reset (`SO_LINGER` 0).
    Reset,
}

/// The bytes of a generated body: xorshift32 over the seed, four bytes a step, little-endian.
pub fn pseudo_random(seed: u32) -> impl Iterator<Item = u8> {
    let mut state = seed | 1;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state.to_le_bytes()
    })
    .flatten()
}

/// SHA-256 of the first `len` bytes of [`pseudo_random`], as hexadecimal digits.
pub fn pseudo_random_sha256(seed: u32, len: u64) -> String {
    let mut digest = Sha256::new();
    let mut left = len as usize;
    let mut body = pseudo_random(seed);
    let mut part = Vec::with_capacity(PART);
    while left > 0 {
        part.clear();
        part.extend(body.by_ref().take(left.min(PART)));
        digest.update(&part);
        left -= part.len();
    }
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Bytes that are digested at once.
const PART: usize = 64 * 1024;

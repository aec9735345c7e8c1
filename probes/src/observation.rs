//! What the probe saw: facts and errnos, never verdicts. All of it is a claim until the witness supports it.

use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
};

use serde::{Deserialize, Serialize};

/// The first line of a launch: the probe is up and has started its samples. No attempt but `first` was made yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The probe's own process id as it sees it.
    pub pid: i32,
    /// Parked samples that the witness looks at: a forked child and one that executed the program again.
    pub forked: i32,
    pub executed: Option<i32>,
    /// Real user and group id as seen inside.
    pub uid: u32,
    pub gid: u32,
    /// Cookie of the probe's network namespace (`SO_NETNS_COOKIE`), where a socket could be made.
    pub netns: Option<u64>,
    /// Inodes of its namespaces by kind, as `/proc/self/ns` names them, where there is one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub namespaces: BTreeMap<String, u64>,
    /// `HOME` and `TMPDIR`, where they are set: 100 bytes of each at most.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, String>,
}

/// One attempt's report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The attempt's id in the plan.
    pub attempt: String,
    pub outcome: Outcome,
    /// Microseconds from the start of the attempt's process to its end.
    pub micros: u64,
    /// Whether free text or the end of a list was left out so that the observation fits a line.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// How an attempt ended, as the probe saw it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// A system call answered with an error: the attempt went no further.
    Refused { call: String, errno: i32 },
    /// The attempt's process died by this signal (31 is SIGSYS: a filter).
    Killed { signal: i32 },
    /// The deadline passed. `step` is what was being waited for.
    TimedOut { step: String },
    /// Connected, sent or opened without an error, and nothing was read.
    Silent { step: String },
    /// Bytes came back: how many, their SHA-256, and the first of them (printable text, the rest as `\xNN`).
    Heard { len: u64, sha256: String, head: String },
    /// What was found, for attempts that look rather than reach.
    Found { facts: Facts },
    /// Something that the attempt itself needs is not there (no /proc, no program to run). Never a denial.
    Absent { what: String, errno: i32 },
    /// The probe failed by its own fault.
    Broken { message: String },
}

/// Facts by kind of attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "facts", rename_all = "snake_case")]
pub enum Facts {
    /// `Attempt::Socket`: it could be made.
    SocketMade,
    /// `Attempt::Unix` where the peer handed descriptors over.
    DescriptorsReceived { count: u32 },
    /// `Attempt::Descriptors`: those beyond 0, 1 and 2.
    Descriptors { open: Vec<Descriptor> },
    /// `Attempt::Network`.
    Network { links: Vec<Link>, addresses: Vec<Address>, routes: Vec<Route> },
    /// `Attempt::ChangeNetwork` that was accepted by the kernel.
    Changed,
    /// `Attempt::Privileges`: who, and what it holds. One entry a thread or process.
    Privileges { of: Vec<Privileges> },
    /// `Attempt::NewNamespaces` that were made: what the tries inside them gave.
    Namespaces { reached: bool, tries: Vec<(String, i32)> },
    /// `Attempt::SetUserId`: identity after the exec.
    Identity { ruid: u32, euid: u32, no_new_privs: bool, effective: u64 },
    /// `Attempt::Read`: the file's size and digest, and whether the nonce stands in it.
    File { len: u64, sha256: String, has_nonce: bool },
    /// `Attempt::Write`: what was written was read back.
    Written,
    /// `Attempt::Scan`: where each needle was found, and how much was looked at.
    Scanned { found: Vec<(String, String)>, places: u32, bytes: u64, complete: bool },
    /// `Attempt::Exchange`.
    Exchange { exchange: Exchange },
    /// `Attempt::ProxyVariables`.
    ProxyVariables { connect: Option<SocketAddr>, absolute: Option<SocketAddr>, socks5: Option<SocketAddr> },
    /// `Attempt::Ports`: ports that accepted a connection, and the one that the probe itself had opened.
    Ports {
        open: Vec<u16>,
        tried: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        known: Option<u16>,
    },
    /// `Attempt::Mcp`.
    Mcp { tools: Vec<String>, calls: Vec<McpCall> },
    /// `Attempt::Linger`: the process id inside.
    Lingering { pid: i32 },
    /// `Attempt::Mount` that the kernel did.
    Mounted,
    /// The kernel granted what was asked for: `Attempt::Ipc`, `Key`, `Process`, `Open`, `Kernel`.
    Granted,
}

/// One inherited descriptor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Descriptor {
    pub fd: i32,
    /// What it is: `regular`, `directory`, `pipe`, `char`, `unix`, `inet`, `netlink`, `packet`, `anon`,
    /// `namespace`, `other`.
    pub kind: String,
    /// Whether the nonce could be written to it or sent through it without an error.
    pub usable: bool,
}

/// One link of the network namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    pub index: u32,
    pub name: String,
    pub loopback: bool,
    pub up: bool,
}

/// One address of the network namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    pub link: u32,
    pub address: IpAddr,
}

/// One route of any table but `local`, and local routes that do not point to loopback.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    pub table: u32,
    /// `address/prefix`, or `default`.
    pub destination: String,
    pub link: u32,
}

/// Identity and privileges of one thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Privileges {
    /// `self`, `thread`, `fork`, `exec`.
    pub of: String,
    /// Real, effective, saved, file-system.
    pub uid: [u32; 4],
    pub gid: [u32; 4],
    pub groups: Vec<u32>,
    /// The five capability sets, as bit masks.
    pub inheritable: u64,
    pub permitted: u64,
    pub effective: u64,
    pub bounding: u64,
    pub ambient: u64,
    pub no_new_privs: bool,
    /// Mode of `PR_GET_SECCOMP`: 0, 1 or 2.
    pub seccomp: u8,
}

/// One scripted exchange.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// How many steps were done; less than the script's length means that the next one could not be.
    pub steps_done: u32,
    /// Why the script stopped early.
    pub stopped: Option<String>,
    /// Status code of the last head read.
    pub status: Option<u16>,
    /// Header names (lower case) and values of that head, at most 24 of at most 120 bytes, sanitised.
    pub headers: Vec<(String, String)>,
    /// Body bytes read after the last head, framing removed: count, SHA-256, first bytes (sanitised).
    pub body_len: u64,
    pub body_sha256: String,
    pub body_head: String,
    /// How the reading ended.
    pub ended: Ended,
    /// Microseconds from the start to the end of each step.
    pub step_micros: Vec<u64>,
}

/// How the reading of a response ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// Nothing was read to an end.
    #[default]
    Open,
    /// The framing said that the message was whole.
    Complete,
    /// The connection ended before the framing said so.
    Truncated,
    /// The connection was reset.
    Reset,
    /// The connection ended and no byte of a response had come.
    Closed,
    /// The framing was not HTTP/1.
    Malformed,
}

/// One call of an MCP tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct McpCall {
    pub tool: String,
    pub is_error: bool,
    /// First bytes of the answer, sanitised.
    pub text: String,
}

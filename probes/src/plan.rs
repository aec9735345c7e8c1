//! The plan: everything that one launch of the probe is asked to attempt.

mod attempt;
mod exchange;

use serde::{Deserialize, Serialize};

use crate::nonce::Nonce;
pub use attempt::{
    Access, Attempt, Datagram, DnsQuery, IpcObject, KernelCall, Needle, NetworkChange, SendCall, Stream, TerminalWay,
    UnixAddress, UnixKind,
};
pub use exchange::{Authority, BearerForm, Carry, Endpoint, Proxy, ProxyAt, Step, pseudo_random, pseudo_random_sha256};

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

//! The words that are exchanged with an adapter, one JSON document a line: `harness/schemas/adapter.schema.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What each line must be.
pub const SCHEMA: &str = include_str!("../../schemas/adapter.schema.json");
/// The version of the protocol.
pub const PROTOCOL: u32 = 1;
/// Bytes of an answer, with its end of line.
pub const LONGEST: usize = 64 << 10;
/// Bytes of a sandbox's id.
pub const LONGEST_ID: usize = 256;
/// Processes that an adapter may name.
const MOST_PIDS: usize = 1_000;

/// What the adapter is asked.
#[derive(Clone, Debug, Serialize)]
pub struct Request<'a> {
    /// Counted from 1. The answer carries it.
    pub id: u64,
    #[serde(flatten)]
    pub verb: Verb<'a>,
}

/// The five verbs.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "verb", rename_all = "lowercase")]
pub enum Verb<'a> {
    /// Who are you?
    Hello { protocol: u32 },
    /// Start a sandbox.
    Up(Up<'a>),
    /// What of it can be seen from outside?
    Inspect { sandbox: &'a str },
    /// Run this in it, with descriptors 3, 4 and 5 as its standard input, output and error. Answered when it has ended.
    Exec { sandbox: &'a str, argv: &'a [String] },
    /// End it, with everything that runs in it. No error where it is gone already.
    Down { sandbox: &'a str },
}

/// What the sandbox is to have.
#[derive(Clone, Debug, Serialize)]
pub struct Up<'a> {
    /// `sockets` or `none`.
    pub route: &'a str,
    /// With `sockets`: the directory of the relays' sockets, which the workload must find at the same path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sockets: Option<&'a str>,
    /// With `sockets`: the loopback ports that the workload opens inside, by route.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub ports: BTreeMap<&'static str, u16>,
    /// The program of the workload, which must be there at the same path.
    pub program: &'a str,
    /// The directory that the workload may write, at the same path. It is where the adapter starts.
    pub workspace: &'a str,
    /// Where the adapter may keep what a sandbox needs outside. It is as empty when the sandbox is down.
    pub run_dir: &'a str,
    /// Names of variables of the adapter's own environment that the workload must have, where they are set.
    pub environment: &'a [String],
}

/// One line of an adapter's.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    pub id: u64,
    #[serde(default)]
    ok: Option<serde_json::Value>,
    #[serde(default)]
    error: Option<String>,
}

/// What it says of a request: what was asked for, or why not.
pub type Reply = Result<serde_json::Value, String>;

/// The answer to `hello`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    pub protocol: u32,
    /// What the sandbox is called.
    pub name: String,
    /// Its version, in its own words.
    pub version: String,
    pub supports: Vec<Support>,
}

/// What an adapter can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Support {
    /// The route `sockets`.
    Sockets,
    /// The route `none`.
    None,
    /// The verb `inspect`.
    Inspect,
}

/// The answer to `up`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Started {
    /// An id of the adapter's own.
    pub sandbox: String,
}

/// The answer to `inspect`: what can be seen, or why nothing can.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inspected {
    /// Processes of the sandbox, as the adapter's pid namespace numbers them.
    #[serde(default)]
    pub pids: Vec<u32>,
    /// Its path under /sys/fs/cgroup.
    #[serde(default)]
    pub cgroup: Option<String>,
    /// Inodes of its namespaces, by the names of `/proc/PID/ns`.
    #[serde(default)]
    pub namespaces: BTreeMap<Namespace, u64>,
    /// Why its processes cannot be seen.
    #[serde(default)]
    pub unseen: Option<String>,
}

/// The kinds of namespaces that a witness compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Namespace {
    Cgroup,
    Ipc,
    Mnt,
    Net,
    Pid,
    User,
    Uts,
}

/// The answer to `exec`: how the workload ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "lowercase")]
pub enum Ended {
    Status(u8),
    Signal(u8),
}

/// The answer to `down`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gone {}

impl Verb<'_> {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Hello { .. } => "hello",
            Self::Up(_) => "up",
            Self::Inspect { .. } => "inspect",
            Self::Exec { .. } => "exec",
            Self::Down { .. } => "down",
        }
    }
}

impl Answer {
    /// Reads one line. The error says in its own words, or the adapter's, what is wrong.
    pub fn read(line: &[u8]) -> Result<Self, String> {
        let answer: Self = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        match (&answer.ok, &answer.error) {
            (Some(_), None) | (None, Some(_)) => Ok(answer),
            _ => Err("it has neither `ok` nor `error`, or both".into()),
        }
    }

    pub fn reply(self) -> Reply {
        match (self.ok, self.error) {
            (Some(ok), _) => Ok(ok),
            (None, error) => Err(error.unwrap_or_default()),
        }
    }
}

impl Started {
    pub fn check(self) -> Result<String, String> {
        match self.sandbox.len() {
            1..=LONGEST_ID => Ok(self.sandbox),
            length => Err(format!("its id of the sandbox has {length} bytes, and 1 to {LONGEST_ID} are allowed")),
        }
    }
}

impl Inspected {
    pub fn check(self) -> Result<Self, String> {
        let nothing = self.pids.is_empty() && self.cgroup.is_none() && self.namespaces.is_empty();
        if self.pids.len() > MOST_PIDS {
            return Err(format!("it names {} processes, and at most {MOST_PIDS} are allowed", self.pids.len()));
        }
        match &self.unseen {
            Some(_) if !nothing => Err("it says what can be seen, and that nothing can".into()),
            None if nothing => Err("it says neither what can be seen nor, in `unseen`, why nothing can".into()),
            _ => Ok(self),
        }
    }
}

impl Ended {
    /// The exit status that a launcher ends with: as shells have it.
    pub fn status(self) -> u8 {
        match self {
            Self::Status(status) => status,
            Self::Signal(signal) => signal.saturating_add(128),
        }
    }
}

impl Namespace {
    pub fn name(self) -> &'static str {
        match self {
            Self::Cgroup => "cgroup",
            Self::Ipc => "ipc",
            Self::Mnt => "mnt",
            Self::Net => "net",
            Self::Pid => "pid",
            Self::User => "user",
            Self::Uts => "uts",
        }
    }
}

#[cfg(test)]
mod tests;

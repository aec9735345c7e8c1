//! The evidence of one run: what was planned, seen inside and seen outside, by launch. The judge reads nothing else.

use std::{collections::BTreeMap, net::SocketAddr};

use serde::{Deserialize, Serialize};
use watertight_probe::{
    nonce::Nonce,
    observation::{Hello, Observation},
    plan::Attempt,
    sighting::Sighting,
};

/// Everything that one run recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    pub launches: Vec<Launch>,
    /// Synthetic secrets of this run that rules compare with, by name: `provider-key`.
    pub secrets: BTreeMap<String, String>,
    /// Secret texts of the canaries, and SHA-256 digests of planted files: reading one inside means that it was reached.
    pub banners: Vec<String>,
    /// What no attempt's nonce or destination explains: a number, and the first few.
    pub unattributed: Unattributed,
    /// Whether the outside record is whole; where it is not, silence means nothing.
    pub gaps: Vec<String>,
    /// What the manifest declares absent, and why: `provider`, `instance`.
    #[serde(default)]
    pub absent: BTreeMap<String, String>,
}

/// Sightings that belong to no attempt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unattributed {
    pub count: u64,
    pub first: Vec<Sighting>,
}

/// Which launch of the run this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LaunchKind {
    /// The attempts without a sandbox, as the launching user, before the target.
    ControlBefore,
    /// The attempts that need it, as the world's root, before the target.
    RootBefore,
    /// The target, with every route it supports.
    Target,
    /// The attempts without a sandbox, after the target.
    ControlAfter,
    RootAfter,
    /// The target without an instance configured.
    NoInstance,
    /// A second spawn of the target beside the first.
    Second,
    /// A launch that the check itself ends in some way, or whose prerequisites it hides.
    Own,
}

/// One launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// Unique in the run; repeated in every line of the probe.
    pub id: String,
    pub kind: LaunchKind,
    /// What was executed in the world.
    pub argv: Vec<String>,
    pub hello: Option<Hello>,
    /// The probe said that every attempt had ended.
    pub done: bool,
    /// Errors of the probe's channel and of the launch: each one makes silence meaningless.
    pub errors: Vec<String>,
    pub attempts: BTreeMap<String, AttemptRecord>,
    /// What the witness saw of the probe's processes, from outside.
    pub processes: Vec<Process>,
    /// The sockets of the routes, where the target has them.
    pub sockets: Vec<Socket>,
    /// What was left after the end, by name: `process …`, `mount …`, `link …`, `namespace …`, `file …`, `socket …`.
    pub left: Vec<String>,
    /// Facts that the harness measured about this launch from outside.
    pub outside: BTreeMap<String, String>,
    pub exit: Option<Exit>,
    /// Last bytes of its standard error, sanitised.
    pub stderr: String,
    pub micros: u64,
}

/// A relay's Unix socket as the harness finds it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Socket {
    pub path: String,
    /// Permission bits.
    pub mode: u32,
    /// Microseconds from the file's birth to the last change of its mode, owner or name; nothing where the file system
    /// keeps no birth.
    pub changed_after: Option<u64>,
    pub directory_mode: u32,
    /// Socket and directory belong to the launching user.
    pub owned_by_user: bool,
    /// Whether a connection by that user was accepted.
    pub answers_user: bool,
    /// Whether one by another user was; nothing where the world has no other user.
    pub answers_others: Option<bool>,
}

/// One attempt of one launch, inside and outside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttemptRecord {
    pub nonce: Nonce,
    pub attempt: Attempt,
    /// An address that a relay must not be led to by this attempt.
    pub evil: Option<SocketAddr>,
    /// The probe's receipt: the attempt's process existed.
    pub began: bool,
    pub observation: Option<Observation>,
    pub sightings: Vec<Sighting>,
}

/// How a launch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    Status(i32),
    Signal(i32),
    /// The harness ended it at its deadline.
    Deadline,
}

/// A process of the target as `/proc` of the harness shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Process {
    pub pid: i32,
    pub comm: String,
    /// Inode numbers by kind: `net`, `user`, `mnt`, `pid`, `ipc`, `uts`, `cgroup`.
    pub namespaces: BTreeMap<String, u64>,
    /// The same of the world that it was launched in.
    pub world_namespaces: BTreeMap<String, u64>,
    /// Lines of the maps as the harness reads them: inside, outside, length.
    pub uid_map: Vec<[u64; 3]>,
    pub gid_map: Vec<[u64; 3]>,
    pub threads: Vec<Thread>,
}

/// One thread of such a process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thread {
    pub tid: i32,
    /// Real, effective, saved, file-system; as the harness's user namespace shows them.
    pub uid: [u32; 4],
    pub gid: [u32; 4],
    pub groups: Vec<u32>,
    pub inheritable: u64,
    pub permitted: u64,
    pub effective: u64,
    pub bounding: u64,
    pub ambient: u64,
    pub no_new_privs: bool,
    pub seccomp: u8,
}

impl Launch {
    /// A launch that there was no reason to make.
    pub fn not_made(id: &str, kind: LaunchKind) -> Self {
        Self {
            id: id.to_owned(),
            kind,
            argv: vec![],
            hello: None,
            done: false,
            errors: vec![],
            attempts: BTreeMap::new(),
            processes: vec![],
            sockets: vec![],
            left: vec![],
            outside: BTreeMap::new(),
            exit: None,
            stderr: String::new(),
            micros: 0,
        }
    }

    /// A fact from outside that is a number.
    pub fn number(&self, fact: &str) -> Option<u64> {
        self.outside.get(fact)?.parse().ok()
    }

    /// Why this launch's reports cannot be relied on, if they cannot.
    pub fn problem(&self) -> Option<String> {
        if self.hello.is_none() {
            Some(format!("the probe of launch {} did not answer", self.id))
        } else if !self.done {
            Some(format!("the probe of launch {} did not finish", self.id))
        } else {
            self.errors.first().map(|error| format!("the channel of launch {} is broken: {error}", self.id))
        }
    }

    /// The launched process ended with status 0.
    pub fn succeeded(&self) -> bool {
        self.exit == Some(Exit::Status(0))
    }
}

impl Evidence {
    /// Adds what was recorded in another world of the same run, with the same secrets.
    pub fn join(&mut self, other: Self) {
        self.launches.extend(other.launches);
        self.gaps.extend(other.gaps);
        self.unattributed.count += other.unattributed.count;
        self.unattributed.first.extend(other.unattributed.first);
    }

    /// The launches of one kind, in order.
    pub fn of_kind(&self, kind: LaunchKind) -> impl Iterator<Item = &Launch> {
        self.launches.iter().filter(move |launch| launch.kind == kind)
    }
}

//! What an attempt has at hand in its process, and the ways in which it ends early.

use std::{
    io,
    time::{Duration, Instant},
};

use sha2::{Digest, Sha256};

use crate::{
    nonce::Nonce,
    observation::{Facts, Outcome},
    plan::BearerAt,
    sys::{self, memory::Slot},
    wire,
};

/// One attempt's surroundings.
pub struct Context<'a> {
    pub nonce: Nonce,
    /// When the attempt must have its result; a little before its process is killed.
    pub until: Instant,
    pub slot: &'a Slot,
    /// Descriptors that the probe was started with.
    pub inherited: &'a [i32],
    pub machine_netns: u64,
    pub machine_mnt: Option<u64>,
    pub bearer: Option<&'a BearerAt>,
}

impl Context<'_> {
    /// Says what is waited for now: it becomes the `step` of a timeout.
    pub fn step(&self, step: &str) {
        self.slot.note(step);
    }

    /// The payload that names the attempt.
    pub fn payload(&self) -> String {
        format!("wt:{}", self.nonce)
    }

    /// When to stop waiting for an answer that need not come: a third of what is left, 300 ms at most.
    pub fn answer_until(&self) -> Instant {
        let now = Instant::now();
        now + (self.until.saturating_duration_since(now) / 3).min(Duration::from_millis(300))
    }
}

/// How an attempt ends: with an outcome, or early.
pub type Attempted = Result<Outcome, Stop>;

/// Why an attempt went no further.
#[derive(Debug)]
pub enum Stop {
    Refused(&'static str, i32),
    TimedOut(String),
    Absent(String, i32),
    Broken(String),
}

impl Stop {
    /// For texts that name the cause.
    pub fn into_text(self) -> String {
        match self {
            Self::Refused(call, errno) => format!("{call}: {}", io::Error::from_raw_os_error(errno)),
            Self::TimedOut(step) => format!("{step} timed out"),
            Self::Absent(what, errno) => format!("{what} is not there ({})", io::Error::from_raw_os_error(errno)),
            Self::Broken(message) => message,
        }
    }
}

impl From<Stop> for Outcome {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Refused(call, errno) => Self::Refused { call: call.to_owned(), errno },
            Stop::TimedOut(step) => Self::TimedOut { step },
            Stop::Absent(what, errno) => Self::Absent { what, errno },
            Stop::Broken(message) => Self::Broken { message },
        }
    }
}

/// For `map_err`: this call was refused.
pub fn refused(call: &'static str) -> impl Fn(io::Error) -> Stop {
    move |error| Stop::Refused(call, sys::errno(&error))
}

/// For `map_err`: this is not there.
pub fn absent(what: impl Into<String>) -> impl FnOnce(io::Error) -> Stop {
    move |error| Stop::Absent(what.into(), sys::errno(&error))
}

pub fn timed_out(step: &str) -> Stop {
    Stop::TimedOut(step.to_owned())
}

pub fn silent(step: &str) -> Outcome {
    Outcome::Silent { step: step.to_owned() }
}

pub fn found(facts: Facts) -> Outcome {
    Outcome::Found { facts }
}

/// Bytes that came back.
pub fn heard(bytes: &[u8]) -> Outcome {
    Outcome::Heard { len: bytes.len() as u64, sha256: sha256(bytes), head: wire::escape(bytes, 160) }
}

/// SHA-256 as 64 hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

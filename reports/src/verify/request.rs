//! What a verifier brings to one verification, beside the policy.

use std::{collections::BTreeSet, time::SystemTime};

use crate::signing::digest::Digest;

/// One verification.
#[derive(Clone, Debug)]
pub struct Request {
    pub now: SystemTime,
    /// The artifact at hand.
    pub artifact: Option<Digest>,
    pub commit: Option<String>,
    /// The challenge that the run must answer, 64 lower-case hexadecimal digits.
    pub nonce: Option<String>,
    /// Ids of the runs that were accepted before.
    pub seen: BTreeSet<String>,
    /// The log of starts and finishes, and what of it was seen before.
    pub log: Option<LogAtHand>,
}

/// A copy of the log.
#[derive(Clone, Debug)]
pub struct LogAtHand {
    /// Its entries, one a line.
    pub entries: Vec<u8>,
    /// Its checkpoint, a signed note.
    pub checkpoint: String,
    /// The checkpoint that this verifier saw last.
    pub remembered: Option<String>,
}

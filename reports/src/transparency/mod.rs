//! The log of starts and finishes: who runs until it is green and shows the last run alone is seen to have started the
//! others. A Merkle tree (RFC 6962) over the lines of one file, under a signed checkpoint (C2SP tlog-checkpoint).
//!
//! A log on one machine shows tampering only to those who remember an earlier checkpoint.

pub mod audit;
pub mod checkpoint;
pub mod entry;
pub mod file;
pub mod merkle;
pub mod note;

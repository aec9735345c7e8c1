//! The bundle of one run: a directory with the raw evidence, what was judged from it, and what binds the two.
//!
//! ```text
//! predicate.json            what a signature will cover; names SHA256SUMS by digest
//! SHA256SUMS                every file under payload/, and nothing else may be there
//! attestations.intoto.jsonl once signed: the statements in their envelopes
//! VERIFY.md                 once signed: how to verify it without this program; nobody signs this file
//! payload/
//!   plan.json               written before anything runs
//!   target.toml             the manifest as it was used
//!   harness.log             the stages, with their times
//!   launches/N/             launch.json, probe.jsonl, ledger.jsonl, frames.jsonl, process.jsonl
//!   run.json                what belongs to no single launch, and the run's nonce
//!   matrix.json             the kill matrix that is referred to, where there is one
//!   results.json            the verdicts
//!   reports/                documents made from results.json
//! ```

pub mod documents;
pub mod instructions;
mod manifest;
pub mod payload;
pub mod read;
pub mod records;
pub mod shown;
mod write;

pub use manifest::{MAX_ENTRIES, Manifest, ManifestError};
pub use write::{WriteError, Writer};

/// Directory of the closed world.
pub const PAYLOAD: &str = "payload";
/// Files beside it.
pub const MANIFEST: &str = "SHA256SUMS";
pub const PREDICATE: &str = "predicate.json";
pub const ATTESTATIONS: &str = "attestations.intoto.jsonl";
/// Files in it.
pub const PLAN: &str = "plan.json";
pub const TARGET: &str = "target.toml";
pub const LOG: &str = "harness.log";
pub const RUN: &str = "run.json";
pub const MATRIX: &str = "matrix.json";
pub const RESULTS: &str = "results.json";
pub const LAUNCHES: &str = "launches";
pub const REPORTS: &str = "reports";

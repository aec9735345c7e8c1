//! The probe: the small program that runs inside a target, and the types that it shares with the harness.
//!
//! [`plan`] says what to attempt, [`observation`] what was seen inside, [`sighting`] what was seen outside,
//! [`wire`] how lines leave a target. [`run`](fn@run::run) is the probe itself; it makes attempts and never judges.

mod attempts;
mod context;
mod cut;
mod executor;
mod gate;
mod identity;
pub mod nonce;
pub mod observation;
mod output;
pub mod plan;
mod program;
mod run;
mod samples;
pub mod sighting;
mod sys;
pub mod wire;

pub use identity::{IDENTITY_COMMAND, Identity, report_identity};
pub use run::{PLAN_FILE_OPTION, PROBE_COMMAND, UNREADABLE_PLAN, run, run_file};
pub use samples::{SAMPLE_COMMAND, sample};

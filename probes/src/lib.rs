//! The probe: the small program that runs inside a target, and the types that it shares with the harness.
//!
//! [`plan`] says what to attempt, [`observation`] what was seen inside, [`sighting`] what was seen outside,
//! [`wire`] how lines leave a target. [`run`](fn@run::run) is the probe itself; it makes attempts and never judges.

pub mod nonce;
pub mod observation;
pub mod plan;
pub mod sighting;
pub mod wire;

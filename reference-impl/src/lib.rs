//! The reference sandbox: a launcher that confines a command, and the bridge and relays that carry its two ways out.

pub mod bridge;
pub mod guards;
pub mod launch;
pub mod relay;
mod sys;

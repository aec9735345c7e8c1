//! The reference sandbox: a launcher that confines a command, and the bridge that carries its two ways out.

pub mod bridge;
pub mod guards;
pub mod launch;
mod sys;

//! Ways out of the sandbox's network namespace, for the mutants that leave one open.
//!
//! A helper stays outside as the ordinary user. Init makes links and sockets inside and hands them to it; what they
//! hear, it does again in the host's network.

mod answer;
mod carry;
mod forward;
mod helper;
mod link;
mod listeners;
pub mod netlink;
mod packet;
mod rule;
mod sys;
mod table;

pub use helper::{lead, out};

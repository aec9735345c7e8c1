//! How a run goes: launches, what they bring back, and what is made of it.

mod alone;
mod assemble;
mod attribute;
mod channel;
mod held;
mod launch;
mod leading;
mod listener;
mod listening;
mod look;
mod scenario;
mod session;
mod sockets;
mod stderr;
mod terminal;
mod witness;

pub use attribute::again as attribute_again;
pub use launch::{HELD_AS, HELD_BY, UNSEEN};
pub use leading::LEADING;
pub use listener::{Listener, Nobody};
pub use listening::LISTENING;
pub use look::{LOOK, LOOK_AT_NETWORK};
pub use session::{MUTANTS, Options, Ran, RunError, Session};
pub use stderr::APPLIED;

//! How a run goes: launches, what they bring back, and what is made of it.

mod alone;
mod assemble;
mod attribute;
mod channel;
mod launch;
mod listening;
mod scenario;
mod session;
mod sockets;
mod version;
mod witness;

pub use attribute::again as attribute_again;
pub use launch::APPLIED;
pub use listening::LISTENING;
pub use session::{Listener, MUTANTS, Nobody, Options, Ran, RunError, Session};

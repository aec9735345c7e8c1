//! How a run goes: launches, what they bring back, and what is made of it.

mod alone;
mod assemble;
mod attribute;
mod channel;
mod launch;
mod listener;
mod listening;
mod scenario;
mod session;
mod sockets;
mod stderr;
mod version;
mod witness;

pub use attribute::again as attribute_again;
pub use listener::{Listener, Nobody};
pub use listening::LISTENING;
pub use session::{MUTANTS, Options, Ran, RunError, Session};
pub use stderr::APPLIED;

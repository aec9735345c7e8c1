//! Adapters: programs that stand between a launch and a sandbox that no command line can express (docs/ADAPTERS.md).
//!
//! `watertight adapted …` is the launch. It starts the adapter, has it start the sandbox and run the workload there, and ends
//! as the workload did, so that the rest of a run sees an ordinary process.

mod launcher;
mod marks;
mod order;
mod protocol;
mod talk;
mod trouble;

pub use launcher::run;
pub use marks::{INSPECTED, Mark, Marks};
pub use order::{ADAPTED, DOWN_TWICE, Deadlines, Order, OrderError, WORKLOAD};
pub use protocol::{PROTOCOL, SCHEMA};

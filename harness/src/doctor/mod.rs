//! The doctor: tries, each in a child of its own, what runs, attempts and targets need of this machine.

mod attempts;
mod diagnose;
mod kernel;
mod link;
mod namespaces;
pub mod programs;
mod sys;
mod tried;
mod world;

pub use attempts::layout;
pub use diagnose::diagnose;

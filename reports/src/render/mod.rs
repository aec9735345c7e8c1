//! Documents of a run, one module a format. All are made from one [`crate::results::Results`] and say the same.

mod badge;
mod context;
mod ctrf;
mod format;
mod github;
mod html;
mod junit;
mod markdown;
mod markup;
mod run;
mod sarif;
pub mod scoreboard;
mod tap;
#[cfg(test)]
mod tests;
mod time;

pub use context::{Context, Requirement, Signature, Suite};
pub use format::Format;
pub use run::Run;

//! What a run found, and how it is shown: the evidence, the results, and the reports made from them.

pub mod bundle;
pub mod diff;
pub mod doctor;
pub mod each;
pub mod evidence;
pub mod explain;
pub mod files;
pub mod json;
pub mod list;
pub mod matrix;
pub mod mutants;
mod page;
pub mod predicate;
pub mod progress;
pub mod render;
pub mod results;
pub mod sanitise;
pub mod scoreboard;
pub mod signing;
pub mod smoke;
pub mod summary;
#[cfg(test)]
mod testing;
pub mod text;
pub mod time;
pub mod transparency;
pub mod tried;
pub mod verify;
mod words;

//! What a run found, and how it is shown: the evidence, the results, and the reports made from them.

pub mod doctor;
pub mod evidence;
pub mod explain;
pub mod json;
pub mod list;
pub mod mutants;
mod page;
pub mod progress;
pub mod render;
pub mod results;
pub mod sanitise;
pub mod summary;
#[cfg(test)]
mod testing;
pub mod text;
mod words;

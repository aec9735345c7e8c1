//! A run as a person reads it, on a terminal or in a log.

mod areas;
mod document;
mod ids;
pub mod mutants;
mod sensitivity;
mod trouble;

pub use crate::page::Style;
pub(crate) use areas::by_area;
pub use document::render;
pub(crate) use document::{elapsed, plainly};
pub use ids::in_order;
pub(crate) use trouble::{argument, relevant, seeing};

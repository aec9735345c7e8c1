//! Runs as they happen, hostile texts, and walks over JSON, for this crate's tests.

mod hostile;
mod runs;
mod shape;

pub(crate) use hostile::{every_text, hostile};
pub(crate) use runs::{dead, edits, explained, green, judged, mixed, rows, sentence, small, vsock_failed};
pub(crate) use shape::{
    VERDICTS, each_object, each_property, each_string, enums, every_shape, is_word, without_colours,
};

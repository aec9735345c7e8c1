//! What holds for all formats together: the same counts, ids, status and exit status, and no text that attacks.

mod agree;
mod documents;
mod hostile;
mod support;

pub(crate) use support::{line, shown, shown_at};

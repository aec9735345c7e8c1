//! Checkpoints (<https://c2sp.org/tlog-checkpoint>): which tree a log's owner stands by.

use std::fmt;

use thiserror::Error;

use super::note::{self, NoteError, NoteKey};
use crate::signing::{base64, digest::Digest, from_base64, key::SigningKey};

/// Size and root of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Names the log: a URL without a scheme, by convention, and the name of the key that signs.
    pub origin: String,
    /// Number of entries.
    pub size: u64,
    pub root: Digest,
}

/// Why a checkpoint is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CheckpointError {
    #[error(transparent)]
    Note(#[from] NoteError),
    #[error("a checkpoint is three lines: origin, size, root in base64")]
    Form,
    #[error("the checkpoint is of another log than {0}")]
    Origin(String),
}

impl Checkpoint {
    /// The checkpoint as a note, signed by the log's key.
    pub fn sign(&self, key: &SigningKey) -> Result<String, CheckpointError> {
        Ok(note::sign(&self.to_string(), &self.origin, key)?)
    }

    /// Reads a signed checkpoint of the log whose key this is.
    pub fn open(note: &str, key: &NoteKey) -> Result<Self, CheckpointError> {
        let checkpoint = Self::parse(key.open(note)?).ok_or(CheckpointError::Form)?;
        if checkpoint.origin == key.name() {
            Ok(checkpoint)
        } else {
            Err(CheckpointError::Origin(key.name().to_owned()))
        }
    }

    /// Reads the text, in its one form; lines of extensions are not known here.
    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.strip_suffix('\n')?.split('\n');
        let (origin, size, root) = (lines.next()?, lines.next()?, lines.next()?);
        let root = Digest::from_bytes(from_base64(root)?.try_into().ok()?);
        let checkpoint = Self { origin: origin.to_owned(), size: size.parse().ok()?, root };
        (checkpoint.to_string() == text).then_some(checkpoint)
    }
}

impl fmt::Display for Checkpoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{}\n{}\n{}", self.origin, self.size, base64(self.root.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkpoint() -> Checkpoint {
        Checkpoint { origin: "example.test/log".into(), size: 12, root: Digest::of(b"") }
    }

    fn of(name: &str, key: &SigningKey) -> NoteKey {
        NoteKey::new(name, key.public()).expect("a key")
    }

    #[test]
    fn a_checkpoint_has_the_form_of_the_specification_and_is_read_back() {
        let key = SigningKey::generate().expect("a key");
        let note = checkpoint().sign(&key).expect("a note");
        assert!(note.starts_with(
            "example.test/log\n12\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n\n\u{2014} example.test/log "
        ));
        assert_eq!(Checkpoint::open(&note, &of("example.test/log", &key)), Ok(checkpoint()));
    }

    #[test]
    fn a_checkpoint_of_another_log_or_form_is_refused_though_it_is_signed() {
        let key = SigningKey::generate().expect("a key");
        let opened = |text: &str| {
            let note = note::sign(text, "example.test/log", &key).expect("a note");
            Checkpoint::open(&note, &of("example.test/log", &key)).expect_err("a refusal")
        };
        let text = checkpoint().to_string();
        assert!(matches!(opened(&text.replace("/log", "/other")), CheckpointError::Origin(_)));
        for text in [
            text.replace("12", "012"),
            text.replace("12", "+12"),
            text.replace("12", "-1"),
            text.replace("47DE", "47"),
            text.clone() + "more\n",
            text.replacen('\n', "\n\n", 1),
        ] {
            assert_eq!(opened(&text), CheckpointError::Form, "{text}");
        }
    }
}

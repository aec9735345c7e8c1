//! Keys, envelopes and statements: the formats in which evidence is signed. Nothing here knows what a run is.

pub mod digest;
pub mod dsse;
pub mod key;
pub mod key_file;
pub mod public;
pub mod sigstore;
pub mod source;
pub mod sshsig;
pub mod statement;
pub mod strict;
mod sys;
pub mod test_result;

use base64::{Engine, prelude::BASE64_STANDARD};

/// Canonical base64: the standard alphabet, padded.
pub(crate) fn base64(bytes: impl AsRef<[u8]>) -> String {
    BASE64_STANDARD.encode(bytes)
}

/// Reads canonical base64 and nothing else.
pub(crate) fn from_base64(text: impl AsRef<[u8]>) -> Option<Vec<u8>> {
    BASE64_STANDARD.decode(text).ok()
}

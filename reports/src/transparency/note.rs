//! Signed notes (<https://c2sp.org/signed-note>): a text for people, and lines of signatures below it.

use std::fmt;

use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::signing::{
    base64, from_base64,
    key::SigningKey,
    public::{PublicKey, PublicKeyError},
};

/// More than any checkpoint with the signatures of many witnesses.
const MAX_NOTE: usize = 64 << 10;
const MAX_SIGNATURES: usize = 64;
/// The signature type of Ed25519.
const ED25519: u8 = 1;
/// Begins a line of a signature.
const DASH: &str = "\u{2014} ";

/// A key that verifies notes, with its name: a vkey.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteKey {
    name: String,
    public: PublicKey,
    bytes: [u8; 32],
}

/// Why a key or a note is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoteError {
    #[error("a verifier key is NAME+HASH+KEY, such as `example.org/log+2cd31a77+ASfA…`")]
    KeyForm,
    #[error("the hash in the verifier key is not that of its name and key")]
    KeyHash,
    #[error("the key cannot be used: {0}")]
    Key(#[from] PublicKeyError),
    #[error("a key's name is neither empty nor contains a space or a plus sign")]
    Name,
    #[error("it is not a signed note: a text that ends with a line, an empty line, and lines of signatures")]
    Form,
    #[error("the key {0} did not sign it")]
    NotSigned(String),
    #[error("the signature that names the key {0} is not by it over this text")]
    Signature(String),
}

impl NoteKey {
    pub fn new(name: &str, public: &PublicKey) -> Result<Self, NoteError> {
        if name.is_empty()
            || name.contains(|letter: char| letter.is_whitespace() || letter.is_control() || letter == '+')
        {
            return Err(NoteError::Name);
        }
        let bytes = public.ed25519().ok_or(PublicKeyError::Algorithm)?;
        Ok(Self { name: name.to_owned(), public: public.clone(), bytes })
    }

    /// Reads `NAME+HASH+KEY`.
    pub fn parse(text: &str) -> Result<Self, NoteError> {
        // No name has a plus sign; base64 may.
        let mut parts = text.splitn(3, '+');
        let (Some(name), Some(hash), Some(key)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(NoteError::KeyForm);
        };
        let key = from_base64(key).ok_or(NoteError::KeyForm)?;
        let bytes: &[u8; 32] =
            key.strip_prefix(&[ED25519]).and_then(|key| key.try_into().ok()).ok_or(NoteError::KeyForm)?;
        let parsed = Self::new(name, &PublicKey::from_ed25519(bytes)?)?;
        if hash == hex::encode(parsed.hash()) { Ok(parsed) } else { Err(NoteError::KeyHash) }
    }

    /// Whether it is this key, under whatever name.
    pub fn is(&self, key: &PublicKey) -> bool {
        self.public == *key
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Tells keys of one name apart.
    fn hash(&self) -> [u8; 4] {
        let digest =
            Sha256::new().chain_update(&self.name).chain_update([b'\n', ED25519]).chain_update(self.bytes).finalize();
        [digest[0], digest[1], digest[2], digest[3]]
    }

    /// The note's text, where this key signed it. Signatures of other keys mean nothing and are passed over.
    pub fn open<'n>(&self, note: &'n str) -> Result<&'n str, NoteError> {
        let (text, signatures) = split(note).ok_or(NoteError::Form)?;
        let mut signed = false;
        for line in signatures {
            let (name, blob) = signature(line).ok_or(NoteError::Form)?;
            let Some(signature) = blob.strip_prefix(&self.hash()).filter(|_| name == self.name) else { continue };
            let valid = self.public.verify(text.as_bytes(), signature);
            valid.map_err(|_| NoteError::Signature(self.name.clone()))?;
            signed = true;
        }
        if signed { Ok(text) } else { Err(NoteError::NotSigned(self.name.clone())) }
    }
}

impl fmt::Display for NoteKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = base64([&[ED25519], self.bytes.as_slice()].concat());
        write!(out, "{}+{}+{key}", self.name, hex::encode(self.hash()))
    }
}

/// Signs a text under this name. The text ends with a line and has no empty one at its end.
pub fn sign(text: &str, name: &str, key: &SigningKey) -> Result<String, NoteError> {
    let verifier = NoteKey::new(name, key.public())?;
    let blob = [verifier.hash().as_slice(), &key.sign(text.as_bytes())].concat();
    let note = format!("{text}\n{DASH}{name} {}\n", base64(blob));
    // What nobody can open is not written.
    verifier.open(&note).map(|_| ())?;
    Ok(note)
}

/// Text, and lines of signatures.
fn split(note: &str) -> Option<(&str, Vec<&str>)> {
    if note.len() > MAX_NOTE || note.chars().any(|letter| letter.is_ascii_control() && letter != '\n') {
        return None;
    }
    let end = note.rfind("\n\n")? + 1;
    let (text, signatures) = (&note[..end], note[end + 1..].strip_suffix('\n')?);
    let signatures: Vec<_> = signatures.split('\n').take(MAX_SIGNATURES + 1).collect();
    (signatures.len() <= MAX_SIGNATURES).then_some((text, signatures))
}

/// Name, and the key's hash before the signature.
fn signature(line: &str) -> Option<(&str, Vec<u8>)> {
    let (name, blob) = line.strip_prefix(DASH)?.split_once(' ')?;
    let blob = from_base64(blob).filter(|blob| blob.len() > 4 && !name.is_empty())?;
    Some((name, blob))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The specification's own example, of the Go package that the format comes from.
    const KEY: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
    const NOTE: &str = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n\n\u{2014} PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";

    fn key() -> SigningKey {
        SigningKey::generate().expect("a key")
    }

    #[test]
    fn the_formats_own_example_opens() {
        let key = NoteKey::parse(KEY).expect("a key");
        assert_eq!(key.to_string(), KEY);
        assert!(key.open(NOTE).expect("a note").ends_with("what your problem is.\n"));
    }

    #[test]
    fn a_note_opens_with_its_own_key_only() {
        let (a, b) = (key(), key());
        let note = sign("origin\n1\n", "example.test/log", &a).expect("a note");
        let of = |name, key: &SigningKey| NoteKey::new(name, key.public()).expect("a key");
        assert_eq!(of("example.test/log", &a).open(&note), Ok("origin\n1\n"));
        assert!(matches!(of("example.test/log", &b).open(&note), Err(NoteError::NotSigned(_))));
        assert!(matches!(of("example.test/other", &a).open(&note), Err(NoteError::NotSigned(_))));
    }

    #[test]
    fn a_changed_text_or_signature_is_refused() {
        let key = NoteKey::parse(KEY).expect("a key");
        assert!(matches!(key.open(&NOTE.replace("answer", "Answer")), Err(NoteError::Signature(_))));
        assert!(matches!(key.open(&NOTE.replace("ZJkuBS", "ZJkuBT")), Err(NoteError::Signature(_))));
        let line = NOTE.lines().last().expect("a line").replace("ZJkuBS", "ZJkuBT");
        assert!(matches!(key.open(&format!("{NOTE}{line}\n")), Err(NoteError::Signature(_))));
    }

    #[test]
    fn signatures_of_others_are_passed_over() {
        let other = sign("origin\n", "other", &key()).expect("a note");
        let line = other.lines().last().expect("a line");
        let key = NoteKey::parse(KEY).expect("a key");
        assert!(key.open(&format!("{NOTE}{line}\n")).is_ok());
        let many = format!("{line}\n").repeat(MAX_SIGNATURES);
        assert_eq!(key.open(&format!("{NOTE}{many}")), Err(NoteError::Form));
    }

    #[test]
    fn what_is_no_note_is_refused() {
        let key = NoteKey::parse(KEY).expect("a key");
        let long = format!("{}{NOTE}", "x".repeat(MAX_NOTE));
        for note in [
            "",
            "\n\n",
            "text\n",
            &NOTE[..NOTE.len() - 1],
            &format!("{NOTE}\n"),
            &NOTE.replace('\n', "\r\n"),
            &NOTE.replace(DASH, "- "),
            &NOTE.replace("x08go", "!"),
            &long,
        ] {
            assert_eq!(key.open(note), Err(NoteError::Form), "{note:?}");
        }
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for text in ["", "a+b", &KEY.replace("ARpc", "AhpC"), &KEY[..KEY.len() - 4], &KEY.replace('/', "_")] {
            assert_eq!(NoteKey::parse(text), Err(NoteError::KeyForm), "{text}");
        }
        assert_eq!(NoteKey::parse(&KEY.replace("c74f", "c74e")), Err(NoteError::KeyHash));
        assert_eq!(NoteKey::parse(&KEY.replace("c74f20a3", "C74F20A3")), Err(NoteError::KeyHash));
        assert_eq!(NoteKey::parse(&KEY.replace("PeterNeumann", "")), Err(NoteError::Name));
        assert_eq!(NoteKey::parse(&KEY.replace("PeterNeumann", "a b")), Err(NoteError::Name));
    }

    proptest! {
        #[test]
        fn arbitrary_text_is_refused_without_a_panic(text in "(?s).{0,80}(\n\n(\u{2014} .{0,20}\n)*)?") {
            prop_assert!(NoteKey::parse(KEY).expect("a key").open(&text).is_err());
            let _ = NoteKey::parse(&text);
        }
    }
}

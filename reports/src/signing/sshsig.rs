//! SSH signatures (OpenSSH's PROTOCOL.sshsig), which `ssh-keygen -Y verify` checks on nearly every machine.

use sha2::{Digest, Sha512};
use thiserror::Error;

use super::{
    base64, from_base64,
    key::SigningKey,
    public::{PublicKey, PublicKeyError},
};
use crate::verify::code::Code;

/// What the signature is for: one that was made for anything else proves nothing here.
pub const NAMESPACE: &str = "watertight-evidence@v1";

const MAGIC: &[u8] = b"SSHSIG";
const VERSION: u32 = 1;
const HASH: &str = "sha512";
const ALGORITHM: &str = "ssh-ed25519";
const BEGIN: &str = "-----BEGIN SSH SIGNATURE-----\n";
const END: &str = "-----END SSH SIGNATURE-----\n";
/// Characters of a line, as OpenSSH has it.
const LINE: usize = 70;
/// Longest armored signature: by such a key it has some 300 bytes.
const MAX: usize = 4096;

/// Why an SSH signature is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SshsigError {
    #[error("it is not an SSH signature by an Ed25519 key in OpenSSH's form")]
    Form,
    #[error("it was made for another purpose than {NAMESPACE:?}")]
    Namespace,
    #[error("it is not by a trusted key over these bytes")]
    NotTrusted,
}

impl SshsigError {
    pub const fn code(&self) -> Code {
        match self {
            Self::Form | Self::Namespace | Self::NotTrusted => Code::SshsigInvalid,
        }
    }
}

/// Signs a document, in the armor that `ssh-keygen -Y verify` reads.
pub fn sign(document: &[u8], key: &SigningKey) -> Result<String, PublicKeyError> {
    let signature = key.sign(&signed_bytes(document));
    Ok(armored(&ed25519_of(key.public())?, &signature))
}

/// Accepts the signature of one of these keys over the document, made for [`NAMESPACE`], and says whose it is.
pub fn verify<'k>(
    armored: &str,
    document: &[u8],
    trusted: impl IntoIterator<Item = &'k PublicKey>,
) -> Result<&'k PublicKey, SshsigError> {
    let (key, signature) = parse(armored)?;
    let key = trusted.into_iter().find(|trusted| trusted.ed25519() == Some(key)).ok_or(SshsigError::NotTrusted)?;
    key.verify(&signed_bytes(document), &signature).map_err(|_| SshsigError::NotTrusted)?;
    Ok(key)
}

/// A key's line for `authorized_keys`, and for `allowed_signers` behind a name.
pub fn public_line(key: &PublicKey, comment: &str) -> Result<String, PublicKeyError> {
    let line = format!("{ALGORITHM} {} {comment}", base64(key_blob(&ed25519_of(key)?)));
    Ok(format!("{}\n", line.trim_end()))
}

fn ed25519_of(key: &PublicKey) -> Result<[u8; 32], PublicKeyError> {
    key.ed25519().ok_or(PublicKeyError::Algorithm)
}

/// The bytes that are signed: another beginning than any other format's.
fn signed_bytes(document: &[u8]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    for field in [NAMESPACE.as_bytes(), b"", HASH.as_bytes(), &Sha512::digest(document)] {
        put(&mut bytes, field);
    }
    bytes
}

fn armored(key: &[u8; 32], signature: &[u8; 64]) -> String {
    let mut blob = MAGIC.to_vec();
    blob.extend(VERSION.to_be_bytes());
    for field in [&key_blob(key), NAMESPACE.as_bytes(), b"", HASH.as_bytes(), &signature_blob(signature)] {
        put(&mut blob, field);
    }
    let text = base64(blob);
    let lines = text.as_bytes().chunks(LINE).flat_map(|line| line.iter().copied().chain([b'\n']));
    format!("{BEGIN}{}{END}", lines.map(char::from).collect::<String>())
}

/// Key and signature. The armor has to be what [`armored`] makes of them, so that a signature has one form.
fn parse(text: &str) -> Result<([u8; 32], [u8; 64]), SshsigError> {
    if text.len() > MAX {
        return Err(SshsigError::Form);
    }
    let body = text.strip_prefix(BEGIN).and_then(|text| text.strip_suffix(END)).ok_or(SshsigError::Form)?;
    let blob = from_base64(body.replace('\n', "")).ok_or(SshsigError::Form)?;
    let (key, namespace, signature) = fields(&blob).ok_or(SshsigError::Form)?;
    if namespace != NAMESPACE.as_bytes() {
        return Err(SshsigError::Namespace);
    }
    if armored(&key, &signature) == text { Ok((key, signature)) } else { Err(SshsigError::Form) }
}

fn fields(blob: &[u8]) -> Option<([u8; 32], &[u8], [u8; 64])> {
    let mut rest = blob.strip_prefix(MAGIC)?.strip_prefix(&VERSION.to_be_bytes())?;
    let mut field = || take(&mut rest);
    let (key, namespace, _reserved, _hash, signature) = (field()?, field()?, field()?, field()?, field()?);
    Some((key.last_chunk().copied()?, namespace, signature.last_chunk().copied()?))
}

fn key_blob(key: &[u8; 32]) -> Vec<u8> {
    let mut blob = vec![];
    put(&mut blob, ALGORITHM.as_bytes());
    put(&mut blob, key);
    blob
}

fn signature_blob(signature: &[u8; 64]) -> Vec<u8> {
    let mut blob = vec![];
    put(&mut blob, ALGORITHM.as_bytes());
    put(&mut blob, signature);
    blob
}

/// Adds a string of SSH's wire format (RFC 4251): its length in four bytes, then its bytes. All here are short.
fn put(bytes: &mut Vec<u8>, field: &[u8]) {
    bytes.extend((field.len() as u32).to_be_bytes());
    bytes.extend_from_slice(field);
}

fn take<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, after) = rest.split_first_chunk()?;
    let (field, after) = after.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    *rest = after;
    Some(field)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn signed() -> (SigningKey, String) {
        let key = SigningKey::generate().expect("a key");
        let text = sign(b"document", &key).expect("a signature");
        (key, text)
    }

    /// The armor around these bytes.
    fn armor(blob: &[u8]) -> String {
        let text = base64(blob);
        let lines: Vec<_> =
            text.as_bytes().chunks(LINE).map(|line| String::from_utf8_lossy(line).into_owned()).collect();
        format!("{BEGIN}{}\n{END}", lines.join("\n"))
    }

    fn blob(text: &str) -> Vec<u8> {
        let body = text.strip_prefix(BEGIN).and_then(|text| text.strip_suffix(END)).expect("an armor");
        from_base64(body.replace('\n', "")).expect("base64")
    }

    #[test]
    fn a_signature_is_by_its_key_over_its_document() {
        let ((key, text), (other, _)) = (signed(), signed());
        assert_eq!(verify(&text, b"document", [other.public(), key.public()]), Ok(key.public()));
        assert_eq!(verify(&text, b"documenT", [key.public()]), Err(SshsigError::NotTrusted));
        assert_eq!(verify(&text, b"document", [other.public()]), Err(SshsigError::NotTrusted));
        assert_eq!(verify(&text, b"document", []), Err(SshsigError::NotTrusted));
    }

    #[test]
    fn a_signature_for_another_purpose_is_refused() {
        let (key, text) = signed();
        let other = String::from_utf8_lossy(NAMESPACE.as_bytes()).replace("v1", "v2");
        let bytes = blob(&text);
        let at = bytes.windows(NAMESPACE.len()).position(|window| window == NAMESPACE.as_bytes()).expect("a namespace");
        let mut edited = bytes;
        edited[at..at + other.len()].copy_from_slice(other.as_bytes());
        assert_eq!(verify(&armor(&edited), b"document", [key.public()]), Err(SshsigError::Namespace));
    }

    #[test]
    fn no_byte_of_a_signature_can_be_changed_or_added() {
        let (key, text) = signed();
        let genuine = blob(&text);
        for at in 0..genuine.len() {
            let mut bytes = genuine.clone();
            bytes[at] ^= 1;
            assert!(verify(&armor(&bytes), b"document", [key.public()]).is_err(), "{at}");
        }
        let more = [genuine.as_slice(), b"x"].concat();
        for text in [
            armor(&more),
            text.replace('\n', "\r\n"),
            format!("{text}\n"),
            text.replacen('\n', "\n\n", 2),
            "x".repeat(MAX + 1),
        ] {
            assert_eq!(verify(&text, b"document", [key.public()]), Err(SshsigError::Form), "{text}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_are_refused_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let begun = [MAGIC, &VERSION.to_be_bytes(), &bytes].concat();
            for bytes in [&bytes, &begun] {
                prop_assert_eq!(verify(&armor(bytes), b"document", []).is_err(), true);
            }
            prop_assert!(verify(&String::from_utf8_lossy(&bytes), b"document", []).is_err());
        }
    }
}

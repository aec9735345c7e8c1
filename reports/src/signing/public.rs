//! Public keys: Ed25519, and ECDSA P-256 for keys in hardware and key services.

use std::fmt;

use ed25519_dalek::pkcs8::{
    DecodePublicKey, Document, EncodePublicKey, ObjectIdentifier,
    spki::{SubjectPublicKeyInfoRef, der::Decode},
};
use p256::ecdsa::signature::Verifier;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::digest::Digest;

/// More than any SPKI of a key that is accepted.
const MAX_PEM: usize = 4096;
const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");
/// `id-ecPublicKey`, of any curve.
const ELLIPTIC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");

/// Names a key: SHA-256 of its SPKI in DER, 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeyId(pub Digest);

/// A key that verifies signatures.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey {
    algorithm: Algorithm,
    spki: Vec<u8>,
    id: KeyId,
}

#[derive(Clone, PartialEq, Eq)]
enum Algorithm {
    Ed25519(ed25519_dalek::VerifyingKey),
    P256(p256::ecdsa::VerifyingKey),
}

/// Why something is not accepted as a public key.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PublicKeyError {
    #[error("it is not PEM with the label PUBLIC KEY; `openssl pkey -in KEY -pubout` writes that")]
    Pem,
    #[error("it is not a public key in DER (SubjectPublicKeyInfo)")]
    Der,
    #[error("its algorithm is neither Ed25519 nor ECDSA over P-256")]
    Algorithm,
    #[error("it is no point of its curve")]
    Point,
    #[error(
        "it is written in an unusual form, so that one key would have two names; write it anew with `openssl pkey`"
    )]
    NotCanonical,
    #[error("it is a point of small order, under which anyone can sign")]
    Weak,
}

/// A signature is not by this key over these bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the signature is not by this key over these bytes")]
pub struct BadSignature;

impl PublicKey {
    /// Reads PEM with the label `PUBLIC KEY`.
    pub fn from_pem(text: &str) -> Result<Self, PublicKeyError> {
        if text.len() > MAX_PEM {
            return Err(PublicKeyError::Pem);
        }
        match Document::from_pem(text.trim()) {
            Ok(("PUBLIC KEY", document)) => Self::from_spki(document.as_bytes()),
            _ => Err(PublicKeyError::Pem),
        }
    }

    /// Reads an SPKI in DER, in the one form in which OpenSSL writes it (RFC 8410; RFC 5480, named curve, uncompressed).
    pub fn from_spki(der: &[u8]) -> Result<Self, PublicKeyError> {
        let info = SubjectPublicKeyInfoRef::from_der(der).map_err(|_| PublicKeyError::Der)?;
        let algorithm = match info.algorithm.oid {
            ED25519 => {
                Algorithm::Ed25519(DecodePublicKey::from_public_key_der(der).map_err(|_| PublicKeyError::Point)?)
            }
            ELLIPTIC => Algorithm::P256(p256(der)?),
            _ => return Err(PublicKeyError::Algorithm),
        };
        let key = Self::new(algorithm)?;
        if key.spki == der { Ok(key) } else { Err(PublicKeyError::NotCanonical) }
    }

    /// The key that has made signatures with this one's secret half.
    pub(super) fn of(key: &ed25519_dalek::SigningKey) -> Result<Self, PublicKeyError> {
        Self::new(Algorithm::Ed25519(key.verifying_key()))
    }

    /// An Ed25519 key in its 32 bytes (RFC 8032), as SSH and checkpoints carry it.
    pub fn from_ed25519(bytes: &[u8; 32]) -> Result<Self, PublicKeyError> {
        let key = ed25519_dalek::VerifyingKey::from_bytes(bytes).map_err(|_| PublicKeyError::Point)?;
        Self::new(Algorithm::Ed25519(key))
    }

    fn new(algorithm: Algorithm) -> Result<Self, PublicKeyError> {
        let document = match &algorithm {
            Algorithm::Ed25519(key) if key.is_weak() => return Err(PublicKeyError::Weak),
            // A coordinate that is not reduced gives one point two encodings.
            Algorithm::Ed25519(key) if key.to_edwards().compress().as_bytes() != key.as_bytes() => {
                return Err(PublicKeyError::NotCanonical);
            }
            Algorithm::Ed25519(key) => key.to_public_key_der(),
            Algorithm::P256(key) => key.to_public_key_der(),
        };
        let spki = document.map_err(|_| PublicKeyError::Der)?.into_vec();
        Ok(Self { algorithm, id: KeyId(Digest::of(&spki)), spki })
    }

    /// Its name.
    pub const fn id(&self) -> KeyId {
        self.id
    }

    /// Its SPKI in DER.
    pub fn spki(&self) -> &[u8] {
        &self.spki
    }

    /// Its 32 bytes, where it is an Ed25519 key.
    pub fn ed25519(&self) -> Option<[u8; 32]> {
        match &self.algorithm {
            Algorithm::Ed25519(key) => Some(key.to_bytes()),
            Algorithm::P256(_) => None,
        }
    }

    /// Its SPKI as PEM.
    pub fn to_pem(&self) -> String {
        // 48 bytes a line, as OpenSSL has it.
        let lines: Vec<_> = self.spki.chunks(48).map(super::base64).collect();
        format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", lines.join("\n"))
    }

    /// Accepts a signature over these bytes: of 64 bytes for Ed25519 (RFC 8032, strictly), ECDSA with SHA-256 in DER.
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), BadSignature> {
        let valid = match &self.algorithm {
            Algorithm::Ed25519(key) => ed25519_dalek::Signature::from_slice(signature)
                .is_ok_and(|signature| key.verify_strict(message, &signature).is_ok()),
            Algorithm::P256(key) => p256::ecdsa::Signature::from_der(signature)
                .is_ok_and(|signature| key.verify(message, &signature).is_ok()),
        };
        if valid { Ok(()) } else { Err(BadSignature) }
    }
}

/// Reads a key over P-256; other curves are of another algorithm.
fn p256(der: &[u8]) -> Result<p256::ecdsa::VerifyingKey, PublicKeyError> {
    const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
    let info = SubjectPublicKeyInfoRef::from_der(der).map_err(|_| PublicKeyError::Der)?;
    match info.algorithm.parameters_oid() {
        Ok(P256) => DecodePublicKey::from_public_key_der(der).map_err(|_| PublicKeyError::Point),
        _ => Err(PublicKeyError::Algorithm),
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "PublicKey({})", self.id)
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

#[cfg(test)]
mod tests {
    use p256::ecdsa::signature::Signer;
    use proptest::prelude::*;

    use super::{super::key::SigningKey, *};

    /// 2^255 - 19 and what is added to it, as an encoded coordinate.
    fn above_the_modulus(more: u8) -> [u8; 32] {
        let mut bytes = [0xff; 32];
        bytes[0] = 0xed + more;
        bytes[31] = 0x7f;
        bytes
    }

    fn p256_key() -> (p256::ecdsa::SigningKey, PublicKey) {
        let secret = p256::ecdsa::SigningKey::from_slice(&[7; 32]).expect("a key");
        let document = secret.verifying_key().to_public_key_der().expect("DER");
        let public = PublicKey::from_spki(document.as_bytes()).expect("a key");
        (secret, public)
    }

    #[test]
    fn a_key_is_read_as_it_is_written() {
        let ed25519 = SigningKey::generate().expect("a key").public().clone();
        for key in [ed25519, p256_key().1] {
            assert_eq!(PublicKey::from_pem(&key.to_pem()).as_ref(), Ok(&key));
            assert_eq!(PublicKey::from_spki(key.spki()).as_ref(), Ok(&key));
            assert_eq!(key.id().to_string(), Digest::of(key.spki()).to_string());
        }
    }

    #[test]
    fn the_standards_example_has_the_standards_public_half() {
        // RFC 8410, section 10.
        let private = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n";
        let public = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n";
        let key = SigningKey::from_pem(private).expect("a key");
        assert_eq!(key.public().to_pem(), public);
        assert_eq!(*key.to_pem().expect("PEM"), private);
    }

    #[test]
    fn a_p_256_key_verifies_what_it_signed() {
        let (secret, public) = p256_key();
        let signature: p256::ecdsa::DerSignature = secret.sign(b"message");
        assert_eq!(public.verify(b"message", signature.as_bytes()), Ok(()));
        assert_eq!(public.verify(b"messagE", signature.as_bytes()), Err(BadSignature));
        let mut longer = signature.as_bytes().to_vec();
        longer.push(0);
        for bytes in [&longer, &longer[1..], &[], &[0; 64]] {
            assert_eq!(public.verify(b"message", bytes), Err(BadSignature));
        }
        assert_eq!(public.ed25519(), None);
    }

    #[test]
    fn a_key_has_one_written_form_and_so_one_name() {
        let (secret, _) = p256_key();
        let point = secret.verifying_key().to_sec1_point(true);
        let compressed = [
            b"\x30\x39\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x22\x00",
            point.as_bytes(),
        ]
        .concat();
        assert_eq!(PublicKey::from_spki(&compressed), Err(PublicKeyError::NotCanonical));
        let found: Vec<_> = (0..19).map(|more| PublicKey::from_ed25519(&above_the_modulus(more))).collect();
        assert!(found.iter().all(Result::is_err));
        assert!(found.contains(&Err(PublicKeyError::NotCanonical)));
    }

    #[test]
    fn a_point_of_small_order_is_refused() {
        let mut identity = [0; 32];
        identity[0] = 1;
        assert_eq!(PublicKey::from_ed25519(&identity), Err(PublicKeyError::Weak));
        assert_eq!(PublicKey::from_ed25519(&[0; 32]), Err(PublicKeyError::Weak));
    }

    #[test]
    fn what_is_no_public_key_is_refused_with_the_reason() {
        let key = SigningKey::generate().expect("a key");
        let pem = key.public().to_pem();
        for text in [
            "",
            "x",
            &key.to_pem().expect("PEM"),
            &pem.replace("PUBLIC KEY", "RSA PUBLIC KEY"),
            &"x".repeat(MAX_PEM + 1),
        ] {
            assert_eq!(PublicKey::from_pem(text), Err(PublicKeyError::Pem));
        }
        let mut spki = key.public().spki().to_vec();
        assert_eq!(PublicKey::from_spki(&spki[1..]), Err(PublicKeyError::Der));
        // X25519, the neighbour of Ed25519.
        spki[8] = 0x6e;
        assert_eq!(PublicKey::from_spki(&spki), Err(PublicKeyError::Algorithm));
        // Another curve of ECDSA.
        let mut spki = p256_key().1.spki().to_vec();
        spki[22] = 0x06;
        assert_eq!(PublicKey::from_spki(&spki), Err(PublicKeyError::Algorithm));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_are_refused_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
            prop_assert!(PublicKey::from_spki(&bytes).is_err());
            prop_assert!(PublicKey::from_pem(&String::from_utf8_lossy(&bytes)).is_err());
        }
    }
}

//! Signing keys: Ed25519, as PKCS#8 that OpenSSL reads.

use std::fmt;

use ed25519_dalek::{
    Signer,
    pkcs8::{
        EncodePrivateKey, KeypairBytes, ObjectIdentifier, PrivateKeyInfoRef, SecretDocument, spki::der::pem::LineEnding,
    },
};
use thiserror::Error;
use zeroize::Zeroizing;

use super::public::{PublicKey, PublicKeyError};

const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");

/// A key that signs. Wiped on drop; neither `Debug` nor any error shows a byte of it.
pub struct SigningKey {
    secret: ed25519_dalek::SigningKey,
    public: PublicKey,
}

/// Why something is not accepted as a signing key. The text holds no byte of it.
#[derive(Debug, Error)]
pub enum KeyError {
    #[error("it is not PEM with the label PRIVATE KEY; `watertight keygen` writes that")]
    Pem,
    #[error("it is encrypted; decrypt it with `openssl pkey -in KEY -out PLAIN` where only its owner can read it")]
    Encrypted,
    #[error("it is a key of OpenSSH; `watertight keygen` makes one in PKCS#8, and its line for SSH")]
    OpenSsh,
    #[error("it is a public key; the one that signs has the label PRIVATE KEY")]
    Public,
    #[error("it is no Ed25519 key; `watertight keygen` makes one")]
    Algorithm,
    #[error("it is not a private key in DER (PKCS#8), or its public half belongs to another key")]
    Der,
    #[error("its public half cannot be used: {0}")]
    PublicHalf(#[from] PublicKeyError),
    #[error("the kernel gave no random numbers: {0}")]
    Random(getrandom::Error),
}

impl SigningKey {
    /// Makes a key of the kernel's random numbers.
    pub fn generate() -> Result<Self, KeyError> {
        let mut seed = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *seed).map_err(KeyError::Random)?;
        Self::new(ed25519_dalek::SigningKey::from_bytes(&seed))
    }

    /// Reads PKCS#8 in PEM, of version 1 (RFC 5208) or 2 (RFC 5958).
    pub fn from_pem(text: &str) -> Result<Self, KeyError> {
        let text = text.trim();
        // What follows another label need not be DER.
        match label(text).ok_or(KeyError::Pem)? {
            "PRIVATE KEY" => {}
            "ENCRYPTED PRIVATE KEY" => return Err(KeyError::Encrypted),
            "OPENSSH PRIVATE KEY" => return Err(KeyError::OpenSsh),
            "PUBLIC KEY" => return Err(KeyError::Public),
            "EC PRIVATE KEY" | "RSA PRIVATE KEY" => return Err(KeyError::Algorithm),
            _ => return Err(KeyError::Pem),
        }
        let (_, document) = SecretDocument::from_pem(text).map_err(|_| KeyError::Pem)?;
        let info = PrivateKeyInfoRef::try_from(document.as_bytes()).map_err(|_| KeyError::Der)?;
        if info.algorithm.oid != ED25519 {
            return Err(KeyError::Algorithm);
        }
        Self::new(ed25519_dalek::SigningKey::try_from(info).map_err(|_| KeyError::Der)?)
    }

    fn new(secret: ed25519_dalek::SigningKey) -> Result<Self, KeyError> {
        Ok(Self { public: PublicKey::of(&secret)?, secret })
    }

    /// PKCS#8 in PEM, of version 1: OpenSSL 3.0 does not read version 2, which has the public half as well.
    pub fn to_pem(&self) -> Result<Zeroizing<String>, KeyError> {
        let seed = KeypairBytes { secret_key: self.secret.to_bytes(), public_key: None };
        seed.to_pkcs8_pem(LineEnding::LF).map_err(|_| KeyError::Der)
    }

    /// Its public half.
    pub const fn public(&self) -> &PublicKey {
        &self.public
    }

    /// The signature over these bytes (RFC 8032). Formats put their own prefix before what they sign.
    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.secret.sign(message).to_bytes()
    }
}

/// What PEM says it holds.
fn label(text: &str) -> Option<&str> {
    text.lines().next()?.strip_prefix("-----BEGIN ")?.strip_suffix("-----")
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "SigningKey(hidden, {})", self.public.id())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The key of RFC 8410, section 10, as OpenSSL writes it.
    const BODY: &str = "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC";

    fn pem(label: &str, body: &str) -> String {
        format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n")
    }

    fn refused(text: &str) -> KeyError {
        SigningKey::from_pem(text).expect_err("a refusal")
    }

    #[test]
    fn a_key_is_written_as_version_1_with_the_seed_alone() {
        let key = SigningKey::generate().expect("a key");
        let (_, document) = SecretDocument::from_pem(&key.to_pem().expect("PEM")).expect("PEM");
        assert_eq!(document.as_bytes().len(), 48);
        assert_eq!(document.as_bytes()[..5], [0x30, 46, 2, 1, 0]);
    }

    #[test]
    fn version_2_is_read_and_its_public_half_must_be_its_own() {
        let key = SigningKey::generate().expect("a key");
        let with = |public| {
            let bytes = KeypairBytes { secret_key: key.secret.to_bytes(), public_key: Some(public) };
            bytes.to_pkcs8_pem(LineEnding::LF).expect("PEM")
        };
        let own = with(ed25519_dalek::pkcs8::PublicKeyBytes(key.secret.verifying_key().to_bytes()));
        assert_eq!(SigningKey::from_pem(&own).expect("a key").public(), key.public());
        let other = SigningKey::generate().expect("a key").secret.verifying_key().to_bytes();
        assert!(matches!(refused(&with(ed25519_dalek::pkcs8::PublicKeyBytes(other))), KeyError::Der));
    }

    #[test]
    fn each_other_kind_of_key_is_refused_by_its_name() {
        assert!(matches!(refused(&pem("ENCRYPTED PRIVATE KEY", BODY)), KeyError::Encrypted));
        assert!(matches!(refused(&pem("OPENSSH PRIVATE KEY", "b3BlbnNzaC1rZXktdjEA")), KeyError::OpenSsh));
        assert!(matches!(refused(&pem("PUBLIC KEY", BODY)), KeyError::Public));
        assert!(matches!(refused(&pem("EC PRIVATE KEY", BODY)), KeyError::Algorithm));
        assert!(matches!(refused(&pem("CERTIFICATE", BODY)), KeyError::Pem));
        // X25519, the neighbour of Ed25519.
        assert!(matches!(refused(&pem("PRIVATE KEY", &BODY.replace("K2Vw", "K2Vu"))), KeyError::Algorithm));
        assert!(matches!(refused(&pem("PRIVATE KEY", "MAMCAQA=")), KeyError::Der));
        for text in
            ["", "key", BODY, &pem("PRIVATE KEY", BODY)[3..], &pem("PRIVATE KEY", "MC4C"), &pem("PRIVATE KEY", "!")]
        {
            assert!(matches!(refused(text), KeyError::Pem), "{text}");
        }
    }

    #[test]
    fn debug_shows_nothing_of_the_secret() {
        let key = SigningKey::from_pem(&pem("PRIVATE KEY", BODY)).expect("a key");
        assert_eq!(format!("{key:?}"), format!("SigningKey(hidden, {})", key.public().id()));
    }

    proptest! {
        #[test]
        fn arbitrary_text_is_refused_without_a_panic(body in "[A-Za-z0-9+/=\n -]{0,80}") {
            prop_assert!(SigningKey::from_pem(&body).is_err());
            let _ = SigningKey::from_pem(&pem("PRIVATE KEY", &body));
        }
    }
}

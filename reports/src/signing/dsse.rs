//! DSSE envelopes (<https://github.com/secure-systems-lab/dsse>): a payload, and signatures over it and its type.
//!
//! The specification lets readers ignore unknown fields and take either alphabet of base64, so that one statement has
//! many envelopes. Here an envelope has one form, and is identified by the digest of its payload.

use std::{borrow::Cow, collections::BTreeSet};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{
    base64, from_base64,
    key::SigningKey,
    public::{KeyId, PublicKey},
    strict::{self, Object, StrictError},
};
use crate::{sanitise, verify::code::Code};

/// The type of in-toto statements, the only payload.
pub const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";
/// Largest payload in bytes: some ten times a statement with every check in it.
pub const MAX_PAYLOAD: usize = 3 << 20;
/// Largest envelope in bytes: such a payload in base64, and room for the signatures.
pub const MAX_ENVELOPE: usize = (4 << 20) + (64 << 10);
/// Most signatures: each is tried with every trusted key.
pub const MAX_SIGNATURES: usize = 16;

/// A payload and its signatures, nothing of which has been verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    payload: Vec<u8>,
    signatures: Vec<Signature>,
}

/// A signature, and a hint of whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Not signed: anyone can write anything here.
    pub keyid: String,
    pub sig: Vec<u8>,
}

/// A payload, and who signed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified<'e> {
    /// The bytes that were verified. Parse these, and read no file again.
    pub payload: &'e [u8],
    /// The trusted keys that signed, each once.
    pub signers: BTreeSet<KeyId>,
    /// Number of signatures that no trusted key made.
    pub strangers: usize,
}

/// Why an envelope is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EnvelopeError {
    #[error("the envelope has {found} bytes, and {MAX_ENVELOPE} are read at most")]
    TooBig { found: usize },
    #[error("the envelope has {found} signatures, and {MAX_SIGNATURES} are tried at most")]
    TooManySignatures { found: usize },
    #[error("the envelope is not strict JSON: {0}")]
    Json(StrictError),
    #[error(
        "the envelope does not have exactly the fields payloadType, payload and signatures (each keyid and sig): {0}"
    )]
    Fields(String),
    #[error("the envelope's payload or a signature is not canonical base64")]
    Base64,
    #[error("the envelope's payloadType is {0:?}, not {PAYLOAD_TYPE:?}")]
    Type(String),
    #[error("the envelope has no signature")]
    NoSignature,
    #[error("the signature that names the trusted key {0} is not by it over these bytes")]
    Forged(KeyId),
    #[error("none of the {signatures} signatures is by one of the {trusted} trusted keys over these bytes")]
    NotTrusted { signatures: usize, trusted: usize },
    #[error("{found} trusted keys signed, and the policy asks for {wanted}")]
    Threshold { found: usize, wanted: usize },
}

impl EnvelopeError {
    pub const fn code(&self) -> Code {
        match self {
            Self::TooBig { .. } | Self::TooManySignatures { .. } => Code::EnvTooBig,
            Self::Json(error) => error.code(),
            Self::Fields(_) => Code::EnvFields,
            Self::Base64 => Code::EnvB64,
            Self::Type(_) => Code::EnvType,
            Self::NoSignature => Code::EnvNosig,
            Self::Forged(_) | Self::NotTrusted { .. } => Code::SigInvalid,
            Self::Threshold { .. } => Code::SigThreshold,
        }
    }
}

impl Envelope {
    /// Signs a statement.
    pub fn sign(payload: Vec<u8>, key: &SigningKey) -> Self {
        let mut envelope = Self { payload, signatures: vec![] };
        envelope.add_signature(key);
        envelope
    }

    /// Adds the signature of one more key.
    pub fn add_signature(&mut self, key: &SigningKey) {
        let sig = key.sign(&pae(PAYLOAD_TYPE, &self.payload)).to_vec();
        self.signatures.push(Signature { keyid: key.public().id().to_string(), sig });
    }

    /// Reads an envelope in its one form.
    pub fn parse(bytes: &[u8]) -> Result<Self, EnvelopeError> {
        if bytes.len() > MAX_ENVELOPE {
            return Err(EnvelopeError::TooBig { found: bytes.len() });
        }
        let text = strict::check(bytes, MAX_ENVELOPE).map_err(EnvelopeError::Json)?;
        let Object(written) = serde_json::from_str(text).map_err(|error| EnvelopeError::fields(&error))?;
        Self::from_written(written)
    }

    /// The envelope as JSON on one line, without its end.
    pub fn to_json(&self) -> String {
        written(&self.to_written())
    }

    /// Tries every signature with every trusted key: a hint proves nothing. Fails where no trusted key signed, or where
    /// a signature that names a trusted key is by none. Signatures of strangers are counted and mean nothing.
    pub fn verify<'k>(&self, trusted: impl IntoIterator<Item = &'k PublicKey>) -> Result<Verified<'_>, EnvelopeError> {
        let trusted: Vec<_> = trusted.into_iter().collect();
        let message = pae(PAYLOAD_TYPE, &self.payload);
        let mut verified = Verified { payload: &self.payload, signers: BTreeSet::new(), strangers: 0 };
        for signature in &self.signatures {
            let hinted = trusted.iter().find(|key| key.id().to_string() == signature.keyid);
            let others = trusted.iter().filter(|key| hinted.is_none_or(|hinted| hinted.id() != key.id()));
            match hinted.into_iter().chain(others).find(|key| key.verify(&message, &signature.sig).is_ok()) {
                Some(key) => {
                    verified.signers.insert(key.id());
                }
                None => match hinted {
                    Some(key) => return Err(EnvelopeError::Forged(key.id())),
                    None => verified.strangers += 1,
                },
            }
        }
        if self.signatures.is_empty() {
            return Err(EnvelopeError::NoSignature);
        }
        if verified.signers.is_empty() {
            return Err(EnvelopeError::NotTrusted { signatures: self.signatures.len(), trusted: trusted.len() });
        }
        Ok(verified)
    }

    /// What the envelope holds, whoever signed it: to show it, never to rely on it.
    pub fn unverified_payload(&self) -> &[u8] {
        &self.payload
    }

    /// Its signatures, in order.
    pub fn signatures(&self) -> &[Signature] {
        &self.signatures
    }

    pub(super) fn from_written(written: Written<'_>) -> Result<Self, EnvelopeError> {
        let Written { payload_type, payload, signatures } = written;
        if payload_type != PAYLOAD_TYPE {
            return Err(EnvelopeError::Type(sanitise::text(&*payload_type, sanitise::NAME_LIMIT)));
        }
        match signatures.len() {
            0 => return Err(EnvelopeError::NoSignature),
            found if found > MAX_SIGNATURES => return Err(EnvelopeError::TooManySignatures { found }),
            _ => {}
        }
        let bytes = |text: Cow<'_, str>| from_base64(&*text).ok_or(EnvelopeError::Base64);
        let signature = |signature: WrittenSignature<'_>| {
            Ok(Signature { keyid: signature.keyid.into_owned(), sig: bytes(signature.sig)? })
        };
        Ok(Self {
            payload: bytes(payload)?,
            signatures: signatures.into_iter().map(signature).collect::<Result<_, _>>()?,
        })
    }

    pub(super) fn to_written(&self) -> Written<'_> {
        let signature = |signature: &Signature| WrittenSignature {
            keyid: signature.keyid.clone().into(),
            sig: base64(&signature.sig).into(),
        };
        Written {
            payload_type: PAYLOAD_TYPE.into(),
            payload: base64(&self.payload).into(),
            signatures: self.signatures.iter().map(signature).collect(),
        }
    }
}

impl Verified<'_> {
    /// Demands the signatures of so many distinct keys.
    pub fn require(&self, wanted: usize) -> Result<(), EnvelopeError> {
        let found = self.signers.len();
        if found < wanted { Err(EnvelopeError::Threshold { found, wanted }) } else { Ok(()) }
    }
}

impl EnvelopeError {
    pub(super) fn fields(error: &serde_json::Error) -> Self {
        Self::Fields(sanitise::text(error.to_string(), sanitise::NAME_LIMIT))
    }
}

/// Pre-authentication encoding, the bytes that are signed: lengths first, so that no two pairs have the same.
pub fn pae(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let mut bytes = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len()).into_bytes();
    bytes.extend_from_slice(payload);
    bytes
}

/// One line of JSON of what cannot fail to be written.
pub(super) fn written(value: &impl Serialize) -> String {
    #[expect(clippy::expect_used, reason = "structs of strings have no key that is not text, and no I/O")]
    serde_json::to_string(value).expect("strings")
}

/// An envelope as it is written.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Written<'a> {
    #[serde(borrow)]
    payload_type: Cow<'a, str>,
    #[serde(borrow)]
    payload: Cow<'a, str>,
    #[serde(borrow, deserialize_with = "strict::objects")]
    signatures: Vec<WrittenSignature<'a>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenSignature<'a> {
    #[serde(borrow)]
    keyid: Cow<'a, str>,
    #[serde(borrow)]
    sig: Cow<'a, str>,
}

#[cfg(test)]
mod tests;

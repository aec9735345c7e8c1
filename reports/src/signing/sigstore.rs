//! An envelope as a Sigstore bundle, version 0.3, for verifiers that take no other form. It names a key of one's own:
//! nothing here asks a service of Sigstore.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{
    dsse::{Envelope, EnvelopeError, MAX_ENVELOPE, Written, written},
    strict::{self, Object},
};
use crate::sanitise;

/// The bundle's own type.
pub const MEDIA_TYPE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";

/// An envelope and a hint of the key that verifies it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigstoreBundle {
    /// Not signed: only for finding the key.
    pub hint: String,
    pub envelope: Envelope,
}

impl SigstoreBundle {
    /// Wraps an envelope; its verifiers want exactly one signature, whose key the hint names.
    pub fn wrap(envelope: Envelope) -> Result<Self, EnvelopeError> {
        match envelope.signatures() {
            [] => Err(EnvelopeError::NoSignature),
            [one] => Ok(Self { hint: one.keyid.clone(), envelope }),
            many => {
                Err(EnvelopeError::Fields(format!("a Sigstore bundle has one signature, and here are {}", many.len())))
            }
        }
    }

    /// Reads a bundle of exactly the form that [`to_json`](Self::to_json) writes. Whether its envelope is the one that
    /// was verified is for the caller to compare.
    pub fn parse(bytes: &[u8]) -> Result<Self, EnvelopeError> {
        if bytes.len() > MAX_ENVELOPE {
            return Err(EnvelopeError::TooBig { found: bytes.len() });
        }
        let text = strict::check(bytes, MAX_ENVELOPE).map_err(EnvelopeError::Json)?;
        let Object(bundle): Object<WrittenBundle> =
            serde_json::from_str(text).map_err(|error| EnvelopeError::fields(&error))?;
        if bundle.media_type != MEDIA_TYPE {
            return Err(EnvelopeError::Type(sanitise::text(&*bundle.media_type, sanitise::NAME_LIMIT)));
        }
        let hint = bundle.verification_material.public_key.hint.into_owned();
        Ok(Self { hint, ..Self::wrap(Envelope::from_written(bundle.dsse_envelope)?)? })
    }

    /// The bundle as JSON on one line, without its end.
    pub fn to_json(&self) -> String {
        written(&WrittenBundle {
            media_type: MEDIA_TYPE.into(),
            verification_material: Material { public_key: Key { hint: self.hint.as_str().into() } },
            dsse_envelope: self.envelope.to_written(),
        })
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WrittenBundle<'a> {
    #[serde(borrow)]
    media_type: Cow<'a, str>,
    #[serde(borrow, deserialize_with = "strict::object")]
    verification_material: Material<'a>,
    #[serde(borrow, deserialize_with = "strict::object")]
    dsse_envelope: Written<'a>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Material<'a> {
    #[serde(borrow, deserialize_with = "strict::object")]
    public_key: Key<'a>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Key<'a> {
    #[serde(borrow)]
    hint: Cow<'a, str>,
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{super::key::SigningKey, *};

    fn bundle() -> (SigningKey, SigstoreBundle) {
        let key = SigningKey::generate().expect("a key");
        let bundle = SigstoreBundle::wrap(Envelope::sign(b"{}".to_vec(), &key)).expect("a bundle");
        (key, bundle)
    }

    fn code(value: &Value) -> &'static str {
        SigstoreBundle::parse(value.to_string().as_bytes()).expect_err("a refusal").code().name()
    }

    #[test]
    fn a_bundle_has_the_form_of_version_0_3_and_is_read_back() {
        let (key, bundle) = bundle();
        let envelope: Value = serde_json::from_str(&bundle.envelope.to_json()).expect("JSON");
        assert_eq!(
            serde_json::from_str::<Value>(&bundle.to_json()).expect("JSON"),
            json!({
                "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
                "verificationMaterial": {"publicKey": {"hint": key.public().id().to_string()}},
                "dsseEnvelope": envelope
            })
        );
        assert_eq!(SigstoreBundle::parse(bundle.to_json().as_bytes()), Ok(bundle));
    }

    #[test]
    fn a_bundle_has_exactly_one_signature() {
        let (key, SigstoreBundle { mut envelope, .. }) = bundle();
        envelope.add_signature(&key);
        assert!(matches!(SigstoreBundle::wrap(envelope), Err(EnvelopeError::Fields(_))));
    }

    #[test]
    fn a_bundle_has_its_fields_and_no_others() {
        let genuine: Value = serde_json::from_str(&bundle().1.to_json()).expect("JSON");
        type Edit = fn(&mut Value);
        let edits: [(Edit, &str); 6] = [
            (|value| value["note"] = "x".into(), "E_ENV_FIELDS"),
            (|value| value["verificationMaterial"]["tlogEntries"] = json!([]), "E_ENV_FIELDS"),
            (|value| value["verificationMaterial"]["publicKey"] = json!([""]), "E_ENV_FIELDS"),
            (|value| value["dsseEnvelope"]["skips"] = "x".into(), "E_ENV_FIELDS"),
            (|value| value["dsseEnvelope"]["signatures"] = json!([]), "E_ENV_NOSIG"),
            (|value| value["mediaType"] = "application/vnd.dev.sigstore.bundle+json;version=0.2".into(), "E_ENV_TYPE"),
        ];
        for (number, (edit, expected)) in edits.into_iter().enumerate() {
            let mut value = genuine.clone();
            edit(&mut value);
            assert_eq!(code(&value), expected, "{number}");
        }
        assert_eq!(
            SigstoreBundle::parse(&vec![b' '; MAX_ENVELOPE + 1]).expect_err("a refusal").code().name(),
            "E_ENV_TOO_BIG"
        );
    }
}

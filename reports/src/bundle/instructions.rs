//! `VERIFY.md`: how a bundle is verified with tools that everyone has. Nothing of a run's own words can get into it.

use crate::signing::{digest::Digest, dsse::Envelope, sshsig};

/// The file, beside the payload. It is not signed.
pub const VERIFY: &str = "VERIFY.md";

/// What is written. A text that bundles have is kept: a change of it goes behind the others, and the last is written.
const TEXTS: [&str; 1] = [include_str!("VERIFY.md")];

/// The file for the bundle whose first envelope this is.
pub fn verify_md(envelope: &Envelope) -> String {
    filled(TEXTS[TEXTS.len() - 1], envelope)
}

/// Whether this is such a file, of this release or of one before it.
pub fn is_verify_md(bytes: &[u8], envelope: &Envelope) -> bool {
    TEXTS.iter().any(|text| filled(text, envelope).as_bytes() == bytes)
}

fn filled(text: &str, envelope: &Envelope) -> String {
    // A hint may be any text of anyone's; a key id is 64 hexadecimal digits.
    let ids = envelope.signatures().iter().filter_map(|one| one.keyid.parse::<Digest>().ok());
    let keys: Vec<String> = ids.map(|id| id.to_string()).collect();
    text.replace("{statement}", &Digest::of(envelope.unverified_payload()).to_string())
        .replace("{keys}", &keys.join("\n                "))
        .replace("{namespace}", sshsig::NAMESPACE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        bundle::{ATTESTATIONS, MANIFEST, PAYLOAD},
        signing::{dsse::PAYLOAD_TYPE, key::SigningKey},
        testing::hostile,
        verify::SSHSIG,
    };

    fn envelope() -> (SigningKey, Envelope) {
        let key = SigningKey::generate().expect("a key");
        let envelope = Envelope::sign(b"{}".to_vec(), &key);
        (key, envelope)
    }

    #[test]
    fn it_names_the_statement_and_every_key_and_says_that_nobody_signs_it() {
        let (key, mut envelope) = envelope();
        let other = SigningKey::generate().expect("a key");
        envelope.add_signature(&other);
        let text = verify_md(&envelope);
        for digest in [Digest::of(b"{}"), key.public().id().0, other.public().id().0] {
            assert!(text.lines().any(|line| line.ends_with(&digest.to_string())), "{digest}: {text}");
        }
        assert!(text.contains("Nobody signs this file"), "{text}");
        assert!(!text.contains("{statement}") && !text.contains("{keys}") && !text.contains("{namespace}"), "{text}");
    }

    #[test]
    fn its_commands_are_about_the_files_and_the_type_that_evidence_has() {
        let text = verify_md(&envelope().1);
        let kind = format!("DSSEv1 {} {PAYLOAD_TYPE} ", PAYLOAD_TYPE.len());
        for name in
            [ATTESTATIONS, MANIFEST, PAYLOAD, SSHSIG, sshsig::NAMESPACE, &kind, ".predicate.evidence.manifestSha256"]
        {
            assert!(text.contains(name), "{name}: {text}");
        }
    }

    #[test]
    fn hostile_texts_cannot_enter_it() {
        let (key, envelope) = envelope();
        let clean = verify_md(&envelope);
        for text in hostile() {
            // A payload is bytes of anyone's, and so is a hint.
            let payload = serde_json::to_vec(&text).expect("JSON");
            let mut other: serde_json::Value = serde_json::from_str(&envelope.to_json()).expect("JSON");
            other["signatures"][0]["keyid"] = text.clone().into();
            let hinted = Envelope::parse(other.to_string().as_bytes()).expect("an envelope");
            let shown = verify_md(&hinted);
            assert_eq!(shown, clean.replace(&key.public().id().to_string(), ""), "{text:?}");
            let signed = Envelope::sign(payload, &key);
            let said = Digest::of(signed.unverified_payload()).to_string();
            assert_eq!(verify_md(&signed), clean.replace(&Digest::of(b"{}").to_string(), &said), "{text:?}");
        }
    }
}

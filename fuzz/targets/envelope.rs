//! Envelopes, bare and in Sigstore bundles, and SSH signatures: read back as written, and never by a key that did not sign.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use watertight_reports::signing::{dsse::Envelope, public::PublicKey, sigstore::SigstoreBundle, sshsig};

/// The key of RFC 8410, section 10: whoever knows its secret half can write a seed.
static KEY: LazyLock<PublicKey> = LazyLock::new(|| {
    PublicKey::from_pem(
        "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n",
    )
    .expect("a key")
});
/// What that key has signed.
const PAYLOAD: &[u8] = include_bytes!("../seeds/statement/genuine.json");

fuzz_target!(|bytes: &[u8]| {
    if let Ok(envelope) = Envelope::parse(bytes) {
        assert_eq!(Envelope::parse(envelope.to_json().as_bytes()).as_ref(), Ok(&envelope));
        if let Ok(verified) = envelope.verify([&*KEY]) {
            assert_eq!(verified.payload, PAYLOAD);
            assert!(verified.require(2).is_err());
        }
    }
    if let Ok(bundle) = SigstoreBundle::parse(bytes) {
        assert_eq!(SigstoreBundle::parse(bundle.to_json().as_bytes()).as_ref(), Ok(&bundle));
    }
    if let Ok(text) = str::from_utf8(bytes) {
        assert!(sshsig::verify(text, b"a document that the key never signed", [&*KEY]).is_err());
    }
});

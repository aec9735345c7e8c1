//! OpenSSL reads the keys and verifies the envelopes, and its own keys and signatures are read.

use watertight_reports::signing::{dsse, key::SigningKey, public::PublicKey};

use crate::tools::{Signed, words};

/// Verifies `envelope.json` with `key.pub`, as the documentation tells readers to.
const VERIFY: &str = r#"
    jq -r .payload envelope.json | base64 -d > body
    jq -r '.signatures[0].sig' envelope.json | base64 -d > sig
    type=$(jq -r .payloadType envelope.json)
    { printf 'DSSEv1 %d %s %d ' ${#type} "$type" "$(stat -c %s body)"; cat body; } > pae
    openssl pkeyutl -verify -pubin -inkey key.pub -rawin -in pae -sigfile sig
"#;

#[test]
fn openssl_reads_a_key_and_finds_its_public_half() {
    let signed = Signed::new();
    let output = signed.bash("openssl pkey -in key -pubout | cmp - key.pub && openssl pkey -in key -noout -text");
    assert!(output.status.success(), "{}", words(&output));
    assert!(words(&output).starts_with("ED25519 Private-Key"), "{}", words(&output));
}

#[test]
fn openssl_writes_a_key_as_we_do() {
    let signed = Signed::new();
    let output = signed.bash("openssl pkey -in key | cmp - key");
    assert!(output.status.success(), "{}", words(&output));
}

#[test]
fn the_key_id_is_the_digest_that_openssl_finds() {
    let signed = Signed::new();
    let output = signed.bash("openssl pkey -pubin -in key.pub -outform DER | sha256sum");
    assert!(words(&output).starts_with(&signed.key.public().id().to_string()), "{}", words(&output));
}

#[test]
fn openssl_accepts_a_genuine_envelope() {
    let output = Signed::new().bash(VERIFY);
    assert!(output.status.success(), "{}", words(&output));
    assert_eq!(words(&output), "Signature Verified Successfully\n");
}

#[test]
fn openssl_refuses_another_payload_signature_type_or_key() {
    let other = Signed::new();
    for edit in [
        r#"jq -c '.payload |= (@base64d | sub("PASSED"; "FAILED") | @base64)' envelope.json > edited; mv edited envelope.json"#,
        r#"jq -c '.signatures[0].sig |= (.[:8] + (if .[8:9] == "A" then "B" else "A" end) + .[9:])' envelope.json > edited; mv edited envelope.json"#,
        r#"jq -c '.payloadType = "application/json"' envelope.json > edited; mv edited envelope.json"#,
        "cp other.pub key.pub",
    ] {
        let signed = Signed::new();
        signed.write("other.pub", other.key.public().to_pem());
        let edited = signed.bash(edit);
        assert!(edited.status.success(), "{edit}: {}", words(&edited));
        let output = signed.bash(VERIFY);
        assert!(
            !output.status.success() && words(&output).contains("Signature Verification Failure"),
            "{edit}: {}",
            words(&output)
        );
    }
}

#[test]
fn a_key_that_openssl_made_signs() {
    let signed = Signed::new();
    let output =
        signed.bash("openssl genpkey -algorithm ed25519 -out made && openssl pkey -in made -pubout -out made.pub");
    assert!(output.status.success(), "{}", words(&output));
    let read = |name| std::fs::read_to_string(signed.path(name)).expect("a file");
    let key = SigningKey::from_pem(&read("made")).expect("a key");
    assert_eq!(PublicKey::from_pem(&read("made.pub")).as_ref(), Ok(key.public()));
}

#[test]
fn an_encrypted_key_and_those_of_other_algorithms_are_refused() {
    let signed = Signed::new();
    let output = signed.bash(
        "openssl pkey -in key -aes256 -passout pass:x -out encrypted
         openssl genpkey -algorithm x25519 -out x25519
         openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out p256
         openssl ecparam -genkey -name prime256v1 -noout -out sec1
         ssh-keygen -q -t ed25519 -N '' -f ssh",
    );
    assert!(output.status.success(), "{}", words(&output));
    for (name, reason) in [
        ("encrypted", "it is encrypted"),
        ("x25519", "it is no Ed25519 key"),
        ("p256", "it is no Ed25519 key"),
        ("sec1", "it is no Ed25519 key"),
        ("ssh", "it is a key of OpenSSH"),
        ("key.pub", "it is a public key"),
    ] {
        let text = std::fs::read_to_string(signed.path(name)).expect("a file");
        let error = SigningKey::from_pem(&text).expect_err(name).to_string();
        assert!(error.starts_with(reason), "{name}: {error}");
    }
}

#[test]
fn a_p_256_signature_of_openssl_is_accepted_over_its_bytes_alone() {
    let signed = Signed::new();
    signed.write("pae", dsse::pae(dsse::PAYLOAD_TYPE, signed.envelope.unverified_payload()));
    let output = signed.bash(
        "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out p256
         openssl pkey -in p256 -pubout -out p256.pub
         openssl pkey -in p256 -pubout -ec_conv_form compressed -out compressed.pub
         openssl dgst -sha256 -sign p256 -out sig pae
         jq -c --arg sig \"$(base64 -w0 sig)\" '.signatures = [{keyid: \"\", sig: $sig}]' envelope.json > p256.json",
    );
    assert!(output.status.success(), "{}", words(&output));
    let read = |name| std::fs::read_to_string(signed.path(name)).expect("a file");
    let key = PublicKey::from_pem(&read("p256.pub")).expect("a key");
    let envelope = dsse::Envelope::parse(read("p256.json").trim().as_bytes()).expect("an envelope");
    assert!(envelope.verify([signed.key.public(), &key]).expect("a signature").signers.contains(&key.id()));
    assert!(envelope.verify([signed.key.public()]).is_err());
    assert!(signed.envelope.verify([&key]).is_err());
    // One key has one name.
    assert!(PublicKey::from_pem(&read("compressed.pub")).is_err());
}

//! What envelopes are accepted, and whose signatures count.

use proptest::prelude::*;

use super::*;

const PAYLOAD: &[u8] = b"{\"a\":1}";

fn key() -> SigningKey {
    SigningKey::generate().expect("a key")
}

fn code<T: std::fmt::Debug>(result: Result<T, EnvelopeError>) -> &'static str {
    result.expect_err("a refusal").code().name()
}

/// The envelope as a value to edit.
fn value(envelope: &Envelope) -> serde_json::Value {
    serde_json::from_str(&envelope.to_json()).expect("JSON")
}

fn parse(value: &serde_json::Value) -> Result<Envelope, EnvelopeError> {
    Envelope::parse(value.to_string().as_bytes())
}

#[test]
fn the_encoding_is_that_of_the_specification() {
    assert_eq!(
        pae("http://example.com/HelloWorld", b"hello world"),
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    );
    assert_eq!(pae("", b""), b"DSSEv1 0  0 ");
}

#[test]
fn an_envelope_reads_what_it_writes_and_says_who_signed() {
    let (a, b) = (key(), key());
    let mut envelope = Envelope::sign(PAYLOAD.to_vec(), &a);
    envelope.add_signature(&b);
    let read = Envelope::parse(envelope.to_json().as_bytes()).expect("an envelope");
    assert_eq!(read, envelope);
    let verified = read.verify([a.public(), b.public()]).expect("signatures");
    assert_eq!(verified.payload, PAYLOAD);
    assert_eq!(verified.signers, BTreeSet::from([a.public().id(), b.public().id()]));
    assert_eq!(verified.strangers, 0);
    assert_eq!(verified.require(2), Ok(()));
    assert_eq!(code(verified.require(3)), "E_SIG_THRESHOLD");
}

#[test]
fn one_key_that_signs_twice_counts_once() {
    let key = key();
    let mut envelope = Envelope::sign(PAYLOAD.to_vec(), &key);
    envelope.add_signature(&key);
    let verified = envelope.verify([key.public(), key.public()]).expect("signatures");
    assert_eq!(code(verified.require(2)), "E_SIG_THRESHOLD");
}

#[test]
fn a_bit_of_payload_or_signature_decides() {
    let key = key();
    let genuine = Envelope::sign(PAYLOAD.to_vec(), &key);
    for byte in 0..PAYLOAD.len() {
        let mut envelope = genuine.clone();
        envelope.payload[byte] ^= 1;
        assert_eq!(code(envelope.verify([key.public()])), "E_SIG_INVALID");
    }
    for byte in 0..64 {
        let mut envelope = genuine.clone();
        envelope.signatures[0].sig[byte] ^= 1;
        assert_eq!(code(envelope.verify([key.public()])), "E_SIG_INVALID");
    }
    for sig in [vec![], vec![0; 63], vec![0; 65]] {
        let mut envelope = genuine.clone();
        envelope.signatures[0].sig = sig;
        assert_eq!(code(envelope.verify([key.public()])), "E_SIG_INVALID");
    }
}

#[test]
fn the_key_id_is_only_a_hint() {
    let (trusted, other) = (key(), key());
    let mut envelope = Envelope::sign(PAYLOAD.to_vec(), &trusted);
    for hint in ["", "anything", &other.public().id().to_string()] {
        envelope.signatures[0].keyid = hint.into();
        let verified = envelope.verify([other.public(), trusted.public()]).expect("a signature");
        assert_eq!(verified.signers, BTreeSet::from([trusted.public().id()]), "{hint}");
    }
}

#[test]
fn a_strangers_signature_means_nothing_whatever_it_is_called() {
    let (trusted, stranger) = (key(), key());
    let mut envelope = Envelope::sign(PAYLOAD.to_vec(), &stranger);
    assert_eq!(code(envelope.verify([trusted.public()])), "E_SIG_INVALID");
    envelope.signatures[0].keyid = trusted.public().id().to_string();
    assert_eq!(envelope.verify([trusted.public()]), Err(EnvelopeError::Forged(trusted.public().id())));
    assert_eq!(code(envelope.verify([])), "E_SIG_INVALID");
}

#[test]
fn a_strangers_signature_beside_a_trusted_one_is_counted_unless_it_lies() {
    let (trusted, stranger) = (key(), key());
    let mut envelope = Envelope::sign(PAYLOAD.to_vec(), &trusted);
    envelope.add_signature(&stranger);
    let verified = envelope.verify([trusted.public()]).expect("a signature");
    assert_eq!((verified.signers.len(), verified.strangers), (1, 1));
    envelope.signatures[1].keyid = trusted.public().id().to_string();
    assert_eq!(code(envelope.verify([trusted.public()])), "E_SIG_INVALID");
}

#[test]
fn a_signature_is_over_the_encoding_and_not_over_the_bare_payload() {
    let key = key();
    let mut envelope = Envelope::sign(PAYLOAD.to_vec(), &key);
    envelope.signatures[0].sig = key.sign(PAYLOAD).to_vec();
    assert_eq!(code(envelope.verify([key.public()])), "E_SIG_INVALID");
}

#[test]
fn an_envelope_has_its_fields_and_no_others() {
    let genuine = value(&Envelope::sign(PAYLOAD.to_vec(), &key()));
    let edits: [fn(&mut serde_json::Value); 9] = [
        |value| value["skips"] = "EGRESS-1".into(),
        |value| value["signatures"][0]["cert"] = "x".into(),
        |value| drop(value.as_object_mut().expect("an object").remove("payload")),
        |value| drop(value["signatures"][0].as_object_mut().expect("an object").remove("keyid")),
        |value| value["payload"] = 1.into(),
        |value| value["signatures"] = serde_json::json!({}),
        |value| value["signatures"][0] = serde_json::json!(["", ""]),
        |value| *value = serde_json::json!([PAYLOAD_TYPE, "", [{"keyid": "", "sig": ""}]]),
        |value| *value = serde_json::json!([value]),
    ];
    for (number, edit) in edits.into_iter().enumerate() {
        let mut value = genuine.clone();
        edit(&mut value);
        assert_eq!(code(parse(&value)), "E_ENV_FIELDS", "{number}");
    }
}

#[test]
fn base64_has_one_form() {
    let genuine = value(&Envelope::sign(vec![0xfb, 0xff], &key()));
    assert_eq!(genuine["payload"], "+/8=");
    for payload in ["-_8=", "+/8", "+/9=", "+/8=\n", " +/8=", "+/8==", "+/8=AAAA", "+"] {
        let mut value = genuine.clone();
        value["payload"] = payload.into();
        assert_eq!(code(parse(&value)), "E_ENV_B64", "{payload}");
    }
    let mut value = genuine;
    value["signatures"][0]["sig"] = "AA".into();
    assert_eq!(code(parse(&value)), "E_ENV_B64");
}

#[test]
fn only_statements_that_somebody_signed_are_read() {
    let genuine = value(&Envelope::sign(PAYLOAD.to_vec(), &key()));
    let mut other = genuine.clone();
    other["payloadType"] = "application/json".into();
    assert_eq!(code(parse(&other)), "E_ENV_TYPE");
    let mut unsigned = genuine;
    unsigned["signatures"] = serde_json::json!([]);
    assert_eq!(code(parse(&unsigned)), "E_ENV_NOSIG");
}

#[test]
fn json_is_strict() {
    let text = Envelope::sign(PAYLOAD.to_vec(), &key()).to_json();
    let twice = text.replacen('{', "{\"payload\":\"\",", 1);
    assert_eq!(code(Envelope::parse(twice.as_bytes())), "E_JSON_DUPKEY");
    let number = text.replacen('{', "{\"x\":1.5,", 1);
    assert_eq!(code(Envelope::parse(number.as_bytes())), "E_JSON_NUMBER");
    assert_eq!(code(Envelope::parse(&text.as_bytes()[1..])), "E_JSON_SYNTAX");
}

#[test]
fn size_and_signatures_have_limits() {
    let key = key();
    assert_eq!(code(Envelope::parse(&vec![b' '; MAX_ENVELOPE + 1])), "E_ENV_TOO_BIG");
    let mut envelope = Envelope::sign(vec![b' '; MAX_PAYLOAD], &key);
    for _ in 1..MAX_SIGNATURES {
        envelope.add_signature(&key);
    }
    assert!(Envelope::parse(envelope.to_json().as_bytes()).is_ok());
    envelope.add_signature(&key);
    assert_eq!(code(Envelope::parse(envelope.to_json().as_bytes())), "E_ENV_TOO_BIG");
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_refused_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(Envelope::parse(&bytes).is_err());
    }

    #[test]
    fn an_envelope_with_one_byte_changed_is_refused_or_still_says_the_same(at in any::<prop::sample::Index>(), byte: u8) {
        let key = key();
        let envelope = Envelope::sign(PAYLOAD.to_vec(), &key);
        let mut text = envelope.to_json().into_bytes();
        let at = at.index(text.len());
        text[at] = byte;
        if let Ok(read) = Envelope::parse(&text)
            && let Ok(verified) = read.verify([key.public()])
        {
            prop_assert_eq!(verified.payload, PAYLOAD);
        }
    }

    #[test]
    fn no_two_pairs_have_the_same_encoding(a in ".{0,8}", b in "[ 0-9a]{0,8}", c in ".{0,8}", d in "[ 0-9a]{0,8}") {
        let same = (&a, &b) == (&c, &d);
        prop_assert_eq!(pae(&a, b.as_bytes()) == pae(&c, d.as_bytes()), same);
    }
}

//! What the laws of the relays' pure parts are tried on: bytes and texts that are almost what a parser wants.

use proptest::{collection::vec, prelude::*, sample::select};

/// No file with the cases that failed: the failure's text has the whole case.
pub fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) }
}

/// These parts in any order and number, and now and then any byte between them.
pub fn bytes_of(parts: &[&'static str]) -> impl Strategy<Value = Vec<u8>> {
    let known = select(parts.to_vec()).prop_map(|part| part.as_bytes().to_vec());
    let part = prop_oneof![9 => known, 1 => any::<u8>().prop_map(|byte| vec![byte])];
    vec(part, 0..16).prop_map(|parts| parts.concat())
}

/// The same, with any character.
pub fn text_of(parts: &[&'static str]) -> impl Strategy<Value = String> {
    let known = select(parts.to_vec()).prop_map(str::to_owned);
    let part = prop_oneof![9 => known, 1 => any::<char>().prop_map(String::from)];
    vec(part, 0..10).prop_map(|parts| parts.concat())
}

/// This name with each letter in either case.
pub fn any_case(name: &str) -> impl Strategy<Value = String> + use<> {
    let name = name.to_owned();
    vec(any::<bool>(), name.len()).prop_map(move |upper| {
        let letter = |(letter, upper): (char, bool)| if upper { letter.to_ascii_uppercase() } else { letter };
        name.chars().zip(upper).map(letter).collect()
    })
}

//! The gate for signed documents: JSON on whose meaning all readers agree.
//!
//! Parsers differ on duplicate keys (most keep the last), on numbers beyond 2^53 and on floats; what is signed must mean
//! one thing. The gate reads a document once, keeps nothing of it but the keys of the objects that are open, and leaves
//! the value to a typed parser.

use std::{borrow::Cow, cell::Cell, collections::HashSet, fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer},
};
use thiserror::Error;

use crate::{sanitise, verify::code::Code};

/// Largest magnitude of an integer that every reader of JSON keeps (RFC 8259, section 6).
pub const MAX_INTEGER: u64 = (1 << 53) - 1;
/// Objects and arrays within each other.
pub const MAX_DEPTH: usize = 64;

/// Why a document is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StrictError {
    #[error("it has {found} bytes, and {limit} are read at most")]
    TooBig { found: usize, limit: usize },
    #[error("it is nested more than {MAX_DEPTH} levels deep")]
    Depth,
    #[error("the key {0:?} is there twice in one object")]
    DuplicateKey(String),
    #[error("a number is not an integer between -(2^53 - 1) and 2^53 - 1: {0}")]
    Number(String),
    #[error("it is not JSON: {0}")]
    Syntax(String),
}

impl StrictError {
    pub const fn code(&self) -> Code {
        match self {
            Self::TooBig { .. } => Code::JsonTooBig,
            Self::Depth => Code::JsonDepth,
            Self::DuplicateKey(_) => Code::JsonDupkey,
            Self::Number(_) => Code::JsonNumber,
            Self::Syntax(_) => Code::JsonSyntax,
        }
    }
}

/// Accepts one JSON value of at most `limit` bytes in UTF-8 without duplicate keys, floats, integers that a reader
/// would round, or more than [`MAX_DEPTH`] levels: gives its text, for a typed parser. Takes time in proportion to the bytes.
pub fn check(bytes: &[u8], limit: usize) -> Result<&str, StrictError> {
    if bytes.len() > limit {
        return Err(StrictError::TooBig { found: bytes.len(), limit });
    }
    let text = str::from_utf8(bytes).map_err(|error| StrictError::Syntax(error.to_string()))?;
    let flaw = Cell::new(None);
    let mut from = serde_json::Deserializer::from_str(text);
    let result = Value { flaw: &flaw, depth: 0 }.deserialize(&mut from).and_then(|()| from.end());
    match result {
        Ok(()) => Ok(text),
        Err(error) => Err(match flaw.take() {
            Some(flaw) => flaw,
            None if is_number(bytes, &error) => StrictError::Number(error.to_string()),
            None => StrictError::Syntax(sanitise::text(error.to_string(), sanitise::NAME_LIMIT)),
        }),
    }
}

/// For `deserialize_with`: a struct from an object only. Derived code takes an array of its fields' values as well.
pub fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<T, D::Error> {
    Object::deserialize(from).map(|Object(value)| value)
}

/// For `deserialize_with`: structs, each from an object only.
pub fn objects<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    Vec::deserialize(from).map(|list: Vec<Object<T>>| list.into_iter().map(|Object(value)| value).collect())
}

/// A value that is written as an object.
pub(crate) struct Object<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Only<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Only<T> {
            type Value = Object<T>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }
        }
        from.deserialize_map(Only(PhantomData))
    }
}

/// Whether the parser stopped at something that is meant as a number: one too large for it, or a name of JavaScript.
fn is_number(bytes: &[u8], error: &serde_json::Error) -> bool {
    let line = bytes.split(|byte| *byte == b'\n').nth(error.line().saturating_sub(1)).unwrap_or_default();
    let here = line.get(error.column().saturating_sub(1)..).unwrap_or_default();
    let before = line.get(..error.column().saturating_sub(1)).unwrap_or_default();
    here.starts_with(b"NaN")
        || here.starts_with(b"Infinity")
        || (here.starts_with(b"I") && before.ends_with(b"-"))
        || error.to_string().starts_with("number out of range")
}

/// Reads one value and keeps nothing of it.
#[derive(Clone, Copy)]
struct Value<'f> {
    /// What was found, where it is not the parser's own complaint.
    flaw: &'f Cell<Option<StrictError>>,
    /// Objects and arrays around it.
    depth: usize,
}

impl Value<'_> {
    fn refuse<E: de::Error>(self, flaw: StrictError) -> E {
        let error = E::custom(&flaw);
        self.flaw.set(Some(flaw));
        error
    }

    fn deeper<E: de::Error>(self) -> Result<Self, E> {
        if self.depth == MAX_DEPTH {
            return Err(self.refuse(StrictError::Depth));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }

    fn integer<E: de::Error>(self, magnitude: u64, shown: impl fmt::Display) -> Result<(), E> {
        if magnitude > MAX_INTEGER { Err(self.refuse(StrictError::Number(shown.to_string()))) } else { Ok(()) }
    }
}

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<(), E> {
        self.integer(number, number)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<(), E> {
        self.integer(number.unsigned_abs(), number)
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<(), E> {
        Err(self.refuse(StrictError::Number(number.to_string())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let inner = self.deeper()?;
        while list.next_element_seed(inner)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let inner = self.deeper()?;
        let mut keys = Keys::default();
        while let Some(Key(key)) = map.next_key()? {
            if let Some(key) = keys.twice(key) {
                return Err(self.refuse(StrictError::DuplicateKey(sanitise::text(&*key, sanitise::NAME_LIMIT))));
            }
            map.next_value_seed(inner)?;
        }
        Ok(())
    }
}

/// The keys of an object so far.
#[derive(Default)]
struct Keys<'a> {
    /// Most objects have few: to compare those is quicker than to hash them.
    few: Vec<Cow<'a, str>>,
    others: HashSet<Cow<'a, str>>,
}

/// How many are compared.
const FEW: usize = 16;

impl<'a> Keys<'a> {
    /// Takes a key, or gives back one that is there already.
    fn twice(&mut self, key: Cow<'a, str>) -> Option<Cow<'a, str>> {
        if self.few.contains(&key) || self.others.contains(&key) {
            return Some(key);
        }
        if self.few.len() < FEW {
            self.few.push(key);
        } else {
            self.others.insert(key);
        }
        None
    }
}

/// A key, copied only where it is written with escapes.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Serialize;

    use super::*;

    const LIMIT: usize = 1 << 20;

    fn code(text: impl AsRef<[u8]>) -> Option<Code> {
        check(text.as_ref(), LIMIT).err().map(|error| error.code())
    }

    #[test]
    fn documents_that_mean_one_thing_are_accepted() {
        for text in
            ["{}", "null", " [1, -2, \"\", true, {\"a\": {\"a\": [{}]}}]\n", "9007199254740991", "-9007199254740991"]
        {
            assert_eq!(code(text), None, "{text}");
        }
    }

    #[test]
    fn a_key_twice_is_refused_at_any_depth_and_however_it_is_written() {
        for text in [r#"{"a":1,"a":1}"#, r#"[{"b":{"a":1,"c":2,"a":3}}]"#, r#"{"a":1,"\u0061":1}"#, r#"{"":1,"":2}"#] {
            assert_eq!(code(text), Some(Code::JsonDupkey), "{text}");
        }
    }

    #[test]
    fn a_key_twice_is_refused_in_a_large_object_too() {
        for twice in [0, FEW - 1, FEW, 3 * FEW] {
            let keys = (0..=3 * FEW).chain([twice]).map(|number| format!("\"{number}\":0"));
            let text = format!("{{{}}}", keys.collect::<Vec<_>>().join(","));
            assert_eq!(code(&text), Some(Code::JsonDupkey), "{twice}");
        }
    }

    #[test]
    fn numbers_that_readers_round_are_refused() {
        for text in [
            "1.0",
            "1e2",
            "-0",
            "0.1",
            "[9007199254740992]",
            "-9007199254740992",
            "18446744073709551616",
            "1e999",
            "NaN",
            "{\"a\":\n NaN}",
            "[1,Infinity]",
            "-Infinity",
        ] {
            assert_eq!(code(text), Some(Code::JsonNumber), "{text}");
        }
    }

    #[test]
    fn what_is_not_one_json_value_in_utf_8_is_refused() {
        for text in
            ["", "{", "{} {}", "01", "'a'", "{a:1}", "[1,]", "\"\\ud800\"", "// c\n1", "\u{feff}{}", "\"\t\"", "-"]
        {
            assert_eq!(code(text), Some(Code::JsonSyntax), "{text}");
        }
        assert_eq!(code(b"\"\xff\""), Some(Code::JsonSyntax));
        assert_eq!(code(b"{\"\xff\":1}"), Some(Code::JsonSyntax));
    }

    #[test]
    fn depth_has_a_limit_that_is_met_exactly() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(code(nested(MAX_DEPTH)), None);
        assert_eq!(code(nested(MAX_DEPTH + 1)), Some(Code::JsonDepth));
        assert_eq!(code("[".repeat(LIMIT)), Some(Code::JsonDepth));
        assert_eq!(code("{\"a\":".repeat(LIMIT / 5)), Some(Code::JsonDepth));
    }

    #[test]
    fn length_has_a_limit_that_is_met_exactly() {
        assert_eq!(check(b"[1]", 3), Ok("[1]"));
        assert_eq!(check(b"[1]", 2), Err(StrictError::TooBig { found: 3, limit: 2 }));
    }

    #[test]
    fn what_a_refusal_repeats_is_printable() {
        let error =
            check("{\"\\u001b[31m\":1,\"\\u001b[31m\":2}".as_bytes(), LIMIT).expect_err("a duplicate").to_string();
        assert!(error.chars().all(|character| !character.is_control()), "{error:?}");
    }

    #[test]
    fn a_struct_is_read_from_an_object_only() {
        #[derive(Debug, Deserialize, PartialEq, Serialize)]
        struct Inner {
            a: u8,
        }
        #[derive(Debug, Deserialize, PartialEq)]
        struct Outer {
            #[serde(deserialize_with = "object")]
            one: Inner,
            #[serde(deserialize_with = "objects")]
            many: Vec<Inner>,
        }
        let read = |text| serde_json::from_str::<Outer>(text).ok();
        let outer = Outer { one: Inner { a: 1 }, many: vec![Inner { a: 2 }] };
        assert_eq!(read(r#"{"one":{"a":1},"many":[{"a":2}]}"#), Some(outer));
        assert_eq!(read(r#"{"one":[1],"many":[{"a":2}]}"#), None);
        assert_eq!(read(r#"{"one":{"a":1},"many":[[2]]}"#), None);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_are_judged_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = check(&bytes, LIMIT);
        }

        #[test]
        fn whatever_passes_is_json_for_an_ordinary_parser(text in r#"[\[\]{}:,"a0-9.eE\\u\-]{0,40}"#) {
            if check(text.as_bytes(), LIMIT).is_ok() {
                prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok());
            }
        }
    }
}

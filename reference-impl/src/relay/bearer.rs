//! The token that a launch's workload presents to the provider relay: worth nothing elsewhere, new for each launch.

use std::fmt;
use std::io;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// 32 random bytes as 43 characters of base64url. Wiped on drop, absent from `Debug`.
#[derive(Clone)]
pub struct Bearer(Zeroizing<String>);

impl Bearer {
    /// Fails where the kernel gives no random bytes: then there is no launch.
    pub fn generate() -> io::Result<Self> {
        let mut bytes = Zeroizing::new([0; 32]);
        crate::sys::random_bytes(bytes.as_mut_slice())?;
        Ok(Self(Zeroizing::new(URL_SAFE_NO_PAD.encode(bytes.as_slice()))))
    }

    /// A token that is known already.
    pub fn known(token: String) -> Self {
        Self(Zeroizing::new(token))
    }

    /// The token itself, for the file that the workload reads.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The `Authorization` value that the relay expects.
    pub(crate) fn header(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new([b"Bearer ", self.0.as_bytes()].concat())
    }
}

impl fmt::Debug for Bearer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bearer(hidden)")
    }
}

/// The one `Authorization` of a request. More than one is none: servers differ in which they would take.
pub fn only_authorization(headers: &HeaderMap) -> Option<&[u8]> {
    let mut given = headers.get_all(AUTHORIZATION).iter();
    let first = given.next()?;
    given.next().is_none().then(|| first.as_bytes())
}

/// Length first, which is no secret, then every byte whatever the first difference is.
pub fn equal_in_constant_time(given: &[u8], expected: &[u8]) -> bool {
    given.len() == expected.len() && bool::from(given.ct_eq(expected))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::relay::arbitrary::config;

    #[test]
    fn a_bearer_is_43_characters_of_base64url_and_differs_every_time() {
        let (one, two) = (Bearer::generate().expect("random"), Bearer::generate().expect("random"));
        assert_eq!(one.expose().len(), 43);
        assert_eq!(URL_SAFE_NO_PAD.decode(one.expose()).expect("base64url").len(), 32);
        assert_ne!(one.expose(), two.expose());
    }

    #[test]
    fn a_bearer_is_not_in_its_debug_text() {
        let bearer = Bearer::generate().expect("random");
        assert_eq!(format!("{bearer:?}"), "Bearer(hidden)");
    }

    #[test]
    fn only_the_same_bytes_are_equal() {
        let expected = b"Bearer abc";
        assert!(equal_in_constant_time(b"Bearer abc", expected));
        for at in 0..expected.len() {
            for bit in 0..8 {
                let mut other = *expected;
                other[at] ^= 1 << bit;
                assert!(!equal_in_constant_time(&other, expected), "byte {at} bit {bit}");
            }
            assert!(!equal_in_constant_time(&expected[..at], expected), "prefix of {at}");
        }
        assert!(!equal_in_constant_time(b"Bearer abcd", expected));
        assert!(!equal_in_constant_time(b" Bearer abc", expected));
        assert!(!equal_in_constant_time(b"", expected));
    }

    #[test]
    fn the_header_is_the_scheme_and_the_token() {
        let bearer = Bearer::generate().expect("random");
        assert_eq!(bearer.header().as_slice(), format!("Bearer {}", bearer.expose()).as_bytes());
    }

    proptest! {
        #![proptest_config(config())]

        #[test]
        fn two_values_are_equal_where_their_bytes_are_and_nowhere_else(
            one: Vec<u8>,
            other: Vec<u8>,
            at: prop::sample::Index,
            change in 1u8..,
        ) {
            prop_assert!(equal_in_constant_time(&one, &one.clone()));
            prop_assert_eq!(equal_in_constant_time(&one, &other), one == other);
            let mut near = one.clone();
            if let Some(byte) = near.get_mut(at.index(one.len().max(1))) {
                *byte ^= change;
                prop_assert!(!equal_in_constant_time(&near, &one));
            }
        }
    }
}

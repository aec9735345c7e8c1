//! Nonces: what ties a packet or a request seen outside to one attempt of one launch.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The secret of one run. It never enters a target.
#[derive(Clone)]
pub struct RunNonce([u8; 32]);

/// Sixteen bytes that name one attempt of one launch: the start of HMAC-SHA-256(run nonce, launch ‖ 0 ‖ attempt).
///
/// It travels as 32 lower-case hexadecimal digits everywhere (payload, DNS label, path, header), so that one
/// search finds it in any fixture and any frame.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Nonce([u8; 16]);

impl RunNonce {
    /// Wraps 32 random bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// HMAC-SHA-256(salt, challenge): nobody who knows the challenge alone knows the nonce, and whoever is shown the salt
    /// afterwards sees that the run answers the challenge. A run that answers none has an empty one.
    pub fn answer(salt: [u8; 32], challenge: &[u8]) -> Self {
        Self(Self(salt).digest(&[challenge]))
    }

    /// Its 64 hexadecimal digits, for the evidence of a run that is over.
    pub fn reveal(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The nonce of one attempt of one launch.
    pub fn attempt(&self, launch: &str, attempt: &str) -> Nonce {
        let digest = self.digest(&[launch.as_bytes(), b"\0", attempt.as_bytes()]);
        let mut nonce = [0; 16];
        nonce.copy_from_slice(&digest[..16]);
        Nonce(nonce)
    }

    /// A secret of this run for one purpose: a canary's banner, a planted key, a process name. 64 hexadecimal digits.
    pub fn secret(&self, purpose: &str) -> String {
        let digest = self.digest(&[b"secret\0", purpose.as_bytes()]);
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn digest(&self, parts: &[&[u8]]) -> [u8; 32] {
        #[expect(clippy::expect_used, reason = "HMAC takes keys of every length")]
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("any key length");
        for part in parts {
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }
}

impl Nonce {
    /// Reads 32 hexadecimal digits of either case (resolvers change the case of labels).
    pub fn parse(text: &[u8]) -> Option<Self> {
        let digits: &[u8; 32] = text.try_into().ok()?;
        let mut nonce = [0; 16];
        for (byte, pair) in nonce.iter_mut().zip(digits.chunks_exact(2)) {
            let high = (pair[0] as char).to_digit(16)?;
            let low = (pair[1] as char).to_digit(16)?;
            *byte = (high * 16 + low) as u8;
        }
        Some(Self(nonce))
    }

    /// Every nonce-shaped run of exactly 32 hexadecimal digits in `bytes`, in order.
    ///
    /// A longer run of digits is something else (a digest, a trace id in two halves) and yields nothing.
    pub fn find_all(bytes: &[u8]) -> Vec<Self> {
        bytes.split(|byte| !byte.is_ascii_hexdigit()).filter_map(Self::parse).collect()
    }
}

impl fmt::Display for Nonce {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

impl fmt::Debug for Nonce {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Nonce({self})")
    }
}

impl serde::Serialize for Nonce {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Nonce {
    fn deserialize<D: serde::Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let text = String::deserialize(input)?;
        Self::parse(text.as_bytes()).ok_or_else(|| serde::de::Error::custom("a nonce is 32 hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_nonce_depends_on_run_launch_and_attempt_and_their_border() {
        let run = RunNonce::from_bytes([7; 32]);
        let nonce = run.attempt("ab", "c");
        assert_eq!(nonce, run.attempt("ab", "c"));
        assert_ne!(nonce, run.attempt("a", "bc"));
        assert_ne!(nonce, run.attempt("ab", "d"));
        assert_ne!(nonce, RunNonce::from_bytes([8; 32]).attempt("ab", "c"));
    }

    #[test]
    fn a_run_nonce_answers_one_challenge_and_says_nothing_before_its_salt_is_shown() {
        // RFC 4231 has no case with a key of 32 bytes; this one was computed with `openssl dgst -mac HMAC`.
        let salt = [0x0b; 32];
        let answer = RunNonce::answer(salt, b"Hi There").reveal();
        assert_eq!(answer, "198a607eb44bfbc69903a0f1cf2bbdc5ba0aa3f3d9ae3c1c7a3b1696a0b68cf7");
        assert_ne!(RunNonce::answer(salt, b"").reveal(), answer);
        assert_ne!(RunNonce::answer([0x0c; 32], b"Hi There").reveal(), answer);
    }

    #[test]
    fn a_nonce_is_found_in_any_case_between_other_bytes_but_not_inside_a_longer_run() {
        let nonce = RunNonce::from_bytes([1; 32]).attempt("l", "a");
        let mixed = format!("GET /x HTTP/1.1\r\nx: wt:{}\r\n", nonce.to_string().to_uppercase());
        assert_eq!(Nonce::find_all(mixed.as_bytes()), [nonce]);
        assert_eq!(Nonce::find_all(format!("\x20{nonce}\x06canary").as_bytes()), [nonce]);
        assert!(Nonce::find_all(format!("{nonce}0").as_bytes()).is_empty());
        assert!(Nonce::find_all(&nonce.to_string().as_bytes()[1..]).is_empty());
    }
}

//! Finds secrets by length, sum and digest: the sum of a window rolls along, and only where it fits is the digest made.

use sha2::{Digest, Sha256};

use crate::{context::hex, plan::Needle};

/// Places named for one needle.
const MOST_PLACES: usize = 8;

/// Looks at streams of bytes, piece by piece.
pub struct Finder {
    needles: Vec<Needle>,
    /// The end of the last piece, as long as the longest needle but one byte.
    tail: Vec<u8>,
    longest: usize,
    found: Vec<(String, String)>,
}

impl Finder {
    pub fn new(needles: &[Needle]) -> Self {
        let needles: Vec<_> = needles.iter().filter(|needle| needle.len > 0).cloned().collect();
        let longest = needles.iter().map(|needle| needle.len as usize).max().unwrap_or(1);
        Self { needles, tail: Vec::new(), longest, found: Vec::new() }
    }

    /// Starts a stream.
    pub fn begin(&mut self) {
        self.tail.clear();
    }

    /// Looks at the next piece of the stream that `place` names.
    pub fn look_at(&mut self, piece: &[u8], place: &str) {
        let kept = self.tail.len();
        self.tail.extend(piece);
        for needle in &self.needles {
            let window = needle.len as usize;
            // Windows that lie wholly in what was kept were looked at with the last piece.
            let start = (kept + 1).saturating_sub(window);
            if self.tail.get(start..).is_some_and(|bytes| holds(bytes, needle)) {
                note(&mut self.found, &needle.name, place);
            }
        }
        let surplus = self.tail.len().saturating_sub(self.longest - 1);
        self.tail.drain(..surplus);
    }

    /// Names of needles and places, in the order in which they were found.
    pub fn into_found(self) -> Vec<(String, String)> {
        self.found
    }
}

fn holds(bytes: &[u8], needle: &Needle) -> bool {
    let window = needle.len as usize;
    if bytes.len() < window {
        return false;
    }
    let mut sum = bytes[..window].iter().fold(0u32, |sum, byte| sum.wrapping_add((*byte).into()));
    let mut start = 0;
    loop {
        if sum == needle.sum && is(&bytes[start..start + window], needle) {
            return true;
        }
        let Some(next) = bytes.get(start + window) else { return false };
        sum = sum.wrapping_add((*next).into()).wrapping_sub(bytes[start].into());
        start += 1;
    }
}

fn is(bytes: &[u8], needle: &Needle) -> bool {
    hex(&Sha256::digest(bytes)).eq_ignore_ascii_case(&needle.sha256)
}

fn note(found: &mut Vec<(String, String)>, name: &str, place: &str) {
    let places = found.iter().filter(|(other, _)| other == name);
    let known = places.clone().any(|(_, other)| other == place);
    if !known && places.count() < MOST_PLACES {
        found.push((name.to_owned(), place.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::sha256;

    fn needle(name: &str, secret: &[u8]) -> Needle {
        let sum = secret.iter().map(|byte| u32::from(*byte)).sum();
        Needle { name: name.into(), len: secret.len() as u32, sum, sha256: sha256(secret) }
    }

    #[test]
    fn a_secret_is_found_wherever_the_pieces_are_cut_and_its_anagram_is_not() {
        let text = b"some text, then the-secret and more";
        for cut in 0..=text.len() {
            for second in cut..=text.len() {
                let mut finder = Finder::new(&[
                    needle("there", b"the-secret"),
                    needle("anagram", b"eht-secret"),
                    needle("one", b","),
                ]);
                finder.begin();
                for piece in [&text[..cut], &text[cut..second], &text[second..]] {
                    finder.look_at(piece, "text");
                }
                let mut found = finder.into_found();
                found.sort();
                assert_eq!(
                    found,
                    [("one".to_owned(), "text".to_owned()), ("there".into(), "text".into())],
                    "cut at {cut} and {second}"
                );
            }
        }
    }

    #[test]
    fn a_secret_that_is_cut_by_the_end_of_a_stream_is_not_found() {
        let mut finder = Finder::new(&[needle("secret", b"the-secret")]);
        for piece in [&b"the-"[..], b"secret"] {
            finder.begin();
            finder.look_at(piece, "text");
        }
        assert!(finder.into_found().is_empty());
    }
}

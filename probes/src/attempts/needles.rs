//! Finds secrets by length, sum and digest: the sum of a window rolls along, and only where it fits is the digest made.

use sha2::{Digest, Sha256};

use crate::plan::Needle;

/// Places named for one needle.
const MOST_PLACES: usize = 8;
/// Windows whose sums are compared at once, without a branch for each.
const AT_ONCE: usize = 64;

/// Looks at streams of bytes, piece by piece.
pub struct Finder {
    /// Each with its digest.
    needles: Vec<(Needle, Vec<u8>)>,
    /// The end of the last piece, as long as the longest needle but one byte.
    tail: Vec<u8>,
    longest: usize,
    found: Vec<(String, String)>,
}

impl Finder {
    pub fn new(needles: &[Needle]) -> Self {
        let longest = needles.iter().map(|needle| needle.len as usize).max().unwrap_or(1).max(1);
        let of = |needle: &Needle| Some((needle.clone(), hex::decode(&needle.sha256).ok()?));
        let needles = needles.iter().filter(|needle| needle.len > 0).filter_map(of).collect();
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
        let sums = sums(&self.tail);
        for (needle, digest) in &self.needles {
            let window = needle.len as usize;
            // Windows that lie wholly in what was kept were looked at with the last piece.
            let first = (kept + 1).saturating_sub(window);
            let is = |start: usize| Sha256::digest(&self.tail[start..start + window])[..] == digest[..];
            if starts(&sums, first, window, needle.sum).any(is) {
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

/// Sums of the first bytes: of none, of one, and so on.
fn sums(bytes: &[u8]) -> Vec<u32> {
    let mut sum = 0u32;
    let more = bytes.iter().map(|byte| {
        sum = sum.wrapping_add((*byte).into());
        sum
    });
    std::iter::once(0).chain(more).collect()
}

/// Where a window with this sum starts, from `first` on.
fn starts(sums: &[u32], first: usize, window: usize, sum: u32) -> impl Iterator<Item = usize> {
    let befores = sums.get(first..).unwrap_or_default();
    let ends = befores.get(window..).unwrap_or_default();
    let fits = move |(before, end): (&u32, &u32)| end.wrapping_sub(*before) == sum;
    let parts = befores.chunks(AT_ONCE).zip(ends.chunks(AT_ONCE)).enumerate();
    parts
        .filter(move |(_, (befores, ends))| befores.iter().zip(*ends).fold(false, |any, pair| any | fits(pair)))
        .flat_map(move |(part, (befores, ends))| {
            let pairs = befores.iter().zip(ends).enumerate();
            pairs.filter(move |(_, pair)| fits(*pair)).map(move |(at, _)| first + part * AT_ONCE + at)
        })
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
    fn a_secret_is_found_wherever_it_lies_in_a_long_piece() {
        for at in 0..3 * AT_ONCE {
            let text = [&vec![b'x'; at][..], b"the-secret", &vec![b'y'; 3 * AT_ONCE - at]].concat();
            let mut finder = Finder::new(&[needle("there", b"the-secret"), needle("anagram", b"eht-secret")]);
            finder.look_at(&text, "text");
            assert_eq!(finder.into_found(), [("there".to_owned(), "text".to_owned())], "at {at}");
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

//! Follows a chunked request body byte by byte, so that the gate knows where it ends; strict where parsers differ
//! (RFC 9112 section 7.1; catalogue J05 and J07).

/// The body is not chunked as it should be, or its extensions and trailers are too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// Where in the body the next byte stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Size { digits: u8 },
    Extension,
    SizeEnd,
    Data(u64),
    DataCr,
    DataLf,
    TrailerStart,
    Trailer,
    TrailerLf,
    LastLf,
    Done,
}

/// One chunked body, as far as it was followed.
#[derive(Debug)]
pub struct Chunks {
    at: At,
    size: u64,
    /// Bytes of extensions and trailers that may still come.
    allowance: usize,
}

impl Chunks {
    pub fn new(allowance: usize) -> Self {
        Self { at: At::Size { digits: 0 }, size: 0, allowance }
    }

    /// Whether the body's last byte was seen.
    pub fn is_done(&self) -> bool {
        self.at == At::Done
    }

    /// Follows `bytes` and says how many of them belong to the body.
    pub fn follow(&mut self, bytes: &[u8]) -> Result<usize, Malformed> {
        let mut used = 0;
        while used < bytes.len() && self.at != At::Done {
            if let At::Data(left) = self.at {
                let now = left.min((bytes.len() - used) as u64);
                used += now as usize;
                self.at = if now == left { At::DataCr } else { At::Data(left - now) };
            } else {
                self.step(bytes[used])?;
                used += 1;
            }
        }
        Ok(used)
    }

    fn step(&mut self, byte: u8) -> Result<(), Malformed> {
        self.at = match (self.at, byte) {
            (At::Size { digits }, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') if digits < 15 => {
                let digit = (byte as char).to_digit(16).map_or(0, u64::from);
                self.size = (self.size << 4) | digit;
                At::Size { digits: digits + 1 }
            }
            (At::Size { digits: 1.. }, b';') => At::Extension,
            (At::Size { digits: 1.. } | At::Extension, b'\r') => At::SizeEnd,
            (At::Extension, b'\t' | b' '..=b'~') => self.allow(At::Extension)?,
            (At::SizeEnd, b'\n') if self.size == 0 => At::TrailerStart,
            (At::SizeEnd, b'\n') => At::Data(std::mem::take(&mut self.size)),
            (At::DataCr, b'\r') => At::DataLf,
            (At::DataLf, b'\n') => At::Size { digits: 0 },
            (At::TrailerStart, b'\r') => At::LastLf,
            (At::TrailerStart, b'!'..=b'~') | (At::Trailer, b'\t' | b' '..=b'~' | 0x80..) => self.allow(At::Trailer)?,
            (At::Trailer, b'\r') => At::TrailerLf,
            (At::TrailerLf, b'\n') => At::TrailerStart,
            (At::LastLf, b'\n') => At::Done,
            _ => return Err(Malformed),
        };
        Ok(())
    }

    fn allow(&mut self, next: At) -> Result<At, Malformed> {
        self.allowance = self.allowance.checked_sub(1).ok_or(Malformed)?;
        Ok(next)
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;
    use crate::relay::arbitrary::{bytes_of, config};

    fn follow(body: &[u8]) -> Result<(usize, bool), Malformed> {
        let mut chunks = Chunks::new(20);
        let used = chunks.follow(body)?;
        Ok((used, chunks.is_done()))
    }

    #[test]
    fn a_body_ends_where_it_ends_however_it_is_cut() {
        for body in [
            "0\r\n\r\n",
            "5\r\nhello\r\n0\r\n\r\n",
            "5;a=b\r\nhello\r\n00\r\n\r\n",
            "A\r\n0123456789\r\n0\r\nX-T: 1\r\nY: 2\r\n\r\n",
            "000000000000001\r\nx\r\n0\r\n\r\n",
        ] {
            let sent = [body.as_bytes(), b"GET"].concat();
            assert_eq!(follow(&sent), Ok((body.len(), true)), "{body:?}");
            for cut in 0..body.len() {
                let mut chunks = Chunks::new(20);
                assert_eq!(chunks.follow(&sent[..cut]), Ok(cut));
                assert!(!chunks.is_done());
                assert_eq!(chunks.follow(&sent[cut..]), Ok(body.len() - cut));
                assert!(chunks.is_done());
            }
        }
    }

    #[test]
    fn everything_that_parsers_read_differently_is_malformed() {
        for body in [
            "\r\n",
            ";\r\n",
            "g\r\n",
            "-1\r\n",
            "+1\r\n",
            "0x5\r\n",
            " 5\r\n",
            "5 \r\n",
            "5\n",
            "5\rx",
            "5;a\n",
            "5;a\rb",
            "5;\0\r\n",
            "1000000000000000\r\n",
            "00000000000000005\r\n",
            "5\r\nhelloX",
            "5\r\nhello\n",
            "5\r\nhello0\r\n\r\n",
            "5\r\nhello\r\n\r\n",
            "0\r\n\n",
            "0\r\n x: y\r\n\r\n",
            "0\r\nx: y\n\r\n",
            "0\r\nx: y\r\r\n",
            "0\r\nx: \0\r\n\r\n",
            "0;123456789012345678901\r\n\r\n",
            "0\r\nx: 12345678901234567890\r\n\r\n",
        ] {
            assert_eq!(follow(body.as_bytes()), Err(Malformed), "{body:?}");
        }
    }

    /// What becomes of these bytes where they come in pieces of these lengths, and then the rest at once.
    fn in_pieces(mut bytes: &[u8], lengths: &[usize]) -> Result<(usize, bool), Malformed> {
        let mut chunks = Chunks::new(20);
        let mut used = 0;
        for length in lengths.iter().copied().chain([bytes.len()]) {
            let (piece, rest) = bytes.split_at(length.min(bytes.len()));
            used += chunks.follow(piece)?;
            bytes = rest;
        }
        Ok((used, chunks.is_done()))
    }

    proptest! {
        #![proptest_config(config())]

        #[test]
        fn how_the_bytes_are_cut_does_not_matter(
            bytes in bytes_of(&["0", "1", "5", "A", "\r\n", "\r\n0\r\n\r\n", "hello", ";a=b", "X: y", "\n", "\r", " "]),
            lengths in vec(0..9usize, 0..9),
        ) {
            let whole = follow(&bytes);
            prop_assert_eq!(in_pieces(&bytes, &lengths), whole);
            if let Ok((used, done)) = whole {
                prop_assert!(done || used == bytes.len(), "only what is behind the end is left");
            }
        }

        #[test]
        fn a_body_that_is_written_well_ends_where_it_ends(
            data in vec(vec(any::<u8>(), 1..300), 0..4),
            lengths in vec(0..99usize, 0..9),
            behind: Vec<u8>,
        ) {
            let chunk = |data: &Vec<u8>| [format!("{:X}\r\n", data.len()).as_bytes(), data, b"\r\n"].concat();
            let body = [data.iter().map(chunk).collect::<Vec<_>>().concat(), b"0\r\n\r\n".to_vec()].concat();
            prop_assert_eq!(in_pieces(&[body.clone(), behind].concat(), &lengths), Ok((body.len(), true)));
            prop_assert_eq!(follow(&body[..body.len() - 1]), Ok((body.len() - 1, false)));
        }
    }
}

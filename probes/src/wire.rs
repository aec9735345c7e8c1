//! How lines leave a target: `@wt <launch> <seq> <len> <json>`, at most 2 KiB each, on standard output or in a file.
//!
//! Other bytes around them are kept by the reader and ignored; CR LF is tolerated; a gap in `seq` is the reader's error.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde::{Deserialize, Serialize};

use crate::{
    observation::{Hello, Observation},
    plan::Plan,
};

/// Bytes of a plan's argument (Linux allows 128 KiB for one argument).
pub const MAX_PLAN: usize = 100 * 1024;
/// Bytes of one line, the line feed included: a write of this size to a pipe is atomic (POSIX PIPE_BUF is 4096 here).
pub const MAX_LINE: usize = 2048;

const MARK: &str = "@wt ";

/// What a line says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum Line {
    Hello(Hello),
    /// The attempt's process exists: a receipt.
    Began {
        attempt: String,
    },
    Observed(Observation),
    /// Every attempt has ended.
    Done {
        attempts: u32,
    },
    /// The probe refused to go on: in the wrong namespace, expired, a plan that it cannot read.
    Stopped {
        reason: String,
    },
}

/// A line as the reader got it.
#[derive(Clone, Debug, PartialEq)]
pub struct Received {
    pub launch: String,
    pub seq: u64,
    pub line: Line,
}

/// Why bytes that start with the mark are not a line.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    #[error("the line's head is not `@wt <launch> <seq> <len>`")]
    Head,
    #[error("the line says {said} bytes and has {has}")]
    Length { said: usize, has: usize },
    #[error("the line's JSON is not one that the probe writes: {0}")]
    Json(String),
}

/// Why a plan cannot be carried in an argument, or cannot be read from one.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error("the plan takes {0} bytes, and an argument carries at most {MAX_PLAN}: split it into launches")]
    TooLong(usize),
    #[error("the plan is not base64: {0}")]
    Base64(#[from] base64::DecodeError),
    #[error("the plan is not one that this probe reads: {0}")]
    Json(#[from] serde_json::Error),
}

/// One line, with its line feed. `None` where it would be longer than [`MAX_LINE`].
pub fn encode(launch: &str, seq: u64, line: &Line) -> Option<String> {
    let json = serde_json::to_string(line).ok()?;
    let text = format!("{MARK}{launch} {seq} {} {json}\n", json.len());
    (text.len() <= MAX_LINE).then_some(text)
}

/// Reads one line of a target's output, without its line feed. `None` where it is none of ours.
///
/// The mark may stand anywhere in the line, since targets print prompts without a line feed.
pub fn decode(line: &[u8]) -> Option<Result<Received, WireError>> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let start = line.windows(MARK.len()).position(|bytes| bytes == MARK.as_bytes())?;
    Some(decode_marked(&line[start + MARK.len()..]))
}

fn decode_marked(rest: &[u8]) -> Result<Received, WireError> {
    let mut fields = rest.splitn(4, |byte| *byte == b' ');
    let mut field = || fields.next().ok_or(WireError::Head);
    let launch = std::str::from_utf8(field()?).map_err(|_| WireError::Head)?.to_owned();
    let seq = number(field()?)?;
    let said = number(field()?)? as usize;
    let json = field()?;
    let json = json.get(..said).ok_or(WireError::Length { said, has: json.len() })?;
    let line = serde_json::from_slice(json).map_err(|error| WireError::Json(error.to_string()))?;
    Ok(Received { launch, seq, line })
}

fn number(digits: &[u8]) -> Result<u64, WireError> {
    std::str::from_utf8(digits).ok().and_then(|text| text.parse().ok()).ok_or(WireError::Head)
}

/// The plan as one argument.
pub fn encode_plan(plan: &Plan) -> Result<String, PlanError> {
    let text = BASE64_STANDARD.encode(serde_json::to_vec(plan)?);
    if text.len() > MAX_PLAN { Err(PlanError::TooLong(text.len())) } else { Ok(text) }
}

/// The plan out of an argument.
pub fn decode_plan(argument: &str) -> Result<Plan, PlanError> {
    Ok(serde_json::from_slice(&BASE64_STANDARD.decode(argument)?)?)
}

/// Bytes as printable ASCII, at most `limit` of them; the rest, and the backslash, as `\xNN`.
///
/// This is the one place where bytes become text that reports may show: no control, no bidi mark, no escape passes it.
pub fn escape(bytes: &[u8], limit: usize) -> String {
    let mut text = String::new();
    for byte in &bytes[..bytes.len().min(limit)] {
        match byte {
            b'\\' => text.push_str("\\x5c"),
            b' '..=b'~' => text.push(*byte as char),
            _ => text.push_str(&format!("\\x{byte:02x}")),
        }
    }
    text
}

/// The bytes that [`escape`] wrote. A backslash without `xNN` behind it stands for itself.
pub fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = match tail {
            [b'x', high, low, ..] if *first == b'\\' => {
                let digit = |byte: &u8| (*byte as char).to_digit(16);
                digit(high).zip(digit(low)).map(|(high, low)| (high * 16 + low) as u8)
            }
            _ => None,
        };
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &tail[3..] } else { tail };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done() -> Line {
        Line::Done { attempts: 3 }
    }

    #[test]
    fn a_line_survives_prompts_before_it_carriage_returns_and_text_after_it() {
        let text = encode("t1", 7, &done()).expect("short");
        let noisy = format!("$ {}\r", text.trim_end());
        let read = decode(noisy.as_bytes()).expect("marked").expect("whole");
        assert_eq!(read, Received { launch: "t1".into(), seq: 7, line: done() });
        let tail = format!("{} and more", text.trim_end());
        assert_eq!(decode(tail.as_bytes()).expect("marked").expect("whole").seq, 7);
    }

    #[test]
    fn a_cut_line_and_other_output_are_told_apart() {
        let text = encode("t1", 7, &done()).expect("short");
        let cut = &text.as_bytes()[..text.len() - 4];
        assert!(matches!(decode(cut), Some(Err(WireError::Length { .. }))));
        assert_eq!(decode(b"hello"), None);
        assert_eq!(decode(b"@wt x"), Some(Err(WireError::Head)));
    }

    #[test]
    fn a_line_is_never_longer_than_an_atomic_write() {
        let long = Line::Stopped { reason: "x".repeat(MAX_LINE) };
        assert_eq!(encode("t1", 0, &long), None);
    }

    #[test]
    fn escaping_leaves_printable_text_and_every_byte_comes_back() {
        let bytes: Vec<u8> = (0..=255).collect();
        let text = escape(&bytes, 1000);
        assert!(text.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
        assert_eq!(unescape(&text), bytes);
        assert_eq!(escape(b"abc", 2), "ab");
        assert_eq!(unescape("\\n\\x4"), b"\\n\\x4");
    }
}

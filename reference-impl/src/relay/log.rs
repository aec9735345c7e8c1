//! What a relay says about its clients: one short printable line each, and not too many of them.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::guards::RelayGuards;

/// Lines that may come at once, and how many more each second.
const BURST: f64 = 20.0;
const PER_SECOND: f64 = 5.0;

/// Longest text of a client in a line.
const MAX_TEXT: usize = 200;

/// Where a relay's lines go. No line holds a header value, a query, a body or a credential.
pub struct Log {
    sink: Box<dyn Fn(&str) + Send + Sync>,
    bucket: Mutex<Bucket>,
}

impl Log {
    /// Hands every line, without a line end, to `sink`.
    pub fn new(sink: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { sink: Box::new(sink), bucket: Mutex::new(Bucket::new(Instant::now())) }
    }

    /// Says nothing.
    pub fn silent() -> Self {
        Self::new(|_| {})
    }

    pub(crate) fn line<G: RelayGuards>(&self, line: &str) {
        let left_out = self.bucket.lock().unwrap_or_else(PoisonError::into_inner).take(Instant::now());
        match left_out {
            None if G::limits_log() => {}
            None | Some(0) => (self.sink)(line),
            Some(count) => (self.sink)(&format!("{line} ({count} lines before it were left out)")),
        }
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}

/// Method and path for a line: no query, nothing but printable ASCII, and not too long.
pub(crate) fn request<G: RelayGuards>(method: &str, target: &str) -> String {
    let path = if G::strips_query_from_log() { target.split(['?', '#']).next().unwrap_or_default() } else { target };
    format!("{} {}", G::escapes(method), G::escapes(path))
}

/// Printable ASCII as it is, a backslash doubled, the rest as `\xNN`; cut after 200 characters.
pub fn printable(text: &str) -> String {
    let mut shown = String::new();
    for byte in text.bytes() {
        if shown.len() >= MAX_TEXT {
            shown.push_str("...");
            break;
        }
        match byte {
            b'\\' => shown.push_str("\\\\"),
            b' '..=b'~' => shown.push(byte.into()),
            _ => shown.push_str(&format!("\\x{byte:02x}")),
        }
    }
    shown
}

/// A token bucket.
#[derive(Debug)]
struct Bucket {
    tokens: f64,
    filled: Instant,
    left_out: u64,
}

impl Bucket {
    fn new(now: Instant) -> Self {
        Self { tokens: BURST, filled: now, left_out: 0 }
    }

    /// Whether a line may be written now, and how many were left out since the last one.
    fn take(&mut self, now: Instant) -> Option<u64> {
        let gained = now.saturating_duration_since(self.filled).as_secs_f64() * PER_SECOND;
        self.tokens = (self.tokens + gained).min(BURST);
        self.filled = now;
        if self.tokens < 1.0 {
            self.left_out += 1;
            return None;
        }
        self.tokens -= 1.0;
        Some(std::mem::take(&mut self.left_out))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::guards::AllUp;

    #[test]
    fn a_line_shows_neither_query_nor_fragment_nor_anything_unprintable() {
        assert_eq!(request::<AllUp>("GET", "/a?key=secret"), "GET /a");
        assert_eq!(request::<AllUp>("GET", "/a#secret"), "GET /a");
        assert_eq!(request::<AllUp>("G\n", "/\x1b[2J\\\r\u{e9}"), r"G\x0a /\x1b[2J\\\x0d\xc3\xa9");
        assert_eq!(printable(&"x".repeat(5000)).len(), MAX_TEXT + 3);
    }

    #[test]
    fn a_flood_is_cut_to_the_burst_and_then_to_the_rate() {
        let start = Instant::now();
        let mut bucket = Bucket::new(start);
        assert_eq!((0..100_000).filter(|_| bucket.take(start).is_some()).count(), 20);
        assert_eq!(bucket.take(start + Duration::from_millis(200)), Some(99_980));
        assert_eq!(bucket.take(start + Duration::from_millis(200)), None);
        assert_eq!((0..100).filter(|_| bucket.take(start + Duration::from_secs(3600)).is_some()).count(), 20);
    }
}

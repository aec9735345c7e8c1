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
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::guards::AllUp;
    use crate::relay::arbitrary::config;
    use proptest::prelude::*;

    #[test]
    fn a_line_shows_neither_query_nor_fragment_nor_anything_unprintable() {
        assert_eq!(request::<AllUp>("GET", "/a?key=secret"), "GET /a");
        assert_eq!(request::<AllUp>("GET", "/a#secret"), "GET /a");
        assert_eq!(request::<AllUp>("G\n", "/\x1b[2J\\\r\u{e9}"), r"G\x0a /\x1b[2J\\\x0d\xc3\xa9");
        assert_eq!(printable(&"x".repeat(5000)).len(), MAX_TEXT + 3);
    }

    /// The limit on lines is down.
    struct Unlimited;

    impl RelayGuards for Unlimited {
        fn limits_log() -> bool {
            false
        }
    }

    #[test]
    fn a_line_says_how_many_were_left_out_before_it_and_none_is_where_the_limit_is_down() {
        let lines = Arc::new(Mutex::new(vec![]));
        let sink = lines.clone();
        let log = Log::new(move |line| sink.lock().expect("no panic").push(line.to_owned()));
        let tokens = |tokens| log.bucket.lock().expect("no panic").tokens = tokens;
        log.line::<AllUp>("first");
        // Far below what comes back while the test runs.
        tokens(-1e9);
        log.line::<AllUp>("left out");
        log.line::<Unlimited>("unlimited");
        tokens(1.0);
        log.line::<AllUp>("last");
        let shown = lines.lock().expect("no panic").clone();
        assert_eq!(shown, ["first", "unlimited", "last (2 lines before it were left out)"]);
        assert_eq!(format!("{log:?}"), "Log");
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

    /// The bytes that `printable` wrote, where it did not cut them.
    fn read_back(shown: &str) -> Vec<u8> {
        let mut bytes = vec![];
        let mut rest = shown;
        while let Some(first) = rest.chars().next() {
            let (byte, length) = match rest.as_bytes() {
                [b'\\', b'x', ..] => (u8::from_str_radix(&rest[2..4], 16).expect("two digits"), 4),
                [b'\\', ..] => (b'\\', 2),
                _ => (first as u8, 1),
            };
            bytes.push(byte);
            rest = &rest[length..];
        }
        bytes
    }

    proptest! {
        #![proptest_config(config())]

        #[test]
        fn what_is_shown_is_printable_and_no_two_texts_are_shown_alike(text: String) {
            let shown = printable(&text);
            prop_assert!(shown.bytes().all(|byte| matches!(byte, b' '..=b'~')), "{}", shown);
            match shown.strip_suffix("...").filter(|shown| shown.len() >= MAX_TEXT) {
                Some(cut) => prop_assert!(cut.len() < MAX_TEXT + 4 && text.as_bytes().starts_with(&read_back(cut))),
                None => prop_assert_eq!(read_back(&shown), text.into_bytes()),
            }
        }

        #[test]
        fn no_query_and_no_fragment_is_ever_shown(path in "[a-z/]{0,9}", mark in "[?#]", secret: String) {
            let shown = request::<AllUp>("GET", &format!("{path}{mark}{secret}"));
            prop_assert_eq!(shown, format!("GET {path}"));
        }

        #[test]
        fn whatever_the_times_no_more_lines_come_than_the_rate_and_each_other_is_counted(
            waits in prop::collection::vec(0..2000u64, 0..200),
        ) {
            let start = Instant::now();
            let mut bucket = Bucket::new(start);
            let (mut now, mut shown, mut told) = (start, 0, 0);
            for wait in &waits {
                now += Duration::from_millis(wait / 20);
                if let Some(left_out) = bucket.take(now) {
                    shown += 1;
                    told += left_out;
                }
            }
            let allowed = BURST + PER_SECOND * (now - start).as_secs_f64();
            prop_assert!(f64::from(shown) <= allowed + 0.001, "{} of {}", shown, allowed);
            prop_assert_eq!(told + bucket.left_out + u64::from(shown as u32), waits.len() as u64);
        }
    }
}

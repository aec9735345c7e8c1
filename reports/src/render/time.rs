//! Times as the formats want them. A results document may say anything, so what is no time is nothing.

use std::time::SystemTime;

use crate::time;

/// Milliseconds since 1970 of `2026-01-02T03:04:05Z`, as results write it.
pub(super) fn milliseconds(utc: &str) -> Option<u64> {
    let since = time::parse(utc)?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    u64::try_from(since.as_millis()).ok()
}

/// The day of such a time.
pub(super) fn day(utc: &str) -> Option<&str> {
    milliseconds(utc)?;
    utc.get(..10)
}

/// Seconds with so many decimals: `1.420`.
pub(super) fn seconds(microseconds: u64, decimals: usize) -> String {
    let fraction = format!("{:06}", microseconds % 1_000_000);
    format!("{}.{}", microseconds / 1_000_000, fraction.get(..decimals).unwrap_or(&fraction))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_milliseconds_and_a_day_and_what_is_no_time_is_nothing() {
        let utc = "2026-01-02T03:04:05Z";
        assert_eq!((milliseconds(utc), day(utc)), (Some(1_767_323_045_000), Some("2026-01-02")));
        for text in ["", "2026-01-02", "2026-02-29T00:00:00Z", "+026-01-02T03:04:05Z", "</script>"] {
            assert_eq!((milliseconds(text), day(text)), (None, None), "{text}");
        }
    }

    #[test]
    fn seconds_have_the_decimals_that_are_asked_for() {
        assert_eq!(seconds(1_420_999, 3), "1.420");
        assert_eq!(seconds(99, 6), "0.000099");
    }
}

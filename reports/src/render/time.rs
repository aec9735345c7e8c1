//! Times as the formats want them. A results document may say anything, so what is no time is nothing.

/// Milliseconds since 1970 of `2026-01-02T03:04:05Z`, as results write it.
pub(super) fn milliseconds(utc: &str) -> Option<u64> {
    let (date, time) = utc.strip_suffix('Z')?.split_once('T')?;
    let [year, month, day] = numbers::<3>(date, '-', [4, 2, 2])?;
    let [hour, minute, second] = numbers::<3>(time, ':', [2, 2, 2])?;
    let in_range = (1970..=9999).contains(&year) && hour < 24 && minute < 60 && second < 60;
    let length = match month {
        2 if leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !in_range || !(1..=length).contains(&day) {
        return None;
    }
    // Years counted from March, so that the odd day is the last one.
    let (years, months) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = years * 365 + years / 4 - years / 100 + years / 400 + (months * 153 + 2) / 5 + day - 1 - 719_468;
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000)
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

fn leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

/// Numbers of exactly these many digits.
fn numbers<const N: usize>(text: &str, separator: char, digits: [usize; N]) -> Option<[u64; N]> {
    let parts: Vec<&str> = text.split(separator).collect();
    let mut found = [0; N];
    if parts.len() != N {
        return None;
    }
    for (index, part) in parts.iter().enumerate() {
        if part.len() != digits[index] || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        found[index] = part.parse().ok()?;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (utc, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-28T23:59:59Z", 951_782_399),
            ("2000-02-29T00:00:00Z", 951_782_400),
            ("2100-03-01T00:00:00Z", 4_107_542_400),
            ("2026-01-02T03:04:05Z", 1_767_323_045),
        ] {
            assert_eq!(milliseconds(utc), Some(seconds * 1_000), "{utc}");
            assert_eq!(day(utc), utc.get(..10));
        }
    }

    #[test]
    fn what_is_no_time_is_nothing() {
        for text in [
            "",
            "2026-01-02",
            "2026-01-02T03:04:05",
            "2026-02-29T00:00:00Z",
            "2100-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-01-02T24:00:00Z",
            "+026-01-02T03:04:05Z",
            "1969-12-31T23:59:59Z",
            "</script>",
        ] {
            assert_eq!((milliseconds(text), day(text)), (None, None), "{text}");
        }
    }

    #[test]
    fn seconds_have_the_decimals_that_are_asked_for() {
        assert_eq!(seconds(1_420_999, 3), "1.420");
        assert_eq!(seconds(99, 6), "0.000099");
    }
}

//! Times as documents write them: RFC 3339, UTC, to the second.

use std::time::{Duration, SystemTime};

/// `2026-11-30T16:31:42Z`.
pub fn rfc3339(time: SystemTime) -> String {
    let seconds = time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days to a date of the Gregorian calendar, counted from 1 March of year 0.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

/// Reads exactly what [`rfc3339`] writes.
pub fn parse(text: &str) -> Option<SystemTime> {
    let bytes: &[u8; 20] = text.as_bytes().try_into().ok()?;
    let shape = bytes.iter().enumerate().all(|(at, byte)| match at {
        4 | 7 => *byte == b'-',
        10 => *byte == b'T',
        13 | 16 => *byte == b':',
        19 => *byte == b'Z',
        _ => byte.is_ascii_digit(),
    });
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<u64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    if !shape || !(1..=12).contains(&month) || year < 1970 {
        return None;
    }
    let shifted = (month + 9) % 12;
    let years = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * shifted + 2) / 5 + day.checked_sub(1)?;
    let days = years * 365 + years / 4 - years / 100 + years / 400 + day_of_year;
    let seconds = (days.checked_sub(719_468)?) * 86_400 + hour * 3600 + minute * 60 + second;
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    // Days and times that no calendar has come back as others.
    (rfc3339(time) == text).then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn times_are_those_of_the_calendar() {
        assert_eq!(rfc3339(at(0)), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339(at(951_782_399)), "2000-02-28T23:59:59Z");
        assert_eq!(rfc3339(at(951_782_400)), "2000-02-29T00:00:00Z");
        assert_eq!(rfc3339(at(4_107_542_400)), "2100-03-01T00:00:00Z");
    }

    #[test]
    fn times_come_back_and_others_are_refused() {
        for seconds in (0..4_200_000_000).step_by(12_345_678) {
            assert_eq!(parse(&rfc3339(at(seconds))), Some(at(seconds)));
        }
        for wrong in [
            "",
            "2026-11-30",
            "2026-11-30 16:31:42Z",
            "2026-11-30T16:31:42+00:00",
            "2026-02-30T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z",
            "2026-01-00T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:60:00Z",
            "2026-01-01T00:00:60Z",
            "1969-12-31T23:59:59Z",
            "+026-01-01T00:00:00Z",
            "2026-01-01T00:00:0éZ",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}

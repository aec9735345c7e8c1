//! What a target is known to fail, and until when somebody must have looked at it again.

use serde::Deserialize;

/// A failure that is known to the public: reported, or told by the target's own documentation.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownFailure {
    /// URL of the public report, or of the documentation.
    pub report: String,
    /// The last day of its being known, `2027-01-31`: somebody must look at it again then.
    pub expires: String,
    /// It is a race of the target's own, which a run may win.
    #[serde(default)]
    pub race: bool,
    /// Only where the harness is the machine's root.
    #[serde(default)]
    pub by_root: bool,
}

impl KnownFailure {
    /// Days since 1970.
    pub fn today() -> i64 {
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs());
        (now / 86_400) as i64
    }

    /// Whether its last day lies before `today`, in days since 1970.
    pub fn expired(&self, today: i64) -> bool {
        days(&self.expires).is_none_or(|last| last < today)
    }

    pub(super) fn check(&self) -> Result<(), &'static str> {
        if !self.report.starts_with("https://") {
            return Err("its report is no https URL of a public report");
        }
        days(&self.expires).map(|_| ()).ok_or("its expiry is no date such as 2027-01-31")
    }
}

/// Days from 1970 to a date of the form `2027-01-31`.
fn days(date: &str) -> Option<i64> {
    let numbers: Vec<&str> = date.split('-').collect();
    let [year, month, day] = <[&str; 3]>::try_from(numbers).ok()?;
    if (year.len(), month.len(), day.len()) != (4, 2, 2) {
        return None;
    }
    let (year, month, day): (i64, i64, i64) = (year.parse().ok()?, month.parse().ok()?, day.parse().ok()?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let longest = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i64::from(leap),
        _ => return None,
    };
    if !(1..=longest).contains(&day) || year < 1970 {
        return None;
    }
    // Years that begin in March have their leap day last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let before = year * 365 + year / 4 - year / 100 + year / 400;
    Some(before + (153 * month + 2) / 5 + day - 1 - 719_468)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::{Target, TargetError};

    #[test]
    fn dates_are_days_since_1970_and_nonsense_is_none() {
        for (date, since) in [("1970-01-01", 0), ("2000-02-29", 11_016), ("2027-01-31", 20_849), ("2100-03-01", 47_541)]
        {
            assert_eq!(days(date), Some(since), "{date}");
        }
        for nonsense in ["", "2027-1-31", "2027-02-29", "2027-13-01", "2027-00-10", "31.01.2027", "2027-01-31Z"] {
            assert_eq!(days(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn a_known_failure_lasts_to_the_end_of_its_day_and_names_a_report() {
        let known = |report: &str, expires: &str| {
            let text = format!(
                "name = 'x'\nsummary = 's'\nroute = 'none'\nversion = []\n[launch]\nargv = ['{{probe}}']\n\
                 [known_failures.EGRESS-14]\nreport = '{report}'\nexpires = '{expires}'\n"
            );
            Target::parse("x", &text).map(|target| target.known_failures["EGRESS-14"].clone())
        };
        let known_until = known("https://example.org/issues/1", "2027-01-31").expect("valid");
        assert!(!known_until.expired(20_849));
        assert!(known_until.expired(20_850));
        for (report, expires) in [("", "2027-01-31"), ("see there", "2027-01-31"), ("https://example.org/1", "soon")] {
            assert!(matches!(known(report, expires), Err(TargetError::KnownFailure { .. })), "{report} {expires}");
        }
    }
}

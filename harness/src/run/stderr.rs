//! What a launch says on its standard error: its last words, and lines of our own programs among them.

use watertight_probe::wire;
use watertight_reports::evidence::Launch;

use super::channel::complain;
use crate::adapter::{INSPECTED, Mark, Marks};

/// Which defence a broken reference says it left out: a key of [`Launch::outside`].
pub const APPLIED: &str = "applied";
/// What stands before the defence's slug in the line that says so: `APPLIED` of the broken references' program.
const APPLIED_LINE: &str = "watertight-mutants: applied ";
/// Bytes that are kept.
const KEPT: usize = 2_000;

/// Bytes on their way to words.
#[derive(Debug, Default)]
pub struct Errors {
    marks: Marks,
}

impl Errors {
    /// Records these bytes.
    pub fn take(&mut self, bytes: &[u8], record: &mut Launch) {
        for mark in self.marks.take(bytes) {
            match mark {
                Mark::Trouble(words) => complain(record, words),
                Mark::Inspected(words) => drop(record.outside.insert(INSPECTED.into(), words)),
            }
        }
        let mut text = std::mem::take(&mut record.stderr);
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let ended = line.ends_with(b"\n");
            text.push_str(&wire::escape(line.strip_suffix(b"\n").unwrap_or(line), KEPT));
            if ended {
                text.push(' ');
            }
        }
        if !record.outside.contains_key(APPLIED)
            && let Some(slug) = text.split(APPLIED_LINE).nth(1)
            && let Some((slug, _)) = slug.split_once(' ')
        {
            record.outside.insert(APPLIED.into(), slug.to_owned());
        }
        // The last words matter most; everything here is ASCII.
        let start = text.len().saturating_sub(KEPT);
        record.stderr = text.split_off(start);
    }
}

#[cfg(test)]
mod tests {
    use watertight_reports::evidence::LaunchKind;

    use super::*;

    #[test]
    fn an_adapter_s_trouble_is_an_error_of_the_launch_and_a_defence_left_out_is_noted() {
        let mut record = Launch::not_made("target", LaunchKind::Target);
        let mut errors = Errors::default();
        errors.take(b"some words\nwatertight-adapted: trou", &mut record);
        errors.take(b"ble: it hangs\nwatertight-mutants: applied leave-a-link\n", &mut record);
        errors.take(b"watertight-adapted: inspected: {\"pids\":[3]}\n", &mut record);
        assert_eq!(record.errors, ["it hangs"]);
        assert_eq!(record.outside[APPLIED], "leave-a-link");
        assert_eq!(record.outside[INSPECTED], "{\"pids\":[3]}");
        assert!(record.stderr.starts_with("some words watertight-adapted"), "{}", record.stderr);
    }
}

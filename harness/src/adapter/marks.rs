//! What `watertight adapted` tells the harness: lines of its standard error, found among whatever the sandbox writes there.
//!
//! A workload can forge them. A forged trouble makes the launch worthless, and nothing else believes what was inspected.

use watertight_probe::wire;

/// Bytes of one line that are looked at.
const LONGEST: usize = 2_000;
const TROUBLE_LINE: &str = "watertight-adapted: trouble: ";
const INSPECTED_LINE: &str = "watertight-adapted: inspected: ";
/// Where the harness keeps what `inspect` brought: a key of a launch's `outside`.
pub const INSPECTED: &str = "inspected";

/// Finds the lines.
#[derive(Debug, Default)]
pub struct Marks {
    line: Vec<u8>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The adapter is broken.
    Trouble(String),
    /// What can be seen of the sandbox.
    Inspected(String),
}

impl Mark {
    /// The line that says it.
    pub fn line(&self) -> String {
        match self {
            Self::Trouble(words) => format!("{TROUBLE_LINE}{words}\n"),
            Self::Inspected(words) => format!("{INSPECTED_LINE}{words}\n"),
        }
    }
}

impl Marks {
    /// The marks of the lines that end in these bytes.
    pub fn take(&mut self, bytes: &[u8]) -> Vec<Mark> {
        let mut found = vec![];
        for byte in bytes {
            if *byte == b'\n' {
                found.extend(mark(&std::mem::take(&mut self.line)));
            } else if self.line.len() < LONGEST {
                self.line.push(*byte);
            }
        }
        found
    }
}

/// What another program wrote without an end of line may stand before it.
fn mark(line: &[u8]) -> Option<Mark> {
    let text = wire::escape(line, LONGEST);
    // Escaped twice it would say something else.
    let after = |start: &str| text.split_once(start).map(|(_, rest)| rest.replace("\\x5c", "\\"));
    after(TROUBLE_LINE).map(Mark::Trouble).or_else(|| after(INSPECTED_LINE).map(Mark::Inspected))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_found_behind_other_words_and_over_several_reads() {
        let mark = Mark::Trouble("the adapter wrote \\x1b[2J".into());
        let said = format!("no end of line{}", mark.line());
        let (first, second) = said.as_bytes().split_at(30);
        let mut marks = Marks::default();
        assert_eq!(marks.take(first), []);
        assert_eq!(marks.take(second), [mark]);
        assert_eq!(marks.take(b"watertight-adapted: something\n\xff\n"), []);
        assert_eq!(marks.take(Mark::Inspected("net 1".into()).line().as_bytes()), [Mark::Inspected("net 1".into())]);
    }

    #[test]
    fn hostile_bytes_stay_harmless_and_a_line_without_end_takes_no_memory() {
        let mut marks = Marks::default();
        let found = marks.take(b"watertight-adapted: trouble: \x1b[2J\xe2\x80\xae\n");
        assert_eq!(found, [Mark::Trouble("\\x1b[2J\\xe2\\x80\\xae".into())]);
        marks.take(&[b'x'; 1 << 20]);
        assert_eq!(marks.line.len(), LONGEST);
    }
}

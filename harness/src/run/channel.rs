//! What a launch says on its standard output: the probe's lines among whatever else a target prints, or forges.

use watertight_probe::wire::{self, Line};
use watertight_reports::evidence::Launch;

/// Errors of one launch that are kept: the first one makes its silence meaningless already.
pub const ERRORS: usize = 20;
/// Bytes of one line that are kept: none of the probe's is longer.
const LONGEST: usize = 2 * wire::MAX_LINE;

/// Bytes on their way to lines.
#[derive(Debug, Default)]
pub struct Channel {
    line: Vec<u8>,
    next_seq: u64,
}

impl Channel {
    /// Records the lines that end in these bytes.
    pub fn take(&mut self, bytes: &[u8], record: &mut Launch) {
        for byte in bytes {
            if *byte == b'\n' {
                self.end_line(record);
            } else if self.line.len() < LONGEST {
                self.line.push(*byte);
            }
        }
    }

    /// The output has ended, and with it the last line.
    pub fn end_line(&mut self, record: &mut Launch) {
        let line = std::mem::take(&mut self.line);
        if let Err(problem) = self.take_line(&line, record) {
            complain(record, problem);
        }
    }

    fn take_line(&mut self, line: &[u8], record: &mut Launch) -> Result<(), String> {
        let received = match wire::decode(line) {
            None => return Ok(()),
            Some(received) => received.map_err(|error| shown(&error.to_string()))?,
        };
        if received.launch != record.id {
            return Err(format!("a line of another launch: {}", shown(&received.launch)));
        }
        let (want, got) = (self.next_seq, received.seq);
        // A target may claim any number.
        self.next_seq = got.saturating_add(1);
        if got != want {
            complain(record, format!("line {want} is missing: the next one is {got}"));
        }
        heard(record, received.line)
    }
}

/// Records what a line says; an error where a probe would not say it.
fn heard(record: &mut Launch, line: Line) -> Result<(), String> {
    if record.done {
        return Err("a line after the last one".into());
    }
    match line {
        Line::Hello(hello) => match record.hello {
            None => record.hello = Some(hello),
            Some(_) => return Err("a second hello".into()),
        },
        Line::Began { attempt } => match record.attempts.get_mut(&attempt) {
            Some(record) => record.began = true,
            None => return Err(format!("a receipt for {}, which was not asked for", shown(&attempt))),
        },
        Line::Observed(observation) => match record.attempts.get_mut(&observation.attempt) {
            Some(record) if record.observation.is_none() => record.observation = Some(observation),
            Some(_) => return Err(format!("a second report of {}", shown(&observation.attempt))),
            None => return Err(format!("a report of {}, not asked for", shown(&observation.attempt))),
        },
        Line::Done { .. } => record.done = true,
        Line::Stopped { reason } => return Err(format!("the probe stopped: {}", shown(&reason))),
    }
    Ok(())
}

/// Records an error of the launch, and no more of them than anybody reads.
pub fn complain(record: &mut Launch, error: String) {
    if record.errors.len() < ERRORS {
        record.errors.push(error);
    }
}

/// Words of a target's own, short and harmless.
pub fn shown(text: &str) -> String {
    wire::escape(text.as_bytes(), 300)
}

#[cfg(test)]
mod tests {
    use watertight_probe::observation::Hello;
    use watertight_reports::evidence::LaunchKind;

    use super::*;

    /// The record of a launch whose output was this.
    fn record(output: &[u8]) -> Launch {
        let mut record = Launch::not_made("target", LaunchKind::Target);
        let mut channel = Channel::default();
        channel.take(output, &mut record);
        channel.end_line(&mut record);
        record
    }

    fn said(seq: u64, line: &Line) -> Vec<u8> {
        wire::encode("target", seq, line).expect("a short line").into_bytes()
    }

    fn hello() -> Line {
        Line::Hello(Hello { pid: 2, forked: 0, executed: None, uid: 1777, gid: 1777, netns: None, ..Hello::default() })
    }

    #[test]
    fn the_probe_s_lines_are_found_among_others() {
        let output = [b"\xff prompt> ".to_vec(), said(0, &hello()), said(1, &Line::Done { attempts: 0 })].concat();
        let record = record(&output);
        assert!(record.hello.is_some() && record.done);
        assert_eq!(record.errors, [""; 0]);
    }

    #[test]
    fn a_line_that_a_probe_would_not_say_is_an_error() {
        let done = Line::Done { attempts: 0 };
        let report = Line::Began { attempt: "no/such".into() };
        for (output, error) in [
            ([said(0, &hello()), said(1, &hello())].concat(), "a second hello"),
            ([said(0, &done), said(1, &hello())].concat(), "a line after the last one"),
            (said(0, &report), "a receipt for no/such, which was not asked for"),
            (said(u64::MAX, &hello()), "line 0 is missing: the next one is 18446744073709551615"),
            (
                [said(u64::MAX, &hello()), said(0, &done)].concat(),
                "line 0 is missing: the next one is 18446744073709551615",
            ),
            (b"@wt other 0 2 {}\n".to_vec(), "the line's JSON is not one that the probe writes"),
        ] {
            let errors = record(&output).errors;
            assert!(errors.first().is_some_and(|first| first.starts_with(error)), "{error}: {errors:?}");
        }
    }

    #[test]
    fn nonsense_without_end_takes_no_memory_and_no_control_character_gets_into_the_record() {
        let forged = b"@wt \x1b[2J::error:: 5 2 {}\n@wt target x\n@wt target 0 20 {\"line\":\"\x1b]0;\xe2\x80\xae\"}\n"
            .repeat(10_000);
        let record = record(&forged);
        assert_eq!(record.errors.len(), ERRORS);
        assert!(
            record
                .errors
                .iter()
                .all(|error| error.len() < 1_500 && error.bytes().all(|byte| (b' '..=b'~').contains(&byte)))
        );
        let mut channel = Channel::default();
        channel.take(&[b'x'; 1 << 20], &mut Launch::not_made("target", LaunchKind::Target));
        assert_eq!(channel.line.len(), LONGEST);
    }
}

//! One direction of a bridged connection: bytes read from one end and not yet written to the other.

use std::io::{self, ErrorKind, Read, Write};

/// What one turn of a direction came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Bytes may still come.
    Open,
    /// The source has ended and everything it sent has been written.
    Finished,
}

/// Which end of a direction failed.
#[derive(Debug)]
pub(crate) enum Broken {
    Source,
    Sink,
}

/// Carries bytes one way. What the sink does not take at once is kept, and no more is read until it is gone.
#[derive(Debug, Default)]
pub(crate) struct Direction {
    pending: Vec<u8>,
    written: usize,
    source_ended: bool,
    finished: bool,
}

impl Direction {
    pub(crate) fn wants_to_read(&self) -> bool {
        !self.source_ended && self.is_empty()
    }

    pub(crate) fn wants_to_write(&self) -> bool {
        !self.is_empty()
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.finished
    }

    pub(crate) fn source_has_ended(&self) -> bool {
        self.source_ended
    }

    /// Ends the direction, whatever is left of it.
    pub(crate) fn abandon(&mut self) {
        *self = Self { source_ended: true, finished: true, ..Self::default() };
    }

    /// Writes what is pending, then reads once and writes that. `scratch` is shared by all connections.
    pub(crate) fn turn(
        &mut self,
        source: &mut impl Read,
        sink: &mut impl Write,
        scratch: &mut [u8],
    ) -> Result<Turn, Broken> {
        if !self.is_empty() {
            self.written += write_some(sink, &self.pending[self.written..])?;
            if self.is_empty() {
                // The memory goes back: hundreds of idle connections hold no buffers.
                self.pending = Vec::new();
                self.written = 0;
            }
        }
        if self.wants_to_read() {
            match source.read(scratch) {
                Ok(0) => self.source_ended = true,
                Ok(length) => {
                    let written = write_some(sink, &scratch[..length])?;
                    self.pending.extend_from_slice(&scratch[written..length]);
                }
                Err(error) if is_transient(&error) => {}
                Err(_) => return Err(Broken::Source),
            }
        }
        self.finished |= self.source_ended && self.is_empty();
        Ok(if self.finished { Turn::Finished } else { Turn::Open })
    }

    fn is_empty(&self) -> bool {
        self.written == self.pending.len()
    }
}

fn write_some(sink: &mut impl Write, bytes: &[u8]) -> Result<usize, Broken> {
    match sink.write(bytes) {
        Err(error) if is_transient(&error) => Ok(0),
        result => result.map_err(|_| Broken::Sink),
    }
}

fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes at most `room` bytes, then would block.
    struct Narrow {
        taken: Vec<u8>,
        room: usize,
    }

    impl Write for Narrow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let length = bytes.len().min(self.room);
            if length == 0 {
                return Err(ErrorKind::WouldBlock.into());
            }
            self.room -= length;
            self.taken.extend_from_slice(&bytes[..length]);
            Ok(length)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_the_sink_does_not_take_is_written_later_and_in_order() {
        let mut direction = Direction::default();
        let mut source: &[u8] = b"abcdefgh";
        let mut sink = Narrow { taken: Vec::new(), room: 3 };
        let mut scratch = [0; 64];
        assert_eq!(direction.turn(&mut source, &mut sink, &mut scratch).expect("turns"), Turn::Open);
        assert!(direction.wants_to_write() && !direction.wants_to_read());
        sink.room = 64;
        assert_eq!(direction.turn(&mut source, &mut sink, &mut scratch).expect("turns"), Turn::Finished);
        assert_eq!(sink.taken, b"abcdefgh");
    }

    #[test]
    fn a_direction_ends_only_when_everything_is_written() {
        let mut direction = Direction::default();
        let mut source: &[u8] = b"ab";
        let mut sink = Narrow { taken: Vec::new(), room: 1 };
        let mut scratch = [0; 64];
        direction.turn(&mut source, &mut sink, &mut scratch).expect("turns");
        direction.turn(&mut source, &mut sink, &mut scratch).expect("turns");
        assert!(!direction.is_finished());
        sink.room = 1;
        direction.turn(&mut source, &mut sink, &mut scratch).expect("turns");
        assert!(direction.is_finished());
    }
}

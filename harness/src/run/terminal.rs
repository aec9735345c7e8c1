//! The terminal of a launch: what reaches it is read at the other end, which the harness holds.

use std::{
    fs::File,
    io::{self, Read, Write},
    os::fd::{AsFd, OwnedFd},
    time::{Duration, Instant},
};

use nix::{
    fcntl::{FcntlArg, OFlag, fcntl},
    poll::{PollFd, PollFlags, PollTimeout, poll},
};
use watertight_fixtures::{ledger::Ledger, world::World};
use watertight_probe::{nonce::Nonce, plan::Attempt, sighting::Event, wire};
use watertight_reports::evidence::AttemptRecord;

/// What its sightings are called.
pub const TERMINAL: &str = "terminal";

/// How long the harness's own last word may take through the kernel.
const PATIENCE: Duration = Duration::from_secs(2);
/// Bytes that are read at most: a workload may write without end.
const MOST: usize = 64 * 1024;
/// Bytes of them that are shown.
const SHOWN: usize = 1024;

/// A terminal whose other end is a launch's controlling terminal.
pub struct Terminal {
    master: File,
    slave: File,
}

impl Terminal {
    /// A new one, and what becomes the controlling terminal.
    pub fn open(world: &World) -> io::Result<(Self, OwnedFd)> {
        let (master, slave) = world.terminal()?;
        let given = slave.try_clone()?;
        for fd in [&master, &slave] {
            fcntl(fd, FcntlArg::F_SETFL(OFlag::O_RDWR | OFlag::O_NONBLOCK))?;
        }
        Ok((Self { master: master.into(), slave: slave.into() }, given))
    }

    /// Whether one of these attempts is about a terminal.
    pub fn is_wanted<'a>(mut attempts: impl Iterator<Item = &'a AttemptRecord>) -> bool {
        attempts.any(|record| matches!(record.attempt, Attempt::Terminal { .. }))
    }

    /// Records what has come out of it, up to a word of the harness's own that nobody else knows: what was written or typed
    /// before comes out before it.
    pub fn note(&mut self, ledger: &Ledger, last: Nonce) {
        let last = format!("end:{last}");
        // Where the session has ended, the terminal is gone, and holds what it held.
        let _ = self.slave.write_all(last.as_bytes());
        let heard = self.hear(last.as_bytes());
        let nonces = Nonce::find_all(&heard);
        if !heard.is_empty() {
            let head = wire::escape(&heard, SHOWN);
            let event = Event::Received { connection: None, len: heard.len() as u64, head };
            ledger.record(TERMINAL, nonces, None, "the launch", event);
        }
    }

    fn hear(&mut self, last: &[u8]) -> Vec<u8> {
        let deadline = Instant::now() + PATIENCE;
        let (mut heard, mut buffer) = (vec![], [0; 4096]);
        while heard.len() < MOST {
            match self.master.read(&mut buffer) {
                Ok(0) => break,
                Ok(len) => heard.extend(&buffer[..len]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && self.more_by(deadline) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
            if let Some(at) = heard.windows(last.len()).position(|window| window == last) {
                heard.truncate(at);
                break;
            }
        }
        heard
    }

    /// Whether there is something to read by then.
    fn more_by(&self, deadline: Instant) -> bool {
        let left = deadline.saturating_duration_since(Instant::now());
        let millis = PollTimeout::try_from(left).unwrap_or(PollTimeout::ZERO);
        let mut polled = [PollFd::new(self.master.as_fd(), PollFlags::POLLIN)];
        poll(&mut polled, millis).is_ok_and(|ready| ready > 0)
            && polled[0].revents().is_some_and(|what| what.contains(PollFlags::POLLIN))
    }
}

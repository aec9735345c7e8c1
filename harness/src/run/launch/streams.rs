//! What a launch says, read as it comes.

use std::{io::Read, os::fd::AsFd, time::Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use watertight_reports::evidence::Launch;

use super::Running;

/// What ends the reading, beside a deadline.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// Standard output and standard error are closed.
    Closed,
    /// So they are, or the launched process has ended.
    Ended,
}

impl Running {
    pub(super) fn read_until(&mut self, deadline: Instant, mut enough: impl FnMut(&Launch) -> bool) {
        while !enough(&self.record) && self.stdout.is_some() {
            if !self.read_some(deadline, Until::Closed) {
                self.overdue = true;
                return;
            }
        }
    }

    /// Waits for something to read, and reads some of it. False where nothing more is to be waited for.
    pub(super) fn read_some(&mut self, deadline: Instant, until: Until) -> bool {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || (self.stdout.is_none() && self.stderr.is_none()) {
            return false;
        }
        let open = [&self.stdout, &self.stderr].into_iter().flatten();
        let mut polled: Vec<_> = open.map(|file| PollFd::new(file.as_fd(), PollFlags::POLLIN)).collect();
        if until == Until::Ended {
            polled.push(PollFd::new(self.child.pidfd(), PollFlags::POLLIN));
        }
        let millis = i32::try_from(left.as_millis() + 1).unwrap_or(i32::MAX);
        if poll(&mut polled, PollTimeout::try_from(millis).unwrap_or(PollTimeout::MAX)).is_err() {
            return true;
        }
        let mut ready = polled.iter().map(|one| one.any().unwrap_or(true)).collect::<Vec<_>>().into_iter();
        drop(polled);
        let stdout = self.stdout.is_some() && ready.next() == Some(true);
        let stderr = self.stderr.is_some() && ready.next() == Some(true);
        if stdout {
            self.read_stdout();
        }
        if stderr {
            self.read_stderr();
        }
        ready.next() != Some(true)
    }

    fn read_stdout(&mut self) {
        let mut buffer = [0; 16 * 1024];
        let Some(stdout) = &mut self.stdout else { return };
        match stdout.read(&mut buffer) {
            Ok(0) | Err(_) => {
                self.stdout = None;
                self.channel.end_line(&mut self.record);
            }
            Ok(len) => self.channel.take(&buffer[..len], &mut self.record),
        }
    }

    fn read_stderr(&mut self) {
        let mut buffer = [0; 4 * 1024];
        let Some(stderr) = &mut self.stderr else { return };
        match stderr.read(&mut buffer) {
            Ok(0) | Err(_) => self.stderr = None,
            Ok(len) => self.errors.take(&buffer[..len], &mut self.record),
        }
    }
}

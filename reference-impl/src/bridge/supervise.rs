//! Serves a bridge while a command runs: reaps, forwards signals, and ends with the command or with the owner.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Instant;

use libc::{POLLHUP, POLLIN, pollfd};
use nix::sys::signal::{SigSet, Signal, kill, killpg};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::Bridge;
use crate::guards::Guards;
use crate::sys::process::poll;

/// The signals that a supervisor passes on to its command.
pub(crate) const FORWARDED: [Signal; 7] = [
    Signal::SIGTERM,
    Signal::SIGINT,
    Signal::SIGHUP,
    Signal::SIGQUIT,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
    Signal::SIGWINCH,
];
/// Those that a terminal sends to all processes in its foreground.
const OF_TERMINAL: [Signal; 4] = [Signal::SIGINT, Signal::SIGHUP, Signal::SIGQUIT, Signal::SIGWINCH];

/// Why supervision ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The command ended, with this status as a shell reports it.
    Command(i32),
    /// The owner's end of the lifeline was closed.
    Owner,
}

/// Blocks the signals that a supervisor reads from a descriptor. To be called before the command is forked.
pub(crate) fn block_signals() -> nix::Result<SignalFd> {
    let mut signals = SigSet::from_iter(FORWARDED);
    signals.add(Signal::SIGCHLD);
    signals.thread_block()?;
    SignalFd::with_flags(&signals, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)
}

/// The one loop of init and of the stand-alone bridge.
pub(crate) struct Supervisor<G> {
    pub command: Pid,
    /// The command leads a session of its own, which no terminal sends signals to.
    pub leads_session: bool,
    pub signals: SignalFd,
    /// A pipe whose other end closes when the owner ends, however it ends.
    pub lifeline: Option<OwnedFd>,
    pub bridge: Bridge<G>,
}

impl<G: Guards> Supervisor<G> {
    pub(crate) fn run(mut self) -> io::Result<End> {
        let mut entries = Vec::new();
        loop {
            entries.clear();
            entries.push(pollfd { fd: self.signals.as_fd().as_raw_fd(), events: POLLIN, revents: 0 });
            let lifeline = self.lifeline.as_ref().map_or(-1, AsRawFd::as_raw_fd);
            entries.push(pollfd { fd: lifeline, events: POLLIN, revents: 0 });
            self.bridge.entries(&mut entries);
            poll(&mut entries, self.bridge.timeout_ms(Instant::now()))?;
            if entries[1].revents & POLLHUP != 0 {
                return Ok(End::Owner);
            }
            if entries[0].revents & POLLIN != 0
                && let Some(status) = self.take_signals()?
            {
                return Ok(End::Command(status));
            }
            self.bridge.turn(&entries[2..], Instant::now());
        }
    }

    fn take_signals(&mut self) -> io::Result<Option<i32>> {
        while let Some(info) = self.signals.read_signal()? {
            let signal = Signal::try_from(info.ssi_signo as i32)?;
            if signal == Signal::SIGCHLD {
                if let Some(status) = self.reap()? {
                    return Ok(Some(status));
                }
            } else if G::forwards_signal(signal as i32) {
                let group = self.leads_session && OF_TERMINAL.contains(&signal);
                // The command may have ended a moment ago; that is reported by SIGCHLD.
                if group { killpg(self.command, signal) } else { kill(self.command, signal) }.ok();
            }
        }
        Ok(None)
    }

    /// Collects every child that has ended, the command and the orphans that fell to this process.
    fn reap(&self) -> io::Result<Option<i32>> {
        let whom = if G::init_reaps_orphans() { Pid::from_raw(-1) } else { self.command };
        loop {
            match waitpid(whom, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::Exited(pid, status)) if pid == self.command => return Ok(Some(status)),
                Ok(WaitStatus::Signaled(pid, signal, _)) if pid == self.command => {
                    return Ok(Some(128 + signal as i32));
                }
                Ok(WaitStatus::StillAlive) | Err(nix::Error::ECHILD) => return Ok(None),
                Ok(_) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

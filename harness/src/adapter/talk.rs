//! The conversation: requests to the adapter, answers by their id, each with its deadline. An adapter may do anything.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, ErrorKind, Read, Write},
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::process::CommandExt,
    },
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use nix::{
    fcntl::{FcntlArg, OFlag, fcntl},
    poll::{PollFd, PollFlags, PollTimeout, poll},
};
use serde::de::DeserializeOwned;

use super::{
    protocol::{Answer, LONGEST, Reply, Request, Verb},
    trouble::{Trouble, shown},
};
use crate::sys;

/// A running adapter.
pub struct Talk {
    child: Child,
    ended: OwnedFd,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    /// Readable when this program is asked to end, by the signal's number.
    asked: OwnedFd,
    buffer: Vec<u8>,
    last_id: u64,
    open: BTreeSet<u64>,
    replies: BTreeMap<u64, Reply>,
}

/// A request that was sent.
#[derive(Clone, Copy, Debug)]
pub struct Open {
    id: u64,
    verb: &'static str,
    within: Duration,
    deadline: Instant,
}

/// Whether a request to end interrupts the waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heed {
    Signals,
    Nothing,
}

impl Talk {
    /// Starts the adapter, in a process group of its own: what a terminal sends to this one it learns by `down`.
    pub fn start(words: &[String], asked: OwnedFd) -> Result<Self, Trouble> {
        let (program, arguments) = words.split_first().ok_or(io::Error::from(ErrorKind::InvalidInput))?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
        let mut child = command.spawn().map_err(|source| Trouble::Start { program: shown(program), source })?;
        let ended = sys::pidfd(child.id())?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        for end in stdin.iter().map(AsFd::as_fd).chain(stdout.iter().map(AsFd::as_fd)) {
            fcntl(end, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).map_err(io::Error::from)?;
        }
        let (open, replies) = (BTreeSet::new(), BTreeMap::new());
        Ok(Self { child, ended, stdin, stdout, asked, buffer: vec![], last_id: 0, open, replies })
    }

    /// Asks, and waits for the answer.
    pub fn ask<T: DeserializeOwned>(&mut self, verb: Verb<'_>, within: Duration, heed: Heed) -> Result<T, Trouble> {
        let open = self.send(verb, within)?;
        self.answer(open, heed)
    }

    /// Asks; the answer is waited for later.
    pub fn send(&mut self, verb: Verb<'_>, within: Duration) -> Result<Open, Trouble> {
        self.last_id += 1;
        let open = Open { id: self.last_id, verb: verb.name(), within, deadline: Instant::now() + within };
        let mut line = serde_json::to_vec(&Request { id: open.id, verb }).map_err(io::Error::from)?;
        line.push(b'\n');
        self.open.insert(open.id);
        self.write(&line, open)?;
        Ok(open)
    }

    /// The answer to this request.
    pub fn answer<T: DeserializeOwned>(&mut self, open: Open, heed: Heed) -> Result<T, Trouble> {
        loop {
            match self.replies.remove(&open.id) {
                Some(Ok(value)) => {
                    return serde_json::from_value(value)
                        .map_err(|error| Trouble::Answer { verb: open.verb, why: shown(error.to_string()) });
                }
                Some(Err(words)) => return Err(Trouble::Refused { verb: open.verb, words: shown(words) }),
                None => {}
            }
            let Some(stdout) = &self.stdout else { return Err(Trouble::Ended { verb: open.verb }) };
            let waited = [(stdout.as_fd(), PollFlags::POLLIN), (self.asked.as_fd(), PollFlags::POLLIN)];
            let waited = if heed == Heed::Signals { &waited[..] } else { &waited[..1] };
            match ready(waited, open.deadline)?.as_deref() {
                None => return Err(Trouble::Late { verb: open.verb, within: open.within }),
                Some([_, true]) => return Err(Trouble::Asked(self.signal()?)),
                Some(_) => self.read()?,
            }
        }
    }

    /// Ends the adapter by the end of its input, or by force.
    pub fn end(mut self, within: Duration) -> Result<(), Trouble> {
        self.stdin = None;
        let deadline = Instant::now() + within;
        let ended = loop {
            let mut waited = vec![(self.ended.as_fd(), PollFlags::POLLIN)];
            waited.extend(self.stdout.as_ref().map(|stdout| (stdout.as_fd(), PollFlags::POLLIN)));
            match ready(&waited, deadline)?.as_deref() {
                None => break false,
                Some([true, ..]) => break true,
                // What it still says says nothing more; but one that waits for room in the pipe does not end.
                Some(_) => self.discard(),
            }
        };
        if !ended {
            self.child.kill()?;
        }
        self.child.wait()?;
        if ended { Ok(()) } else { Err(Trouble::Stays { within }) }
    }

    fn write(&mut self, mut bytes: &[u8], open: Open) -> Result<(), Trouble> {
        let Some(stdin) = &mut self.stdin else { return Err(Trouble::Ended { verb: open.verb }) };
        while !bytes.is_empty() {
            match stdin.write(bytes) {
                Ok(written) => bytes = &bytes[written..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if ready(&[(stdin.as_fd(), PollFlags::POLLOUT)], open.deadline)?.is_none() {
                        return Err(Trouble::Late { verb: open.verb, within: open.within });
                    }
                }
                Err(error) if error.kind() == ErrorKind::BrokenPipe => return Err(Trouble::Ended { verb: open.verb }),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Reads what there is, and takes the lines that end in it.
    fn read(&mut self) -> Result<(), Trouble> {
        let mut bytes = [0; 16 << 10];
        let Some(stdout) = &mut self.stdout else { return Ok(()) };
        match stdout.read(&mut bytes) {
            Ok(0) => self.stdout = None,
            Ok(length) => self.buffer.extend(&bytes[..length]),
            Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {}
            Err(error) => return Err(error.into()),
        }
        while let Some(at) = self.buffer.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.buffer.drain(..=at).collect();
            self.take(&line)?;
        }
        if self.buffer.len() >= LONGEST { Err(Trouble::Long) } else { Ok(()) }
    }

    fn take(&mut self, line: &[u8]) -> Result<(), Trouble> {
        if line.len() > LONGEST {
            return Err(Trouble::Long);
        }
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let answer = Answer::read(line).map_err(|why| Trouble::Nonsense { why: shown(why), line: shown(line) })?;
        if !self.open.remove(&answer.id) {
            return Err(Trouble::Unasked { id: answer.id });
        }
        self.replies.insert(answer.id, answer.reply());
        Ok(())
    }

    fn discard(&mut self) {
        let mut bytes = [0; 16 << 10];
        if let Some(stdout) = &mut self.stdout
            && matches!(stdout.read(&mut bytes), Ok(0))
        {
            self.stdout = None;
        }
    }

    fn signal(&self) -> io::Result<u8> {
        let mut byte = [0];
        nix::unistd::read(&self.asked, &mut byte)?;
        Ok(byte[0])
    }
}

/// Which of these is ready, by the deadline; nothing where none is.
fn ready(waited: &[(BorrowedFd<'_>, PollFlags)], deadline: Instant) -> io::Result<Option<Vec<bool>>> {
    let mut polled: Vec<_> = waited.iter().map(|(fd, flags)| PollFd::new(*fd, *flags)).collect();
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        // Rounded up, so that the last millisecond is not spun away.
        let millis = i32::try_from(left.as_micros().div_ceil(1000)).unwrap_or(i32::MAX);
        match poll(&mut polled, PollTimeout::try_from(millis).unwrap_or(PollTimeout::MAX)) {
            Ok(0) if Instant::now() >= deadline => return Ok(None),
            Ok(0) | Err(nix::errno::Errno::EINTR) => {}
            Ok(_) => return Ok(Some(polled.iter().map(|one| one.any().unwrap_or(true)).collect())),
            Err(errno) => return Err(errno.into()),
        }
    }
}

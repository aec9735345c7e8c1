//! The gate before hyper: an I/O wrapper that hands on one judged request at a time, and a stand-in for a refused one.

use std::collections::VecDeque;
use std::io;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use hyper::rt::{Read, ReadBufCursor, Write};
use tokio::net::UnixStream;

use crate::guards::RelayGuards;

use super::chunks::Chunks;
use super::head::{Fault, Framing, Head, Parsed, parse};
use super::limits::Limits;

/// What hyper reads in place of a refused head; the refusal itself waits in [`Verdicts`].
const STAND_IN: &[u8] = b"GET / HTTP/1.1\r\nhost: refused\r\n\r\n";

/// Bytes read from the socket at once.
const READ: usize = 16 << 10;

/// The gate's word on each request of a connection, in the order in which hyper sees them.
#[derive(Clone, Debug, Default)]
pub struct Verdicts(Arc<Mutex<VecDeque<Result<Head, Fault>>>>);

impl Verdicts {
    /// The verdict on the request that hyper has just read.
    pub fn next(&self) -> Option<Result<Head, Fault>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    fn push(&self, verdict: Result<Head, Fault>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(verdict);
    }
}

/// A client's connection, as hyper sees it.
pub struct Gate<G> {
    stream: Arc<UnixStream>,
    limits: Limits,
    verdicts: Verdicts,
    /// Read, and not yet handed on.
    bytes: Vec<u8>,
    /// How many of `bytes` are judged.
    judged: usize,
    /// How many of `bytes` were looked at without finding the end of a line.
    seen: usize,
    state: State,
    guards: PhantomData<fn() -> G>,
}

enum State {
    Head,
    Length(u64),
    Chunked(Chunks),
    /// After a refusal nothing more is handed on.
    Refused,
}

impl<G: RelayGuards> Gate<G> {
    pub fn new(stream: Arc<UnixStream>, limits: Limits) -> (Self, Verdicts) {
        let verdicts = Verdicts::default();
        let gate = Self {
            stream,
            limits,
            verdicts: verdicts.clone(),
            bytes: Vec::new(),
            judged: 0,
            seen: 0,
            state: State::Head,
            guards: PhantomData,
        };
        (gate, verdicts)
    }

    /// Judges what is there as far as it can be judged.
    fn judge(&mut self) -> io::Result<()> {
        while self.judged == 0 && !self.bytes.is_empty() {
            match &mut self.state {
                State::Head => {
                    if !self.judge_head() {
                        return Ok(());
                    }
                }
                State::Length(0) => self.state = State::Head,
                State::Length(left) => {
                    self.judged = (*left).min(self.bytes.len() as u64) as usize;
                    *left -= self.judged as u64;
                }
                State::Chunked(chunks) if chunks.is_done() => self.state = State::Head,
                State::Chunked(chunks) => match chunks.follow(&self.bytes) {
                    Ok(used) => self.judged = used,
                    Err(_) if G::refuses_malformed_chunks() => {
                        self.state = State::Refused;
                        return Err(io::Error::new(io::ErrorKind::InvalidData, "malformed chunked body"));
                    }
                    // With the defence down, hyper is the only one to find the body's end.
                    Err(_) => self.state = State::Length(u64::MAX),
                },
                State::Refused => self.bytes.clear(),
            }
        }
        Ok(())
    }

    /// Whether there is a verdict on the head.
    fn judge_head(&mut self) -> bool {
        // A head that dribbles in is parsed once a line, not once a byte.
        let fresh = &self.bytes[self.seen..];
        let worthwhile = self.seen == 0 || fresh.contains(&b'\n') || self.bytes.len() > self.limits.head_bytes;
        self.seen = self.bytes.len();
        if !worthwhile {
            return false;
        }
        match parse::<G>(&self.bytes, &self.limits) {
            Parsed::Incomplete => return false,
            Parsed::Complete(head, len) => {
                self.judged = len;
                self.state = match head.framing {
                    // Only with a guard down: what follows CONNECT is no HTTP.
                    _ if head.method == "CONNECT" => State::Length(u64::MAX),
                    Framing::Length(length) => State::Length(length),
                    Framing::Chunked => State::Chunked(Chunks::new(self.limits.head_bytes)),
                };
                self.verdicts.push(Ok(head));
            }
            Parsed::Refused(fault) => {
                self.bytes = STAND_IN.to_vec();
                self.judged = STAND_IN.len();
                self.state = State::Refused;
                self.verdicts.push(Err(fault));
            }
        }
        self.seen = 0;
        true
    }

    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut scratch = [0; READ];
        loop {
            ready!(self.stream.poll_read_ready(cx))?;
            match self.stream.try_read(&mut scratch) {
                Ok(count) => {
                    self.bytes.extend_from_slice(&scratch[..count]);
                    return Poll::Ready(Ok(count));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl<G: RelayGuards> Read for Gate<G> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, mut buf: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        let gate = self.get_mut();
        loop {
            gate.judge()?;
            if gate.judged > 0 {
                let count = gate.judged.min(buf.remaining());
                buf.put_slice(&gate.bytes[..count]);
                gate.bytes.drain(..count);
                gate.judged -= count;
                return Poll::Ready(Ok(()));
            }
            if matches!(gate.state, State::Refused) {
                // The answer to the refused request is the last thing on this connection.
                return Poll::Pending;
            }
            if ready!(gate.poll_fill(cx))? == 0 {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl<G: RelayGuards> Write for Gate<G> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.stream.poll_write_ready(cx))?;
            match self.stream.try_write(buf) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return Poll::Ready(done),
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(
            nix::sys::socket::shutdown(
                std::os::fd::AsRawFd::as_raw_fd(&*self.stream),
                nix::sys::socket::Shutdown::Write,
            )
            .map_err(Into::into),
        )
    }
}

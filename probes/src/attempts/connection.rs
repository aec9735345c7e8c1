//! One connection of a script: bytes out, responses in, and what was read of them.

use std::{io, os::fd::OwnedFd, time::Instant};

use sha2::{Digest, Sha256};

use super::{
    answer::{self, Received},
    http::{Head, Reader, State},
    net,
    proxy::{self, Tunnel},
    unix,
};
use crate::{
    context::{Context, Stop},
    observation::Ended,
    plan::{Endpoint, UnixAddress},
    sys::{poll, socket},
};

/// Bytes of a body that are kept to be searched.
const KEPT: usize = 1024 * 1024;
/// Bytes that are read at once.
const BUFFER: usize = 64 * 1024;

/// A connection and the response that is read from it.
pub struct Connection {
    stream: OwnedFd,
    until: Instant,
    reader: Reader,
    /// Whether a step has read the present message to its end, so that the next one turns to the next message.
    done_with: bool,
    /// Whether the last request was a HEAD.
    head_only: bool,
    ended_by: Option<Ended>,
    body: Body,
    buffer: Vec<u8>,
}

/// The body of one response.
#[derive(Default)]
pub struct Body {
    pub len: u64,
    digest: Sha256,
    /// Its first bytes.
    pub start: Vec<u8>,
}

impl Body {
    fn take(&mut self, part: &[u8]) {
        self.len += part.len() as u64;
        self.digest.update(part);
        self.start.extend(&part[..part.len().min(KEPT - self.start.len())]);
    }

    pub fn sha256(&self) -> String {
        hex::encode(self.digest.clone().finalize())
    }
}

impl Connection {
    pub fn open(context: &Context<'_>, to: &Endpoint) -> Result<Self, Stop> {
        let stream = match to {
            Endpoint::Tcp(address) => net::tcp(context, *address)?,
            Endpoint::UnixPath(path) => unix::stream(context, &UnixAddress::Path(path.clone()))?,
            Endpoint::Proxied { proxy, to } => match proxy::tunnel(context, proxy, to)? {
                Tunnel::Open(stream) => stream,
                // As where nobody listens: the script has not begun.
                Tunnel::Refused(_) => return Err(Stop::Refused("proxy", libc::ECONNREFUSED)),
            },
        };
        Ok(Self {
            stream,
            until: context.until,
            reader: Reader::default(),
            done_with: false,
            head_only: false,
            ended_by: None,
            body: Body::default(),
            buffer: vec![0; BUFFER],
        })
    }

    /// Sends everything while taking what comes back, so that neither side waits for the other to read.
    /// `Ok(false)` where the peer ended the connection first.
    pub fn send(&mut self, parts: impl IntoIterator<Item = Vec<u8>>) -> io::Result<bool> {
        for (number, part) in parts.into_iter().enumerate() {
            if number == 0 {
                self.note_request(&part);
            }
            if !self.send_part(&part)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn note_request(&mut self, start: &[u8]) {
        // Parts of a request follow each other; only one that starts like a HEAD request is one.
        if start.starts_with(b"HEAD ") {
            self.head_only = true;
        } else if start.first_chunk::<4>().is_some_and(|method| matches!(method, b"GET " | b"POST" | b"PUT ")) {
            self.head_only = false;
        }
        if self.reader.is_untouched() {
            self.reader = Reader::expects_no_body(self.head_only);
        }
    }

    fn send_part(&mut self, mut part: &[u8]) -> io::Result<bool> {
        while !part.is_empty() {
            // An answer may come, and the connection end, long before a body is sent.
            while let Received::Bytes(_) = self.receive(Instant::now())? {}
            if self.ended_by.is_some() {
                return Ok(false);
            }
            match socket::send(&self.stream, part, libc::MSG_DONTWAIT, None) {
                Ok(sent) => part = &part[sent..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let ready = poll::wait(&self.stream, poll::READ | poll::WRITE, self.until)?;
                    ready.ok_or(io::ErrorKind::TimedOut)?;
                }
                Err(error) if is_end(&error) => {
                    // What the peer said before it ended is still to be read.
                    while let Received::Bytes(_) = self.receive(Instant::now())? {}
                    return Ok(false);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Reads until the head of a response is whole.
    pub fn read_head(&mut self) -> io::Result<()> {
        self.turn_to_next();
        self.read_while(|connection| connection.reader.state() == State::InHead)
    }

    /// Reads until the body so far holds `text`.
    pub fn read_until(&mut self, text: &[u8]) -> io::Result<()> {
        let holds =
            |connection: &Self| text.is_empty() || connection.body.start.windows(text.len()).any(|bytes| bytes == text);
        self.read_while(|connection| !holds(connection))?;
        if holds(self) { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// Reads the response to its end, or the connection's.
    pub fn read_response(&mut self) -> io::Result<()> {
        self.turn_to_next();
        self.read_while(|connection| matches!(connection.reader.state(), State::InHead | State::InBody))?;
        self.done_with = self.reader.state() == State::Whole;
        Ok(())
    }

    /// Reads until the connection ends.
    pub fn read_to_end(&mut self) -> io::Result<()> {
        self.read_while(|_| true)
    }

    fn turn_to_next(&mut self) {
        if std::mem::take(&mut self.done_with) {
            self.body = Body::default();
            let body = &mut self.body;
            self.reader.next_message(self.head_only, &mut |part| body.take(part));
        }
    }

    /// Receives as long as the connection lasts and `wanted` says so. Late is an error, the end is none.
    fn read_while(&mut self, wanted: impl Fn(&Self) -> bool) -> io::Result<()> {
        while self.ended_by.is_none() && wanted(self) {
            if self.receive(self.until)? == Received::Late {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
        Ok(())
    }

    fn receive(&mut self, until: Instant) -> io::Result<Received> {
        if self.ended_by.is_some() {
            return Ok(Received::End);
        }
        match answer::receive(&self.stream, &mut self.buffer, until) {
            Ok(Received::Bytes(read)) => {
                let body = &mut self.body;
                self.reader.take(&self.buffer[..read], &mut |part| body.take(part));
                Ok(Received::Bytes(read))
            }
            Ok(Received::End) => {
                self.reader.end();
                self.ended_by = Some(Ended::Closed);
                Ok(Received::End)
            }
            Err(error) if is_end(&error) => {
                self.ended_by = Some(Ended::Reset);
                Ok(Received::End)
            }
            other => other,
        }
    }

    pub fn head(&self) -> Option<&Head> {
        self.reader.head()
    }

    pub fn body(&self) -> &Body {
        &self.body
    }

    /// How the reading of the present response ended.
    pub fn ended(&self) -> Ended {
        match (self.reader.state(), self.ended_by) {
            (State::Malformed, _) => Ended::Malformed,
            (State::Whole, _) => Ended::Complete,
            (_, Some(Ended::Reset)) => Ended::Reset,
            (_, Some(_)) if self.reader.is_untouched() => Ended::Closed,
            (_, Some(_)) => Ended::Truncated,
            (_, None) => Ended::Open,
        }
    }

    pub fn half_close(&self) -> io::Result<()> {
        socket::half_close(&self.stream)
    }

    /// Closes with a FIN.
    pub fn close(mut self) -> io::Result<()> {
        // Bytes that nobody read would make the kernel send a reset instead.
        while let Received::Bytes(_) = self.receive(Instant::now())? {}
        Ok(())
    }

    /// Closes with a reset.
    pub fn reset(self) -> io::Result<()> {
        socket::linger_zero(&self.stream)
    }
}

fn is_end(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ECONNRESET | libc::EPIPE | libc::ECONNABORTED))
}

/// An error of a step, as text.
pub fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::TimedOut => "timed out".into(),
        io::ErrorKind::UnexpectedEof => "the connection ended".into(),
        _ => error.to_string(),
    }
}

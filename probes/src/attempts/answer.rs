//! Bytes to and from a stream that does not block, with a deadline.

use std::{io, os::fd::AsFd, time::Instant};

use crate::{
    context::{Attempted, Context, Stop, heard, refused, silent},
    observation::Outcome,
    sys::{poll, socket},
};

/// Most bytes of an answer.
const MOST: usize = 256;

/// Sends `wt:<nonce>` and a line feed, and reads what comes back: a line, or until the end or the deadline.
pub fn say_and_hear(context: &Context<'_>, stream: impl AsFd) -> Attempted {
    let sent = send_all(context, &stream, format!("{}\n", context.payload()).as_bytes());
    heard_unless_unsent(sent, hear(context, stream, context.until))
}

/// A peer may say something and close without reading: it is heard although nothing could be sent.
pub fn heard_unless_unsent(sent: Result<(), Stop>, heard: Attempted) -> Attempted {
    match (sent, heard) {
        (Ok(()), heard) => heard,
        (Err(_), Ok(heard)) if !matches!(heard, Outcome::Silent { .. }) => Ok(heard),
        (Err(unsent), _) => Err(unsent),
    }
}

/// Reads what comes back: a line, or until the end or `until`.
pub fn hear(context: &Context<'_>, stream: impl AsFd, until: Instant) -> Attempted {
    hear_all(context, stream, until, |answer| answer.contains(&b'\n'))
}

/// Reads what comes back until it is `whole`, or until the end or `until`.
pub fn hear_all(context: &Context<'_>, stream: impl AsFd, until: Instant, whole: impl Fn(&[u8]) -> bool) -> Attempted {
    context.step("recv");
    let mut answer = Vec::new();
    let mut buffer = [0; MOST];
    while answer.len() < MOST && !whole(&answer) {
        match receive(&stream, &mut buffer, until) {
            Ok(Received::Bytes(read)) => answer.extend(&buffer[..read]),
            Ok(Received::End | Received::Late) => break,
            Err(_) if !answer.is_empty() => break,
            Err(error) => return Err(refused("recv")(error)),
        }
    }
    if answer.is_empty() { Ok(silent("recv")) } else { Ok(heard(&answer)) }
}

/// What one wait for bytes gave.
#[derive(Debug, PartialEq, Eq)]
pub enum Received {
    Bytes(usize),
    End,
    Late,
}

/// Waits for bytes of a stream until `until`.
pub fn receive(stream: impl AsFd, buffer: &mut [u8], until: Instant) -> io::Result<Received> {
    loop {
        match socket::receive(&stream, buffer, libc::MSG_DONTWAIT) {
            Ok(0) => return Ok(Received::End),
            Ok(read) => return Ok(Received::Bytes(read)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if poll::wait(&stream, poll::READ, until)?.is_none() {
                    return Ok(Received::Late);
                }
            }
            Err(error) => return Err(error),
        }
    }
}

/// Sends all of a short message.
pub fn send_all(context: &Context<'_>, stream: impl AsFd, mut bytes: &[u8]) -> Result<(), Stop> {
    context.step("send");
    while !bytes.is_empty() {
        match socket::send(&stream, bytes, libc::MSG_DONTWAIT, None) {
            Ok(sent) => bytes = &bytes[sent..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let ready = poll::wait(&stream, poll::WRITE, context.until).map_err(refused("poll"))?;
                ready.ok_or_else(|| Stop::TimedOut("send".into()))?;
            }
            Err(error) => return Err(refused("send")(error)),
        }
    }
    Ok(())
}

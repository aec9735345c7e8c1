//! Rtnetlink messages (rtnetlink(7)): requests out, dumps and acknowledgements back.

use std::{io, os::fd::OwnedFd, time::Instant};

use super::answer::{self, Received};
use crate::sys::socket::{self, Address};

pub const RTM_NEWLINK: u16 = 16;
pub const RTM_DELLINK: u16 = 17;
pub const RTM_GETLINK: u16 = 18;
pub const RTM_NEWADDR: u16 = 20;
pub const RTM_DELADDR: u16 = 21;
pub const RTM_GETADDR: u16 = 22;
pub const RTM_NEWROUTE: u16 = 24;
pub const RTM_DELROUTE: u16 = 25;
pub const RTM_GETROUTE: u16 = 26;

const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_ACK: u16 = 4;
const NLM_F_DUMP: u16 = 0x300;
const NLM_F_CREATE_EXCLUSIVELY: u16 = 0x600;
const HEAD: usize = 16;

/// A routing socket.
pub struct Netlink {
    socket: OwnedFd,
    until: Instant,
}

impl Netlink {
    pub fn open(until: Instant) -> io::Result<Self> {
        socket::socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_ROUTE).map(|socket| Self { socket, until })
    }

    /// Bodies of every message of a dump.
    pub fn dump(&self, kind: u16, body: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        self.request(kind, NLM_F_DUMP, body)?;
        self.answers()
    }

    /// Asks for a change and waits until the kernel has made or refused it.
    pub fn change(&self, kind: u16, body: &[u8]) -> io::Result<()> {
        let makes = matches!(kind, RTM_NEWLINK | RTM_NEWADDR | RTM_NEWROUTE);
        let flags = if makes { NLM_F_ACK | NLM_F_CREATE_EXCLUSIVELY } else { NLM_F_ACK };
        self.request(kind, flags, body)?;
        self.answers().map(drop)
    }

    fn request(&self, kind: u16, flags: u16, body: &[u8]) -> io::Result<()> {
        let mut message = Vec::with_capacity(HEAD + body.len());
        message.extend(((HEAD + body.len()) as u32).to_ne_bytes());
        message.extend(kind.to_ne_bytes());
        message.extend((flags | NLM_F_REQUEST).to_ne_bytes());
        message.extend([1, 0, 0, 0, 0, 0, 0, 0]);
        message.extend(body);
        socket::send(&self.socket, &message, 0, Some(&Address::netlink_kernel())).map(drop)
    }

    /// Bodies up to the end of a dump or an acknowledgement.
    fn answers(&self) -> io::Result<Vec<Vec<u8>>> {
        let mut bodies = Vec::new();
        let mut buffer = vec![0; 32 * 1024];
        loop {
            let Received::Bytes(read) = answer::receive(&self.socket, &mut buffer, self.until)? else {
                return Err(io::Error::from_raw_os_error(libc::ETIMEDOUT));
            };
            let mut rest = &buffer[..read];
            while let Some((kind, body, next)) = first_message(rest) {
                match kind {
                    NLMSG_DONE => return Ok(bodies),
                    NLMSG_ERROR => match word(body, 0) {
                        0 => return Ok(bodies),
                        errno => return Err(io::Error::from_raw_os_error(-(errno as i32))),
                    },
                    _ => bodies.push(body.to_vec()),
                }
                rest = next;
            }
        }
    }
}

fn first_message(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let len = word(bytes.get(..4)?, 0) as usize;
    let kind = u16::from_ne_bytes(bytes.get(4..6)?.try_into().ok()?);
    let body = bytes.get(HEAD..len)?;
    Some((kind, body, bytes.get(len.next_multiple_of(4)..).unwrap_or(&[])))
}

/// Attributes of a body, behind its head of this many bytes.
pub fn attributes(body: &[u8], head: usize) -> Vec<(u16, &[u8])> {
    let mut rest = body.get(head..).unwrap_or(&[]);
    let mut attributes = Vec::new();
    while let Some(len) = rest.get(..2).map(|len| usize::from(u16::from_ne_bytes([len[0], len[1]]))) {
        let Some(value) = rest.get(4..len) else { break };
        attributes.push((u16::from_ne_bytes([rest[2], rest[3]]) & 0x3fff, value));
        rest = rest.get(len.next_multiple_of(4)..).unwrap_or(&[]);
    }
    attributes
}

/// One attribute, padded.
pub fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = ((value.len() + 4) as u16).to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// A 32-bit word, 0 where the bytes end before it.
pub fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|word| word.try_into().ok()).map_or(0, u32::from_ne_bytes)
}

//! Exchanges of bytes with a relay or a proxy: where they connect, and what they do step by step.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Where an exchange connects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Endpoint {
    Tcp(SocketAddr),
    UnixPath(String),
    /// Through a tunnel of a proxy.
    Proxied {
        proxy: Proxy,
        to: Authority,
    },
}

/// A proxy that the target brings, and how it is used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proxy {
    pub at: ProxyAt,
    pub by: Carry,
}

/// Where a proxy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProxyAt {
    Address(SocketAddr),
    /// Where the variables of the environment say, with the credentials that they have: `HTTPS_PROXY` for CONNECT,
    /// `HTTP_PROXY` for absolute-form, `ALL_PROXY` or `FTP_PROXY` for SOCKS5, and another one where none has such a URL.
    Environment,
}

/// How a proxy is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Carry {
    /// HTTP CONNECT.
    Connect,
    /// An HTTP request in absolute-form. As an endpoint of an exchange it is CONNECT.
    Absolute,
    /// SOCKS5, with the name as it is where there is one.
    Socks5,
}

/// A host, by name or address, and a port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Authority {
    pub host: String,
    pub port: u16,
}

impl std::fmt::Display for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { host, port } = self;
        // An IPv6 address stands in brackets (RFC 3986 3.2.2).
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

impl From<SocketAddr> for Authority {
    fn from(to: SocketAddr) -> Self {
        Self { host: to.ip().to_string(), port: to.port() }
    }
}

/// The bearer, right or wrong in one way. A step that needs it and cannot find it stops the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BearerForm {
    Right,
    /// Without its last byte.
    Short,
    /// With one `A` more.
    Long,
    /// Of the same length, every byte another one.
    AllDifferent,
    FirstDifferent,
    LastDifferent,
    /// As many characters, the last one two bytes long.
    Multibyte,
}

/// One step of a scripted exchange. A step that cannot be done ends the script; the facts say which one it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Sends these bytes. Text as it is; `\xNN` escapes for the rest (see [`crate::wire::unescape`]).
    Send(String),
    /// Sends a body of [`pseudo_random`].
    SendBody { len: u64, seed: u32 },
    /// `shutdown(SHUT_WR)`.
    HalfClose,
    /// Reads and parses one response head.
    ReadHead,
    /// Reads on until the body read so far holds this text.
    ReadUntil(String),
    /// Reads the response (head if not read yet, body by its framing) to its end, or the connection's.
    ReadResponse,
    /// Reads until the connection ends, whatever the framing says.
    ReadToEnd,
    /// Sends the bearer in this form: of `Plan::bearer`.
    SendBearer(BearerForm),
    /// On a connection of its own to the same endpoint, does these steps, reads the response and wants a 200: how a
    /// script waits for the fixture.
    Await(Vec<Step>),
    /// Closes in the ordinary way (FIN).
    Close,
    /// Closes with a reset (`SO_LINGER` 0).
    Reset,
}

/// A generated body of `len` bytes: xorshift32 over the seed, four bytes a step, little-endian. In parts, all but the
/// last of 64 KiB: byte by byte, a body of 32 MiB takes longer to make than to send.
pub fn pseudo_random(seed: u32, len: u64) -> impl Iterator<Item = Vec<u8>> {
    let mut state = seed | 1;
    let mut left = len;
    std::iter::from_fn(move || {
        let now = usize::try_from(left).unwrap_or(usize::MAX).min(PART);
        left -= now as u64;
        let mut part = Vec::with_capacity(now + 4);
        while part.len() < now {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            part.extend(state.to_le_bytes());
        }
        part.truncate(now);
        (now > 0).then_some(part)
    })
}

/// SHA-256 of a body of [`pseudo_random`], as hexadecimal digits.
pub fn pseudo_random_sha256(seed: u32, len: u64) -> String {
    let mut digest = Sha256::new();
    pseudo_random(seed, len).for_each(|part| digest.update(part));
    hex::encode(digest.finalize())
}

/// Bytes that are made, sent and digested at once: a whole number of steps.
const PART: usize = 64 * 1024;

//! What was seen outside: one entry of a fixture's ledger, or one captured frame.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::nonce::Nonce;

/// One thing that reached the outside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sighting {
    /// Order in the whole run.
    pub seq: u64,
    /// Microseconds since the run began.
    pub micros: u64,
    /// Which fixture: `canary-tcp`, `canary-udp`, `canary-unix`, `dns`, `provider`, `instance`, `capture`.
    pub fixture: String,
    /// Every nonce that stood in what arrived.
    pub nonces: Vec<Nonce>,
    /// Where it was going, for internet sockets and frames: decides for attempts whose destination is the nonce.
    pub to: Option<SocketAddr>,
    /// Where it came from: an address, a socket's name, a link's name.
    pub from: String,
    pub event: Event,
}

/// What happened at the fixture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A connection was accepted, before any byte.
    Accepted { connection: u64 },
    /// Bytes arrived (first ones, sanitised).
    Received { connection: Option<u64>, len: u64, head: String },
    /// A DNS question arrived, or something on a DNS port that was not one.
    Question { name: String, qtype: u16, over: String },
    /// A request's head was read. `target` and header values as they came, sanitised.
    Request {
        connection: u64,
        request: u64,
        method: String,
        target: String,
        version: String,
        headers: Vec<(String, String)>,
    },
    /// The request's body arrived whole.
    Body { request: u64, len: u64, sha256: String },
    /// The response was written whole.
    Responded { request: u64, status: u16 },
    /// A connection ended: by its peer, by us, or by an error.
    Closed { connection: u64, by: String },
    /// A frame was captured on this link.
    Frame { link: String, len: u32, protocol: String },
}

//! How much of anything a client may ask of a relay. Long answers have no limit of time: either side ends them by leaving.

use std::time::Duration;

/// Bytes that hyper buffers for one direction of one connection.
pub(crate) const BUFFER: usize = 64 << 10;

/// Bounds of one relay. Memory is at most about `connections` × (`head_bytes` + four buffers of 64 KiB), TLS aside.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections served at once; the rest wait in the listener's backlog.
    pub connections: usize,
    /// Bytes of one request's head, and separately of one chunked body's trailers.
    pub head_bytes: usize,
    /// Header lines of one head.
    pub headers: usize,
    /// From the moment a connection waits for a request until its whole head is there.
    pub head: Duration,
    /// To connect to the upstream, TLS included.
    pub connect: Duration,
    /// How long, and for how many bytes, the rest of a request is read and thrown away once its answer is sent, so that
    /// a client in the middle of sending can read that answer.
    pub linger: Duration,
    pub linger_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 256,
            head_bytes: 32 << 10,
            headers: 100,
            head: Duration::from_secs(10),
            connect: Duration::from_secs(10),
            linger: Duration::from_secs(2),
            linger_bytes: 256 << 20,
        }
    }
}

//! The listening ports of a bridge and all connections through them, driven by one poll loop.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::marker::PhantomData;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use libc::{POLLIN, pollfd};

use super::connection::{Connection, Fate};
use super::peer::PeerTable;
use crate::guards::Guards;
use crate::sys::net::{connect_unix, listen_tcp, reset_on_close};

/// Where the bridge listens on 127.0.0.1 for the provider.
pub const PROVIDER_PORT: u16 = 8765;
/// Where the bridge listens on 127.0.0.1 for the instance.
pub const INSTANCE_PORT: u16 = 8766;

/// Two descriptors each, within the usual limit of 1024. Further clients wait in the backlog.
const MAX_CONNECTIONS: usize = 480;
const SCRATCH: usize = 256 * 1024;
/// How long to wait where the relay's backlog or the table of descriptors is full.
const RETRY: Duration = Duration::from_millis(5);

/// A port on 127.0.0.1 that leads to one Unix socket, whatever the client says.
pub(crate) struct Port {
    listener: TcpListener,
    socket: PathBuf,
}

impl Port {
    pub(crate) fn listen(port: u16, socket: &Path) -> io::Result<Self> {
        let listener = listen_tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
        Ok(Self { listener, socket: socket.to_owned() })
    }
}

/// All ports and connections of a bridge.
pub(crate) struct Bridge<G> {
    ports: Vec<Port>,
    connections: Vec<Connection>,
    /// Accepted, but the relay's backlog was full.
    waiting: VecDeque<(TcpStream, usize)>,
    accept_again: Option<Instant>,
    peers: PeerTable,
    scratch: Vec<u8>,
    guards: PhantomData<G>,
}

impl<G: Guards> Bridge<G> {
    pub(crate) fn new(ports: Vec<Port>) -> Self {
        Self {
            ports,
            connections: Vec::new(),
            waiting: VecDeque::new(),
            accept_again: None,
            peers: PeerTable::open(),
            scratch: vec![0; SCRATCH],
            guards: PhantomData,
        }
    }

    /// Appends what to poll for. [`Self::turn`] takes the same entries back.
    pub(crate) fn entries(&self, entries: &mut Vec<pollfd>) {
        let full = G::bridge_limits_connections() && self.connections.len() + self.waiting.len() >= MAX_CONNECTIONS;
        let accepts = !full && self.accept_again.is_none();
        entries.extend(self.ports.iter().map(|port| {
            let fd = if accepts { port.listener.as_raw_fd() } else { -1 };
            pollfd { fd, events: POLLIN, revents: 0 }
        }));
        entries.extend(self.connections.iter().flat_map(Connection::entries));
    }

    /// How long poll may wait, in milliseconds; -1 for ever.
    pub(crate) fn timeout_ms(&self, now: Instant) -> i32 {
        let retry = (!self.waiting.is_empty()).then(|| now + RETRY);
        let checks = self.connections.iter().filter_map(Connection::next_check);
        let next = checks.chain(self.accept_again).chain(retry).min();
        next.map_or(-1, |at| at.saturating_duration_since(now).as_micros().div_ceil(1000).min(60_000) as i32)
    }

    /// Accepts, connects and carries what can be without waiting.
    pub(crate) fn turn(&mut self, entries: &[pollfd], now: Instant) {
        let (ports, connections) = entries.split_at(self.ports.len());
        let mut results = connections.chunks_exact(2);
        self.connections.retain_mut(|connection| {
            let revents = results.next().map_or([0; 2], |pair| [pair[0].revents, pair[1].revents]);
            connection.turn::<G>(revents, &mut self.scratch, &self.peers, now) == Fate::Keep
        });
        self.accept_again = self.accept_again.filter(|at| *at > now);
        for _ in 0..self.waiting.len() {
            if let Some((client, port)) = self.waiting.pop_front() {
                self.connect(client, port);
            }
        }
        for (index, entry) in ports.iter().enumerate() {
            if entry.revents & POLLIN != 0 {
                self.accept(index, now);
            }
        }
    }

    fn accept(&mut self, port: usize, now: Instant) {
        while !G::bridge_limits_connections() || self.connections.len() + self.waiting.len() < MAX_CONNECTIONS {
            match self.ports[port].listener.accept() {
                Ok((client, _)) => {
                    if client.set_nonblocking(true).is_ok() {
                        self.connect(client, port);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE | libc::ENOMEM)) => {
                    self.accept_again = Some(now + RETRY);
                    break;
                }
                // The client is gone already.
                Err(_) => {}
            }
        }
    }

    fn connect(&mut self, client: TcpStream, port: usize) {
        match connect_unix(&self.ports[port].socket) {
            Ok(relay) => self.connections.extend(Connection::new(client, relay)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => self.waiting.push_back((client, port)),
            // No relay: the client learns it at once.
            Err(_) => {
                reset_on_close(&client).ok();
            }
        }
    }
}

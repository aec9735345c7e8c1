//! One TCP connection of a client and the Unix stream to the relay that carries it.

use std::io;
use std::net::{Shutdown, SocketAddr, SocketAddrV4, TcpStream};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use libc::{POLLERR, POLLHUP, POLLIN, POLLOUT, POLLRDHUP, pollfd};

use super::direction::{Broken, Direction, Turn};
use super::peer::PeerTable;
use crate::guards::Guards;
use crate::sys::net::reset_on_close;

const FIRST_CHECK: Duration = Duration::from_millis(1);
const LONGEST_CHECK: Duration = Duration::from_millis(50);

/// What becomes of a connection after a turn. Dropping it closes both streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Keep,
    Close,
}

/// A client's TCP stream, the relay's Unix stream and the two directions between them.
pub(crate) struct Connection {
    client: TcpStream,
    relay: UnixStream,
    client_address: SocketAddrV4,
    own_address: SocketAddrV4,
    up: Direction,
    down: Direction,
    client_sent_fin: bool,
    /// A reset that is not passed on: poll would report it again and again.
    client_is_reset: bool,
    relay_hung_up: bool,
    /// While the client may have closed without poll telling: when to look, and how long to wait after that.
    next_check: Option<(Instant, Duration)>,
}

impl Connection {
    /// Both streams must be non-blocking.
    pub(crate) fn new(client: TcpStream, relay: UnixStream) -> io::Result<Self> {
        let (SocketAddr::V4(client_address), SocketAddr::V4(own_address)) = (client.peer_addr()?, client.local_addr()?)
        else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        client.set_nodelay(true)?;
        Ok(Self {
            client,
            relay,
            client_address,
            own_address,
            up: Direction::default(),
            down: Direction::default(),
            client_sent_fin: false,
            client_is_reset: false,
            relay_hung_up: false,
            next_check: None,
        })
    }

    /// What to poll for: the client, then the relay. Ends from which only a hang-up would be reported, again and
    /// again, are left out.
    pub(crate) fn entries(&self) -> [pollfd; 2] {
        let mut client = readiness(&self.up, &self.down);
        client |= if self.client_sent_fin { 0 } else { POLLRDHUP };
        let client_is_done = self.client_is_reset || self.client_sent_fin && self.down.is_finished() && client == 0;
        let relay = readiness(&self.down, &self.up);
        let relay_is_done = self.relay_hung_up && relay == 0;
        let entry = |fd, events, done| pollfd { fd: if done { -1 } else { fd }, events, revents: 0 };
        [entry(self.client.as_raw_fd(), client, client_is_done), entry(self.relay.as_raw_fd(), relay, relay_is_done)]
    }

    pub(crate) fn next_check(&self) -> Option<Instant> {
        self.next_check.map(|(at, _)| at)
    }

    /// Carries what can be carried, given what poll reported.
    pub(crate) fn turn<G: Guards>(
        &mut self,
        [client, relay]: [i16; 2],
        scratch: &mut [u8],
        peers: &PeerTable,
        now: Instant,
    ) -> Fate {
        if client & POLLERR != 0 {
            if G::bridge_passes_reset_to_relay() {
                return Fate::Close;
            }
            self.client_is_reset = true;
            self.up.abandon();
        }
        if client & POLLRDHUP != 0 && !self.client_sent_fin {
            self.client_sent_fin = true;
        }
        if relay & POLLHUP != 0 {
            // What the relay sent before is still to be read; nothing can be sent to it any more.
            self.relay_hung_up = true;
            self.up.abandon();
        }
        if client != 0 || relay != 0 {
            if self.carry::<G>(scratch) == Fate::Close {
                return Fate::Close;
            }
            let has_ended = self.up.is_finished() && self.down.is_finished();
            if has_ended && self.passes_end::<G>() {
                return Fate::Close;
            }
        }
        self.look_after_client::<G>(peers, now)
    }

    fn carry<G: Guards>(&mut self, scratch: &mut [u8]) -> Fate {
        if !self.up.is_finished() {
            match self.up.turn(&mut &self.client, &mut &self.relay, scratch) {
                Ok(Turn::Open) => {}
                Ok(Turn::Finished) if !G::bridge_keeps_half_open_streams() => return Fate::Close,
                Ok(Turn::Finished) => {
                    // A relay that is gone already is noticed as a hang-up.
                    self.relay.shutdown(Shutdown::Write).ok();
                }
                Err(Broken::Source) => return Fate::Close,
                Err(Broken::Sink) => self.up.abandon(),
            }
        }
        if !self.down.is_finished() {
            match self.down.turn(&mut &self.relay, &mut &self.client, scratch) {
                Ok(Turn::Open) => {}
                Ok(Turn::Finished) if !self.passes_end::<G>() => {}
                Ok(Turn::Finished) => {
                    self.client.shutdown(Shutdown::Write).ok();
                }
                Err(Broken::Source) => {
                    // The relay closed without reading all: a reset there is a reset here.
                    reset_on_close(&self.client).ok();
                    return Fate::Close;
                }
                Err(Broken::Sink) => return Fate::Close,
            }
        }
        Fate::Keep
    }

    fn passes_end<G: Guards>(&self) -> bool {
        !self.relay_hung_up || G::bridge_passes_hang_up_to_client()
    }

    /// Has the client closed, so that the relay has to be hung up on?
    ///
    /// Asked after a FIN, and while the relay takes no bytes: then a FIN may be stuck behind them in the client's own
    /// socket. While bytes of the client can still be carried they are.
    fn look_after_client<G: Guards>(&mut self, peers: &PeerTable, now: Instant) -> Fate {
        let may_have_closed = self.client_sent_fin || self.up.wants_to_write();
        if !may_have_closed || !G::bridge_tells_closed_from_half_closed() {
            self.next_check = None;
            return Fate::Keep;
        }
        let (at, delay) = self.next_check.unwrap_or((now, FIRST_CHECK));
        if now < at {
            return Fate::Keep;
        }
        let all_is_read = self.up.source_has_ended() || self.up.wants_to_write();
        if all_is_read && peers.is_closed(self.client_address, self.own_address) {
            return Fate::Close;
        }
        self.next_check = Some((now + delay, (delay * 2).min(LONGEST_CHECK)));
        Fate::Keep
    }
}

fn readiness(incoming: &Direction, outgoing: &Direction) -> i16 {
    let read = if incoming.wants_to_read() { POLLIN } else { 0 };
    let write = if outgoing.wants_to_write() { POLLOUT } else { 0 };
    read | write
}

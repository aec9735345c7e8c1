//! Which ports of a loopback address accept a connection: one connect each. Linux answers it at once; where the answer comes
//! later (gVisor), or none does, many are under way together.

use std::{
    net::{IpAddr, SocketAddr, TcpListener},
    os::fd::{AsFd, OwnedFd},
    time::{Duration, Instant},
};

use super::net;
use crate::{
    context::{Attempted, Context, Stop, found, refused},
    observation::Facts,
    sys::{
        self, poll,
        socket::{self, Address},
    },
};

/// How long a connect may take where something drops what is sent.
const EACH: Duration = Duration::from_millis(100);
/// Connects that are under way together: far fewer than the descriptors that a process may usually have.
const AT_ONCE: usize = 64;
/// How often a port is tried where the scan met itself there.
const TRIES: u32 = 4;
/// Ports between two notes of where the scan is.
const NOTE_EVERY: u16 = 256;

/// `Attempt::Ports`.
pub fn look(context: &Context<'_>, of: IpAddr, from: u16, to: u16, known: bool) -> Attempted {
    // Where it may not listen, it may still connect, and the harness learns that nothing shows the scan to see.
    let listener = if known { TcpListener::bind((of, 0)).ok() } else { None };
    let known = match &listener {
        Some(listener) => Some(listener.local_addr().map_err(refused("getsockname"))?.port()),
        None => None,
    };
    let mut tried = 0;
    let mut scan = Scan { of, open: vec![], at_once: true, spare: None, under_way: vec![] };
    for port in from..=to {
        if port % NOTE_EVERY == 0 || tried == 0 {
            context.step(&format!("port {port}"));
        }
        scan.begin(port)?;
        tried += 1;
    }
    scan.settle()?;
    let mut open = scan.open;
    open.sort_unstable();
    Ok(found(Facts::Ports { open, tried, known }))
}

struct Scan {
    of: IpAddr,
    open: Vec<u16>,
    /// Linux answers a blocking connect at once and lets a socket that was refused connect again, so that one serves for
    /// nearly all. Where a kernel does not (ECONNABORTED), or lets one wait, every port gets a socket that does not block.
    at_once: bool,
    spare: Option<OwnedFd>,
    /// Ports whose answer has not come.
    under_way: Vec<(u16, OwnedFd)>,
}

impl Scan {
    /// Tries one port. Its answer may come later.
    fn begin(&mut self, port: u16) -> Result<(), Stop> {
        if self.under_way.len() >= AT_ONCE {
            self.settle()?;
        }
        let address = Address::from(SocketAddr::new(self.of, port));
        // A socket that took this very port as its own is connected to itself; the next one takes another.
        for _ in 0..TRIES {
            let spare = self.spare.take();
            let used = spare.is_some();
            let stream = match spare {
                Some(stream) => stream,
                None => self.new_stream()?,
            };
            match socket::connect(&stream, &address) {
                Ok(()) if net::is_connected_to_itself(&stream) => {
                    socket::linger_zero(&stream).map_err(refused("setsockopt"))?
                }
                Ok(()) => {
                    self.open.push(port);
                    break;
                }
                Err(error) => match sys::errno(&error) {
                    libc::EINPROGRESS => {
                        self.at_once = false;
                        self.under_way.push((port, stream));
                        break;
                    }
                    libc::ECONNREFUSED => {
                        self.spare = Some(stream).filter(|_| self.at_once);
                        break;
                    }
                    libc::ECONNABORTED if used => self.at_once = false,
                    // Nobody answered.
                    libc::ETIMEDOUT | libc::ECONNRESET => break,
                    _ => return Err(refused("connect")(error)),
                },
            }
        }
        Ok(())
    }

    fn new_stream(&mut self) -> Result<OwnedFd, Stop> {
        let kind = libc::SOCK_STREAM | if self.at_once { 0 } else { libc::SOCK_NONBLOCK };
        let family = socket::family_of(self.of);
        let make = || socket::socket(family, kind, libc::IPPROTO_TCP);
        let stream = match make() {
            // Those under way give theirs back.
            Err(error) if sys::errno(&error) == libc::EMFILE && !self.under_way.is_empty() => {
                self.settle()?;
                make()
            }
            made => made,
        };
        let stream = stream.map_err(refused("socket"))?;
        if self.at_once {
            socket::limit_sending(&stream, EACH.as_millis() as u32).map_err(refused("setsockopt"))?;
        }
        Ok(stream)
    }

    /// Waits for every answer that is still to come.
    fn settle(&mut self) -> Result<(), Stop> {
        for _ in 0..TRIES {
            let again = self.settle_once()?;
            if again.is_empty() {
                break;
            }
            for port in again {
                self.begin(port)?;
            }
        }
        Ok(())
    }

    /// The ports at which the scan met a socket of its own, and that tell nothing yet.
    fn settle_once(&mut self) -> Result<Vec<u16>, Stop> {
        let streams = std::mem::take(&mut self.under_way);
        let until = Instant::now() + EACH;
        let mut waiting: Vec<usize> = (0..streams.len()).collect();
        let mut accepted = vec![];
        while !waiting.is_empty() {
            let wanted: Vec<_> = waiting.iter().map(|index| (streams[*index].1.as_fd(), poll::WRITE)).collect();
            // Nobody answered the rest.
            let Some(ready) = poll::wait_for_any(&wanted, until).map_err(refused("ppoll"))? else { break };
            let mut ready = ready.into_iter();
            waiting.retain(|index| {
                let ended = ready.next().is_some_and(|events| events != 0);
                if ended && was_accepted(&streams[*index].1) {
                    accepted.push(*index);
                }
                !ended
            });
        }
        let mut again = vec![];
        for index in accepted {
            let (port, stream) = &streams[index];
            let port = *port;
            // Its own port is to be free again at once.
            let _ = socket::linger_zero(stream);
            let met = SocketAddr::new(self.of, port);
            // Connected to itself, or two of them to each other.
            let own = streams.iter().any(|(_, one)| local(one) == Some(met));
            if own {
                again.push(port);
            } else {
                self.open.push(port);
            }
        }
        Ok(again)
    }
}

/// Whether somebody accepted, even if the connection is gone again.
fn was_accepted(stream: &OwnedFd) -> bool {
    match socket::pending_error(stream) {
        Ok(()) => socket::peer_address(stream).is_ok(),
        Err(error) => matches!(sys::errno(&error), libc::ECONNRESET | libc::EPIPE),
    }
}

fn local(stream: &OwnedFd) -> Option<SocketAddr> {
    socket::local_address(stream).ok()?.to_socket_addr()
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    /// One of a kernel that lets connects wait.
    fn scan() -> Scan {
        Scan { of: LOOPBACK, open: vec![], at_once: false, spare: None, under_way: vec![] }
    }

    fn connecting(from: Option<u16>, port: u16) -> (u16, OwnedFd) {
        let stream = scan().new_stream().unwrap_or_else(|_| panic!("a socket"));
        if let Some(from) = from {
            socket::bind(&stream, &SocketAddr::new(LOOPBACK, from).into()).expect("a free port");
        }
        let _ = socket::connect(&stream, &SocketAddr::new(LOOPBACK, port).into());
        (port, stream)
    }

    #[test]
    fn one_socket_serves_for_all_ports_that_linux_refuses() {
        let listener = TcpListener::bind((LOOPBACK, 0)).expect("loopback");
        let open = listener.local_addr().expect("bound").port();
        let mut scan = Scan { at_once: true, ..scan() };
        for port in open.saturating_sub(20)..=open {
            assert!(scan.begin(port).is_ok());
        }
        assert!(scan.at_once && scan.under_way.is_empty() && scan.open.contains(&open), "{:?}", scan.open);
    }

    #[test]
    fn of_answers_that_come_later_only_a_listeners_is_an_open_port() {
        let listener = TcpListener::bind((LOOPBACK, 0)).expect("loopback");
        let open = listener.local_addr().expect("bound").port();
        let closed = TcpListener::bind((LOOPBACK, 0)).expect("loopback").local_addr().expect("bound").port();
        let mut scan = scan();
        scan.under_way = vec![connecting(None, closed), connecting(None, open)];
        assert!(scan.settle().is_ok());
        assert_eq!((scan.open, scan.under_way.len()), (vec![open], 0));
    }

    #[test]
    fn a_port_that_a_connect_of_its_own_has_is_tried_again_and_not_open() {
        let own = TcpListener::bind((LOOPBACK, 0)).expect("loopback").local_addr().expect("bound").port();
        let mut scan = scan();
        scan.under_way = vec![connecting(Some(own), own)];
        assert!(was_accepted(&scan.under_way[0].1));
        assert!(scan.settle().is_ok());
        assert_eq!((scan.open, scan.under_way.len()), (vec![], 0));
    }
}

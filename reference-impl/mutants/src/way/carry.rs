//! The helper at a link's far end: does outside what the rule lets through, with ordinary sockets, and refuses the rest.

use std::{
    collections::VecDeque,
    io,
    net::{IpAddr, SocketAddr, SocketAddrV6, UdpSocket},
    os::fd::{AsRawFd, OwnedFd},
    time::{Duration, Instant},
};

use nix::{
    errno::Errno,
    sys::{
        socket::{
            AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrStorage, connect, recv, sendto,
            setsockopt, socket, sockopt::ReceiveTimeout,
        },
        time::{TimeVal, TimeValLike},
    },
};

use super::{
    answer,
    forward::any,
    link::STATION,
    packet::{self, Asks, Packet},
    rule::Rule,
    sys,
};

/// How long a connection outside is kept, and how many are.
const KEPT_FOR: Duration = Duration::from_secs(5);
const KEPT: usize = 64;
/// Where packets of other protocols are sent as datagrams: discard (RFC 863).
const DISCARD: u16 = 9;

/// A link's far end.
pub struct Carrier<'a> {
    pub packets: OwnedFd,
    pub link: u32,
    pub rule: &'a Rule,
    /// The number of the host's link, for its groups; or 0.
    pub host_link: u32,
}

impl Carrier<'_> {
    /// Carries until the socket fails.
    pub fn run(&self) -> io::Result<()> {
        // It wakes up to close what it has kept.
        setsockopt(&self.packets, ReceiveTimeout, &TimeVal::seconds(1))?;
        let mut connections = VecDeque::new();
        let mut passed = 0;
        let mut buffer = vec![0; 128 * 1024];
        loop {
            let length = match recv(self.packets.as_raw_fd(), &mut buffer, MsgFlags::empty()) {
                Ok(length) => length,
                Err(Errno::EAGAIN | Errno::EINTR) => 0,
                Err(error) => return Err(error.into()),
            };
            connections.retain(|(since, _): &(Instant, OwnedFd)| since.elapsed() < KEPT_FOR);
            let Some(packet) = packet::read(&buffer[..length]) else { continue };
            let answer = if self.rule.lets_through(&packet, passed) {
                passed += 1;
                // What cannot be done outside is lost, as on any network.
                if let Ok(Some(connection)) = self.repeat(&packet) {
                    connections.push_back((Instant::now(), connection));
                    connections.truncate(KEPT);
                }
                answer::reset(&packet)
            } else {
                answer::refusal(&packet)
            };
            if let Some(answer) = answer {
                // Whoever misses it waits for longer, and that is all.
                let _ = sys::send_packet(&self.packets, self.link, STATION, &answer);
            }
        }
    }

    /// Does the same outside. A connection is only begun.
    fn repeat(&self, packet: &Packet<'_>) -> io::Result<Option<OwnedFd>> {
        match packet.asks {
            Asks::Connection { to, .. } => return begin_connection(self.outside(packet, to)).map(Some),
            Asks::Datagram { to, payload } => send_datagram(self.outside(packet, to), payload)?,
            Asks::Echo { message } => send_echo(self.outside(packet, 0), message)?,
            Asks::Other { payload } => send_datagram(self.outside(packet, DISCARD), payload)?,
            Asks::Nothing => {}
        }
        Ok(None)
    }

    fn outside(&self, packet: &Packet<'_>, port: u16) -> SocketAddr {
        match packet.to {
            // The kernel looks at the scope of link-local addresses only.
            IpAddr::V6(address) => SocketAddrV6::new(address, port, 0, self.host_link).into(),
            address => SocketAddr::new(address, port),
        }
    }
}

fn begin_connection(to: SocketAddr) -> io::Result<OwnedFd> {
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let stream = socket(family(to), SockType::Stream, flags, None)?;
    match connect(stream.as_raw_fd(), &SockaddrStorage::from(to)) {
        Ok(()) | Err(Errno::EINPROGRESS) => Ok(stream),
        Err(error) => Err(error.into()),
    }
}

fn send_datagram(to: SocketAddr, payload: &[u8]) -> io::Result<()> {
    UdpSocket::bind((any(to.ip()), 0))?.send_to(payload, to).map(drop)
}

/// The kernel puts identifier and checksum of its own into the message.
fn send_echo(to: SocketAddr, message: &[u8]) -> io::Result<()> {
    let protocol = if to.is_ipv4() { SockProtocol::Icmp } else { SockProtocol::IcmpV6 };
    let ping = socket(family(to), SockType::Datagram, SockFlag::SOCK_CLOEXEC, protocol)?;
    sendto(ping.as_raw_fd(), message, &SockaddrStorage::from(to), MsgFlags::empty())?;
    Ok(())
}

fn family(to: SocketAddr) -> AddressFamily {
    if to.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 }
}

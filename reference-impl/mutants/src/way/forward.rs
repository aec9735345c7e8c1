//! Sockets inside that lead to the host's: init makes them, the helper connects each to its place outside.

use std::{
    io,
    net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket},
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::net::UnixListener,
    },
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use nix::{
    errno::Errno,
    sys::socket::{AddressFamily, Backlog, Shutdown, SockFlag, UnixAddr, bind, connect, listen, shutdown, socket},
    unistd::{read, write},
};

use super::{
    listeners::{Place, UnixKind},
    netlink,
};

/// Connections at a time; more are closed at once.
const CONNECTIONS: usize = 64;
const PIECE: usize = 64 * 1024;
const LOOPBACK_LINK: u32 = 1;

/// In the sandbox: a socket that is reached where the place is outside.
pub fn open(place: &Place) -> io::Result<OwnedFd> {
    match place {
        Place::Tcp(at) => own_address(at).and_then(|()| TcpListener::bind(at)).map(OwnedFd::from),
        Place::Udp(at) => UdpSocket::bind(at).map(OwnedFd::from),
        Place::Unix(kind, name) => {
            let socket = unix(*kind)?;
            bind(socket.as_raw_fd(), &UnixAddr::new_abstract(name)?)?;
            if *kind != UnixKind::Datagram {
                listen(&socket, Backlog::MAXCONN)?;
            }
            Ok(socket)
        }
    }
}

/// What is sent to an address of the sandbox's own stays in it.
fn own_address(at: &SocketAddr) -> io::Result<()> {
    if at.ip().is_loopback() { Ok(()) } else { netlink::add_address(LOOPBACK_LINK, at.ip()) }
}

/// Outside: passes on what comes to the socket inside, until it fails.
pub fn serve(inside: OwnedFd, place: &Place) -> io::Result<()> {
    match place {
        Place::Tcp(_) => accept(place, TcpListener::from(inside), |listener| Ok(listener.accept()?.0.into())),
        Place::Udp(_) | Place::Unix(UnixKind::Datagram, _) => pass_datagrams(&inside, place),
        // Both kinds are accepted by the same call.
        Place::Unix(UnixKind::Stream | UnixKind::Seqpacket, _) => {
            accept(place, UnixListener::from(inside), |listener| Ok(listener.accept()?.0.into()))
        }
    }
}

fn accept<L>(place: &Place, listener: L, next: impl Fn(&L) -> io::Result<OwnedFd>) -> io::Result<()> {
    static OPEN: AtomicUsize = AtomicUsize::new(0);
    loop {
        let inside = next(&listener)?;
        let place = place.clone();
        if OPEN.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS {
            OPEN.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        thread::spawn(move || {
            if let Ok(outside) = reach(&place) {
                join(&inside, &outside);
            }
            OPEN.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

/// Copies both ways until both have ended.
fn join(inside: &OwnedFd, outside: &OwnedFd) {
    thread::scope(|scope| {
        scope.spawn(|| copy(outside, inside));
        copy(inside, outside);
    });
}

fn copy(from: &OwnedFd, to: &OwnedFd) {
    let mut buffer = vec![0; PIECE];
    while let Ok(length @ 1..) = read(from, &mut buffer) {
        if write_all(to, &buffer[..length]).is_err() {
            break;
        }
    }
    // The other end may have gone already.
    let _ = shutdown(to.as_raw_fd(), Shutdown::Write);
}

/// In one piece where it can be: a piece of a seqpacket socket is a message.
fn write_all(to: &OwnedFd, mut bytes: &[u8]) -> nix::Result<()> {
    while !bytes.is_empty() {
        bytes = &bytes[write(to, bytes)?..];
    }
    Ok(())
}

fn pass_datagrams(inside: &OwnedFd, place: &Place) -> io::Result<()> {
    let mut buffer = vec![0; PIECE];
    loop {
        let length = match read(inside, &mut buffer) {
            Ok(length) => length,
            Err(Errno::EINTR) => continue,
            Err(error) => return Err(error.into()),
        };
        // What nobody takes is lost, as datagrams are.
        let _ = reach(place).map(|outside| write(&outside, &buffer[..length]));
    }
}

fn reach(place: &Place) -> io::Result<OwnedFd> {
    match place {
        Place::Tcp(to) => TcpStream::connect(to).map(OwnedFd::from),
        Place::Udp(to) => {
            let socket = UdpSocket::bind((any(to.ip()), 0))?;
            socket.connect(to)?;
            Ok(socket.into())
        }
        Place::Unix(kind, name) => {
            let socket = unix(*kind)?;
            connect(socket.as_raw_fd(), &UnixAddr::new_abstract(name)?)?;
            Ok(socket)
        }
    }
}

fn unix(kind: UnixKind) -> nix::Result<OwnedFd> {
    socket(AddressFamily::Unix, kind.socket_type(), SockFlag::SOCK_CLOEXEC, None)
}

/// The unspecified address of the same family.
pub fn any(like: IpAddr) -> IpAddr {
    match like {
        IpAddr::V4(_) => std::net::Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => std::net::Ipv6Addr::UNSPECIFIED.into(),
    }
}

//! Sockets: loopback, connections to Unix sockets, and the owner of a TCP connection's other end.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;

use nix::sys::socket::{self, AddressFamily, Backlog, SockFlag, SockType, UnixAddr};

use super::check;

/// The flags of the loopback interface, with IFF_UP or without.
fn loopback_flags(socket: impl AsFd, request: &mut libc::ifreq) -> io::Result<()> {
    // SAFETY: SIOCGIFFLAGS reads the name and writes the flags of the `ifreq` it is given.
    check(unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), libc::SIOCGIFFLAGS, request) }.into()).map(drop)
}

/// Raises the loopback interface where it is down.
pub(crate) fn raise_loopback() -> io::Result<()> {
    let socket = socket::socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?;
    // SAFETY: an all-zero `ifreq` is valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    request.ifr_name[0] = b'l' as libc::c_char;
    request.ifr_name[1] = b'o' as libc::c_char;
    loopback_flags(&socket, &mut request)?;
    // SAFETY: SIOCGIFFLAGS has just set this member of the union.
    let flags = unsafe { request.ifr_ifru.ifru_flags };
    if flags & libc::IFF_UP as libc::c_short != 0 {
        return Ok(());
    }
    request.ifr_ifru.ifru_flags = flags | libc::IFF_UP as libc::c_short;
    // SAFETY: SIOCSIFFLAGS reads the name and flags of the `ifreq` it is given.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) }.into()).map(drop)
}

/// Connects to a Unix socket without waiting for a place in its backlog: `WouldBlock` when there is none.
pub(crate) fn connect_unix(path: &Path) -> io::Result<std::os::unix::net::UnixStream> {
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let stream = socket::socket(AddressFamily::Unix, SockType::Stream, flags, None)?;
    socket::connect(stream.as_raw_fd(), &UnixAddr::new(path)?)?;
    Ok(stream.into())
}

/// Makes the closing of a TCP stream a reset.
pub(crate) fn reset_on_close(stream: impl AsFd) -> io::Result<()> {
    let linger = libc::linger { l_onoff: 1, l_linger: 0 };
    socket::setsockopt(&stream.as_fd(), socket::sockopt::Linger, &linger).map_err(io::Error::from)
}

/// A netlink socket that answers questions about the sockets of this network namespace.
pub(crate) fn open_sock_diag() -> io::Result<OwnedFd> {
    // SAFETY: no pointers are passed.
    let fd = unsafe { libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, libc::NETLINK_SOCK_DIAG) };
    let fd = check(fd.into())?;
    // SAFETY: the kernel has just returned this descriptor and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

/// Sends one request of sock_diag and reads the one answer to it. The kernel answers within the send.
pub(crate) fn ask_sock_diag(diag: &OwnedFd, request: &[u8], answer: &mut [u8]) -> io::Result<usize> {
    socket::send(diag.as_raw_fd(), request, socket::MsgFlags::MSG_DONTWAIT)?;
    Ok(socket::recv(diag.as_raw_fd(), answer, socket::MsgFlags::MSG_DONTWAIT)?)
}

/// A listening TCP socket on an address of loopback, non-blocking and close-on-exec.
pub(crate) fn listen_tcp(address: SocketAddr) -> io::Result<std::net::TcpListener> {
    let listener = std::net::TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    // std listens with a backlog of 128; a second listen only raises it.
    socket::listen(&listener, Backlog::new(1024)?)?;
    Ok(listener)
}

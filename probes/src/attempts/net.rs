//! Streams to internet addresses, over every transport that has `connect`.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    os::fd::{AsFd, OwnedFd},
};

use super::{answer, io_uring};
use crate::{
    context::{Attempted, Context, Stop, found, refused, timed_out},
    observation::Facts,
    plan::Stream,
    sys::{
        poll,
        socket::{self, Address},
    },
};

const SOCK_DCCP: i32 = 6;
const IPPROTO_DCCP: i32 = 33;
const IPPROTO_SCTP: i32 = 132;
const IPPROTO_MPTCP: i32 = 262;

/// `Attempt::Connect`.
pub fn connect(context: &Context<'_>, transport: Stream, to: SocketAddr, source_port: Option<u16>) -> Attempted {
    let (kind, protocol) = match transport {
        Stream::Tcp | Stream::TcpFastOpen | Stream::IoUring => (libc::SOCK_STREAM, libc::IPPROTO_TCP),
        Stream::Mptcp => (libc::SOCK_STREAM, IPPROTO_MPTCP),
        Stream::Sctp => (libc::SOCK_STREAM, IPPROTO_SCTP),
        Stream::Dccp => (SOCK_DCCP, IPPROTO_DCCP),
    };
    if transport == Stream::IoUring {
        return io_uring::connect(context, to, source_port);
    }
    let stream = new_stream(context, to, kind, protocol, source_port)?;
    if transport == Stream::TcpFastOpen {
        return fast_open(context, &stream, to);
    }
    finish_connecting(context, &stream, to)?;
    answer::say_and_hear(context, stream)
}

/// `Attempt::Socket`: makes it and closes it again.
pub fn make_socket(family: i64, kind: i32, protocol: i32) -> Attempted {
    socket::socket_of_wide_family(family, kind, protocol).map_err(refused("socket"))?;
    Ok(found(Facts::SocketMade))
}

/// A TCP connection, not blocking.
pub fn tcp(context: &Context<'_>, to: SocketAddr) -> Result<OwnedFd, Stop> {
    let stream = new_stream(context, to, libc::SOCK_STREAM, libc::IPPROTO_TCP, None)?;
    finish_connecting(context, &stream, to)?;
    Ok(stream)
}

fn new_stream(
    context: &Context<'_>,
    to: SocketAddr,
    kind: i32,
    protocol: i32,
    source_port: Option<u16>,
) -> Result<OwnedFd, Stop> {
    context.step("socket");
    let family = socket::family_of(to.ip());
    let stream = socket::socket(family, kind | libc::SOCK_NONBLOCK, protocol).map_err(refused("socket"))?;
    bind_source(&stream, to, source_port)?;
    Ok(stream)
}

/// Binds the source port that the attempt asks for, if it asks for one.
pub fn bind_source(socket: impl AsFd, to: SocketAddr, port: Option<u16>) -> Result<(), Stop> {
    let Some(port) = port else { return Ok(()) };
    let any: IpAddr = if to.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    socket::set_flag(&socket, libc::SOL_SOCKET, libc::SO_REUSEADDR).map_err(refused("setsockopt"))?;
    socket::bind(&socket, &SocketAddr::new(any, port).into()).map_err(refused("bind"))
}

fn finish_connecting(context: &Context<'_>, stream: &OwnedFd, to: SocketAddr) -> Result<(), Stop> {
    context.step("connect");
    match socket::connect(stream, &Address::from(to)) {
        Ok(()) => {}
        Err(error) if is_in_progress(&error) => wait_connected(context, stream)?,
        Err(error) => return Err(refused("connect")(error)),
    }
    refuse_own_echo(stream)
}

/// Waits until a connect in progress has succeeded.
pub fn wait_connected(context: &Context<'_>, stream: &OwnedFd) -> Result<(), Stop> {
    poll::wait(stream, poll::WRITE, context.until).map_err(refused("poll"))?.ok_or_else(|| timed_out("connect"))?;
    socket::pending_error(stream).map_err(refused("connect"))
}

pub fn is_in_progress(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINPROGRESS | libc::EINTR))
}

/// A TCP socket that happened to take the very port that it connects to is connected to itself: nobody listens there.
fn refuse_own_echo(stream: &OwnedFd) -> Result<(), Stop> {
    if is_connected_to_itself(stream) { Err(Stop::Refused("connect", libc::ECONNREFUSED)) } else { Ok(()) }
}

pub fn is_connected_to_itself(stream: &OwnedFd) -> bool {
    let ends = socket::local_address(stream).ok().zip(socket::peer_address(stream).ok());
    ends.and_then(|(local, peer)| local.to_socket_addr().zip(peer.to_socket_addr()))
        .is_some_and(|(local, peer)| local == peer)
}

/// TCP whose SYN carries the payload: without a cookie from an earlier connection it travels behind the handshake.
fn fast_open(context: &Context<'_>, stream: &OwnedFd, to: SocketAddr) -> Attempted {
    let payload = format!("{}\n", context.payload());
    context.step("connect");
    match socket::send(stream, payload.as_bytes(), libc::MSG_FASTOPEN, Some(&to.into())) {
        Ok(_) => {
            wait_connected(context, stream)?;
            answer::hear(context, stream, context.until)
        }
        Err(error) if is_in_progress(&error) => {
            wait_connected(context, stream)?;
            refuse_own_echo(stream)?;
            answer::say_and_hear(context, stream)
        }
        Err(error) => Err(refused("sendto")(error)),
    }
}

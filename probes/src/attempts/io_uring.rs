//! TCP through io_uring's own socket, connect, send and receive.

use std::net::SocketAddr;

use super::net;
use crate::{
    context::{Attempted, Context, Stop, heard, refused, silent, timed_out},
    sys::{self, socket, uring::Ring},
};

/// `Attempt::Connect` over `Stream::IoUring`.
pub fn connect(context: &Context<'_>, to: SocketAddr, source_port: Option<u16>) -> Attempted {
    context.step("io_uring_setup");
    let mut ring = Ring::new().map_err(|(call, error)| Stop::Refused(call, sys::errno(&error)))?;
    context.step("socket");
    let stream = ring
        .socket(socket::family_of(to.ip()), libc::SOCK_STREAM | libc::SOCK_CLOEXEC, libc::IPPROTO_TCP)
        .map_err(refused("io_uring socket"))?;
    net::bind_source(&stream, to, source_port)?;
    context.step("connect");
    ring.connect(&stream, to.into(), context.until)
        .map_err(refused("io_uring connect"))?
        .ok_or_else(|| timed_out("connect"))?;
    if net::is_connected_to_itself(&stream) {
        return Err(Stop::Refused("io_uring connect", libc::ECONNREFUSED));
    }
    context.step("send");
    let payload = format!("{}\n", context.payload());
    ring.send(&stream, payload.as_bytes(), context.until)
        .map_err(refused("io_uring send"))?
        .ok_or_else(|| timed_out("send"))?;
    context.step("recv");
    match ring.receive(&stream, 256, context.until).map_err(refused("io_uring recv"))? {
        Some(bytes) if !bytes.is_empty() => Ok(heard(&bytes)),
        Some(_) | None => Ok(silent("recv")),
    }
}

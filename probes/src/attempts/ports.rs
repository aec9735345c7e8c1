//! Which ports of a loopback address accept a connection: one blocking connect each, answered by the kernel at once.

use std::{
    net::{IpAddr, SocketAddr, TcpListener},
    os::fd::OwnedFd,
};

use super::net;
use crate::{
    context::{Attempted, Context, Stop, found, refused},
    observation::Facts,
    sys::{
        self,
        socket::{self, Address},
    },
};

/// How long one connect may block where something drops what is sent.
const EACH_MILLIS: u32 = 100;
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
    let mut open = Vec::new();
    let mut tried = 0;
    let mut sockets = Sockets { spare: None, connect_again: true };
    for port in from..=to {
        if port % NOTE_EVERY == 0 || tried == 0 {
            context.step(&format!("port {port}"));
        }
        if is_open(SocketAddr::new(of, port), &mut sockets)? {
            open.push(port);
        }
        tried += 1;
    }
    Ok(found(Facts::Ports { open, tried, known }))
}

/// Linux lets a socket whose connect was refused connect again, which saves making one for every port. Other kernels (gVisor)
/// answer ECONNABORTED, and get one for every port.
struct Sockets {
    spare: Option<OwnedFd>,
    connect_again: bool,
}

fn is_open(to: SocketAddr, sockets: &mut Sockets) -> Result<bool, Stop> {
    let address = Address::from(to);
    // A socket that took this very port as its own is connected to itself; the next one takes another.
    for _ in 0..4 {
        let spare = sockets.spare.take();
        let used = spare.is_some();
        let stream = match spare {
            Some(stream) => stream,
            None => new_stream(to.ip())?,
        };
        match socket::connect(&stream, &address) {
            Ok(()) if net::is_connected_to_itself(&stream) => {
                socket::linger_zero(&stream).map_err(refused("setsockopt"))?
            }
            Ok(()) => return Ok(true),
            Err(error) => match sys::errno(&error) {
                libc::ECONNREFUSED => {
                    sockets.spare = Some(stream).filter(|_| sockets.connect_again);
                    return Ok(false);
                }
                libc::ECONNABORTED if used => sockets.connect_again = false,
                // Nobody answered.
                libc::EINPROGRESS | libc::ETIMEDOUT | libc::ECONNRESET => return Ok(false),
                _ => return Err(refused("connect")(error)),
            },
        }
    }
    Ok(false)
}

fn new_stream(of: IpAddr) -> Result<OwnedFd, Stop> {
    let stream =
        socket::socket(socket::family_of(of), libc::SOCK_STREAM, libc::IPPROTO_TCP).map_err(refused("socket"))?;
    socket::limit_sending(&stream, EACH_MILLIS).map_err(refused("setsockopt"))?;
    Ok(stream)
}

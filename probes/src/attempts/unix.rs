//! Unix sockets, by path or abstract name, and the descriptors that their peers hand over.

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    time::Instant,
};

use super::answer;
use crate::{
    context::{Attempted, Context, Stop, found, heard, refused, silent},
    observation::Facts,
    plan::{UnixAddress, UnixKind},
    sys::{
        poll,
        socket::{self, Address},
    },
};

/// `Attempt::Unix`.
pub fn connect(context: &Context<'_>, address: &UnixAddress, kind: UnixKind) -> Attempted {
    context.step("socket");
    let socket_kind = match kind {
        UnixKind::Stream => libc::SOCK_STREAM,
        UnixKind::Datagram => libc::SOCK_DGRAM,
        UnixKind::Seqpacket => libc::SOCK_SEQPACKET,
    };
    let peer = socket::socket(libc::AF_UNIX, socket_kind | libc::SOCK_NONBLOCK, 0).map_err(refused("socket"))?;
    if kind == UnixKind::Datagram {
        // So that the peer can answer; where no name is to be had, it cannot.
        socket::bind_anywhere(&peer).unwrap_or(());
    }
    context.step("connect");
    socket::connect(&peer, &named(address)?).map_err(refused("connect"))?;
    let sent = answer::send_all(context, &peer, format!("{}\n", context.payload()).as_bytes());
    let until = if kind == UnixKind::Datagram { context.answer_until() } else { context.until };
    answer::heard_unless_unsent(sent, hear_with_descriptors(context, &peer, until))
}

/// A connected stream, not blocking.
pub fn stream(context: &Context<'_>, address: &UnixAddress) -> Result<OwnedFd, Stop> {
    context.step("connect");
    let peer = socket::socket(libc::AF_UNIX, libc::SOCK_STREAM | libc::SOCK_NONBLOCK, 0).map_err(refused("socket"))?;
    socket::connect(&peer, &named(address)?).map_err(refused("connect"))?;
    Ok(peer)
}

/// The kernel's form of an address.
fn named(address: &UnixAddress) -> Result<Address, Stop> {
    let name = match address {
        UnixAddress::Path(path) => path.as_bytes().to_vec(),
        UnixAddress::Abstract(name) => [b"\0", name.as_bytes()].concat(),
    };
    Address::unix(&name).ok_or_else(|| Stop::Broken("the name of a Unix socket is 1 to 107 bytes long".into()))
}

fn hear_with_descriptors(context: &Context<'_>, peer: &OwnedFd, until: Instant) -> Attempted {
    context.step("recvmsg");
    let mut heard_bytes = Vec::new();
    let mut handed_over = Vec::new();
    while heard_bytes.len() < 256 && !heard_bytes.contains(&b'\n') {
        let mut buffer = [0; 256];
        match receive(peer, &mut buffer, until) {
            Ok(None) => break,
            Ok(Some((read, descriptors))) => {
                handed_over.extend(descriptors);
                heard_bytes.extend(&buffer[..read]);
                if read == 0 {
                    break;
                }
            }
            Err(_) if !heard_bytes.is_empty() || !handed_over.is_empty() => break,
            Err(error) => return Err(refused("recvmsg")(error)),
        }
    }
    if !handed_over.is_empty() {
        Ok(found(Facts::DescriptorsReceived { count: handed_over.len() as u32 }))
    } else if heard_bytes.is_empty() {
        Ok(silent("recvmsg"))
    } else {
        Ok(heard(&heard_bytes))
    }
}

fn receive(peer: &OwnedFd, buffer: &mut [u8], until: Instant) -> io::Result<Option<(usize, Vec<OwnedFd>)>> {
    loop {
        match socket::receive_with_descriptors(peer, buffer) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if poll::wait(peer.as_fd(), poll::READ, until)?.is_none() {
                    return Ok(None);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            received => return received.map(Some),
        }
    }
}

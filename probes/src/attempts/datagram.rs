//! Single datagrams, by every system call that sends one.

use std::{
    net::SocketAddr,
    os::fd::OwnedFd,
    time::{Duration, Instant},
};

use super::{
    answer::{self, Received},
    dns, net,
};
use crate::{
    context::{Attempted, Context, Stop, heard, refused, silent},
    plan::{Datagram, DnsQuery, SendCall},
    sys::{
        descriptors,
        socket::{self, Address},
    },
};

const IPPROTO_UDPLITE: i32 = 136;
/// How long errors of a datagram to a group are waited for.
const GROUP_ERRORS: Duration = Duration::from_millis(20);

/// `Attempt::Send`.
pub fn send(
    context: &Context<'_>,
    transport: Datagram,
    to: SocketAddr,
    call: SendCall,
    source_port: Option<u16>,
    query: Option<&DnsQuery>,
) -> Attempted {
    let protocol = match transport {
        Datagram::Udp => libc::IPPROTO_UDP,
        Datagram::UdpLite => IPPROTO_UDPLITE,
    };
    context.step("socket");
    let family = socket::family_of(to.ip());
    let socket = socket::socket(family, libc::SOCK_DGRAM | libc::SOCK_NONBLOCK, protocol).map_err(refused("socket"))?;
    allow_every_destination(&socket, to);
    net::bind_source(&socket, to, source_port)?;
    let payload = match query {
        Some(query) => dns::question(context, query)?,
        None => context.payload().into_bytes(),
    };
    send_by(context, &socket, &payload, to, call)?;
    // Nobody has to answer a group, so that only errors are waited for, which come at once.
    let until = context.answer_until();
    let until = if to.ip().is_multicast() { until.min(Instant::now() + GROUP_ERRORS) } else { until };
    hear_datagram(context, &socket, until)
}

/// Broadcast destinations; and ICMP errors also for a socket that is not connected. Where these cannot be had, less is heard.
fn allow_every_destination(socket: &OwnedFd, to: SocketAddr) {
    let wanted = if to.is_ipv4() {
        [(libc::SOL_SOCKET, libc::SO_BROADCAST), (libc::IPPROTO_IP, libc::IP_RECVERR)]
    } else {
        [(libc::SOL_SOCKET, libc::SO_BROADCAST), (libc::IPPROTO_IPV6, libc::IPV6_RECVERR)]
    };
    for (level, name) in wanted {
        socket::set_flag(socket, level, name).unwrap_or(());
    }
}

fn send_by(
    context: &Context<'_>,
    socket: &OwnedFd,
    payload: &[u8],
    to: SocketAddr,
    call: SendCall,
) -> Result<(), Stop> {
    use std::os::fd::AsFd;
    let address = Address::from(to);
    context.step("send");
    match call {
        SendCall::SendTo => socket::send(socket, payload, 0, Some(&address)).map(drop).map_err(refused("sendto")),
        SendCall::SendMsg => socket::send_message(socket, payload, &address, false).map_err(refused("sendmsg")),
        SendCall::SendMmsg => socket::send_message(socket, payload, &address, true).map_err(refused("sendmmsg")),
        SendCall::Write => {
            socket::connect(socket, &address).map_err(refused("connect"))?;
            descriptors::write(socket.as_fd(), payload).map(drop).map_err(refused("write"))
        }
    }
}

/// One datagram back, if it comes soon.
fn hear_datagram(context: &Context<'_>, socket: &OwnedFd, until: Instant) -> Attempted {
    context.step("recv");
    let mut buffer = [0; 2048];
    match answer::receive(socket, &mut buffer, until).map_err(refused("recv"))? {
        Received::Bytes(read) => Ok(heard(&buffer[..read])),
        Received::End | Received::Late => Ok(silent("recv")),
    }
}

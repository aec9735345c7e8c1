//! Packets and frames that no transport makes: ICMP echo, raw IP, Ethernet.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    os::fd::{AsFd, OwnedFd},
    time::Instant,
};

use super::{
    answer::{self, Received},
    network,
};
use crate::{
    context::{Attempted, Context, Stop, heard, refused, silent},
    sys::socket::{self, Address},
};

/// Which socket carries the echo request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PingSocket {
    /// `SOCK_DGRAM` of ICMP, which `net.ipv4.ping_group_range` allows.
    Ping,
    /// `SOCK_RAW`, which takes `CAP_NET_RAW`.
    Raw,
}

const IPPROTO_ICMPV6: i32 = 58;
/// IEEE 802 local experimental ethertype 1.
const ETHERTYPE: u16 = 0x88b5;
/// Links to try where netlink does not list them.
const GUESSED_LINKS: u32 = 8;

/// `Attempt::Ping`.
pub fn ping(context: &Context<'_>, to: IpAddr, over: PingSocket) -> Attempted {
    let protocol = if to.is_ipv4() { libc::IPPROTO_ICMP } else { IPPROTO_ICMPV6 };
    let kind = match over {
        PingSocket::Ping => libc::SOCK_DGRAM,
        PingSocket::Raw => libc::SOCK_RAW,
    };
    context.step("socket");
    let socket =
        socket::socket(socket::family_of(to), kind | libc::SOCK_NONBLOCK, protocol).map_err(refused("socket"))?;
    let address = Address::from(SocketAddr::new(to, 0));
    context.step("connect");
    socket::connect(&socket, &address).map_err(refused("connect"))?;
    context.step("send");
    socket::send(&socket, &echo_request(to, context.payload().as_bytes()), 0, None).map_err(refused("send"))?;
    hear_reply(context, &socket, to, over)
}

/// Type, code, checksum, identifier, sequence number, data (RFC 792). ICMPv6 is summed by the kernel.
fn echo_request(to: IpAddr, data: &[u8]) -> Vec<u8> {
    let request_type = if to.is_ipv4() { 8 } else { 128 };
    let mut message = vec![request_type, 0, 0, 0, 0x77, 0x74, 0, 1];
    message.extend(data);
    if to.is_ipv4() {
        let sum = internet_checksum(&message);
        message[2..4].copy_from_slice(&sum.to_be_bytes());
    }
    message
}

fn hear_reply(context: &Context<'_>, socket: &OwnedFd, to: IpAddr, over: PingSocket) -> Attempted {
    context.step("recv");
    let until: Instant = context.answer_until();
    let (reply_type, head) = match (to, over) {
        (IpAddr::V4(_), PingSocket::Raw) => (0, 20),
        (IpAddr::V4(_), PingSocket::Ping) => (0, 0),
        (IpAddr::V6(_), _) => (129, 0),
    };
    let mut buffer = [0; 2048];
    loop {
        match answer::receive(socket, &mut buffer, until).map_err(refused("recv"))? {
            // A raw socket also hears requests that arrive here, its own to loopback among them, and replies to others.
            Received::Bytes(read) => {
                let message = buffer[..read].get(head..).unwrap_or(&[]);
                let is_ours = over == PingSocket::Ping || message.ends_with(context.payload().as_bytes());
                if message.first() == Some(&reply_type) && message.len() > 8 && is_ours {
                    return Ok(heard(&message[8..]));
                }
            }
            Received::End | Received::Late => return Ok(silent("recv")),
        }
    }
}

/// `Attempt::RawIp`: sent, and no answer waited for.
pub fn packet(context: &Context<'_>, to: IpAddr, protocol: u8) -> Attempted {
    context.step("socket");
    let socket = socket::socket(socket::family_of(to), libc::SOCK_RAW, protocol.into()).map_err(refused("socket"))?;
    let mut packet = context.payload().into_bytes();
    // Protocol 255 means that the head comes from us (raw(7)).
    if let (IpAddr::V4(to), libc::IPPROTO_RAW) = (to, i32::from(protocol)) {
        packet = [&ipv4_head(to, packet.len())[..], &packet].concat();
    }
    context.step("sendto");
    socket::send(&socket, &packet, 0, Some(&SocketAddr::new(to, 0).into())).map_err(refused("sendto"))?;
    Ok(silent("sent"))
}

/// A head with protocol 253, for experiments (RFC 3692). The kernel fills in source, length and checksum.
fn ipv4_head(to: Ipv4Addr, data: usize) -> [u8; 20] {
    let mut head = [0; 20];
    head[0] = 0x45;
    head[2..4].copy_from_slice(&((data + 20) as u16).to_be_bytes());
    head[8] = 64;
    head[9] = 253;
    head[16..].copy_from_slice(&to.octets());
    head
}

/// `Attempt::Frame`: to every link. Refused where no link took it.
pub fn frames(context: &Context<'_>) -> Attempted {
    context.step("socket");
    // Protocol 0: a socket that sends and hears nothing.
    let socket = socket::socket(libc::AF_PACKET, libc::SOCK_RAW, 0).map_err(refused("socket"))?;
    let links = network::link_indexes(context).unwrap_or_else(|_| (1..=GUESSED_LINKS).collect());
    context.step("sendto");
    let mut first_refusal = Stop::Refused("sendto", libc::ENODEV);
    let mut took = 0;
    for index in links {
        match send_frame(context, &socket, index) {
            Ok(()) => took += 1,
            Err(error) if took == 0 => first_refusal = refused("sendto")(error),
            Err(_) => {}
        }
    }
    if took == 0 { Err(first_refusal) } else { Ok(silent(&format!("sent on {took} links"))) }
}

/// One frame to every station of a link.
pub fn send_frame(context: &Context<'_>, socket: impl AsFd, link: u32) -> std::io::Result<()> {
    let mut frame = vec![0xff; 6];
    frame.extend([2, 0x77, 0x74, 0, 0, 1]);
    frame.extend(ETHERTYPE.to_be_bytes());
    frame.extend(context.payload().as_bytes());
    frame.resize(frame.len().max(60), 0);
    socket::send(socket, &frame, libc::MSG_DONTWAIT, Some(&Address::link_broadcast(link, ETHERTYPE))).map(drop)
}

/// RFC 1071.
fn internet_checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)));
    let sum: u32 = words.sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_with_its_checksum_sums_to_zero() {
        for data in [&b"wt:even"[..], b"wt:odd"] {
            let message = echo_request(Ipv4Addr::LOCALHOST.into(), data);
            assert_ne!(message[2..4], [0, 0]);
            assert_eq!(internet_checksum(&message), 0);
        }
    }
}

//! What an IP packet asks for, read from bytes that anybody may have sent.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An IP packet.
#[derive(Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    pub from: IpAddr,
    pub to: IpAddr,
    pub asks: Asks<'a>,
    /// With its header.
    pub whole: &'a [u8],
}

/// What is done again outside, or answered.
#[derive(Debug, PartialEq, Eq)]
pub enum Asks<'a> {
    /// A TCP connection.
    Connection {
        from: u16,
        to: u16,
        sequence: u32,
        mptcp: bool,
    },
    Datagram {
        to: u16,
        payload: &'a [u8],
    },
    /// An ICMP or ICMPv6 echo; the whole message.
    Echo {
        message: &'a [u8],
    },
    /// Another protocol.
    Other {
        payload: &'a [u8],
    },
    /// Later segments, reports of group members, solicitations of routers: neither carried nor answered.
    Nothing,
}

const IPV4_HEADER: usize = 20;
const IPV6_HEADER: usize = 40;
const TCP_HEADER: usize = 20;
const UDP_HEADER: usize = 8;
const ICMP_HEADER: usize = 8;
const IGMP: u8 = 2;
/// Hop-by-hop options, routing, fragment and destination options (RFC 8200): no attempt of the suite needs them.
const EXTENSIONS: [u8; 4] = [0, 43, 44, 60];
const ICMPV4_ECHO: u8 = 8;
const ICMPV6_ECHO: u8 = 128;
const TCP_FLAGS: u8 = SYN | ACK | RST;
pub const SYN: u8 = 0x02;
pub const RST: u8 = 0x04;
pub const ACK: u8 = 0x10;
const MPTCP_OPTION: u8 = 30;

pub const TCP: u8 = 6;
pub const UDP: u8 = 17;
pub const ICMPV4: u8 = 1;
pub const ICMPV6: u8 = 58;

/// Reads a packet; `None` where it is cut short or no IP.
pub fn read(whole: &[u8]) -> Option<Packet<'_>> {
    match whole.first()? >> 4 {
        4 => read_v4(whole),
        6 => read_v6(whole),
        _ => None,
    }
}

fn read_v4(whole: &[u8]) -> Option<Packet<'_>> {
    let header = whole.get(..IPV4_HEADER)?;
    let length = usize::from(header[0] & 0x0f) * 4;
    let total = usize::from(u16::from_be_bytes([header[2], header[3]]));
    let body = whole.get(length.max(IPV4_HEADER)..total)?;
    let later_fragment = u16::from_be_bytes([header[6], header[7]]) & 0x1fff != 0;
    let asks = if later_fragment { Asks::Nothing } else { asked(header[9], body)? };
    let address = |at: usize| Some(Ipv4Addr::from(*header.get(at..)?.first_chunk::<4>()?).into());
    Some(Packet { from: address(12)?, to: address(16)?, asks, whole: &whole[..total] })
}

fn read_v6(whole: &[u8]) -> Option<Packet<'_>> {
    let header = whole.get(..IPV6_HEADER)?;
    let total = IPV6_HEADER + usize::from(u16::from_be_bytes([header[4], header[5]]));
    let body = whole.get(IPV6_HEADER..total)?;
    let asks = if EXTENSIONS.contains(&header[6]) { Asks::Nothing } else { asked(header[6], body)? };
    let address = |at: usize| Some(Ipv6Addr::from(*header.get(at..)?.first_chunk::<16>()?).into());
    Some(Packet { from: address(8)?, to: address(24)?, asks, whole: &whole[..total] })
}

fn asked(protocol: u8, body: &[u8]) -> Option<Asks<'_>> {
    Some(match protocol {
        TCP => connection(body)?,
        UDP => Asks::Datagram { to: port(body, 2)?, payload: body.get(UDP_HEADER..)? },
        ICMPV4 | ICMPV6 => {
            let request = if protocol == ICMPV4 { ICMPV4_ECHO } else { ICMPV6_ECHO };
            let is_echo = *body.get(..ICMP_HEADER)?.first()? == request;
            if is_echo { Asks::Echo { message: body } } else { Asks::Nothing }
        }
        IGMP => Asks::Nothing,
        _ => Asks::Other { payload: body },
    })
}

fn connection(segment: &[u8]) -> Option<Asks<'_>> {
    let header = segment.get(..TCP_HEADER)?;
    if header[13] & TCP_FLAGS != SYN {
        return Some(Asks::Nothing);
    }
    let options = segment.get(TCP_HEADER..usize::from(header[12] >> 4) * 4)?;
    let sequence = u32::from_be_bytes([header[4], header[5], header[6], header[7]]);
    let mptcp = has_option(options, MPTCP_OPTION);
    Some(Asks::Connection { from: port(header, 0)?, to: port(header, 2)?, sequence, mptcp })
}

/// Options are one byte that ends them (0) or fills (1), or kind, length of both and more, and data.
fn has_option(mut options: &[u8], wanted: u8) -> bool {
    loop {
        match *options {
            [kind, ..] if kind == wanted => return true,
            [1, ref rest @ ..] => options = rest,
            [kind, length, ..] if kind != 0 && length >= 2 => {
                options = options.get(usize::from(length)..).unwrap_or_default();
            }
            _ => return false,
        }
    }
}

fn port(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A packet of this protocol between addresses that stand for nothing.
    pub fn v4(protocol: u8, body: &[u8]) -> Vec<u8> {
        let total = (IPV4_HEADER + body.len()) as u16;
        let mut packet = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, protocol, 0, 0, 192, 0, 2, 7, 9, 0, 0, 1];
        packet[2..4].copy_from_slice(&total.to_be_bytes());
        packet.extend(body);
        packet
    }

    pub fn v6(protocol: u8, body: &[u8]) -> Vec<u8> {
        let mut packet = vec![0x60, 0, 0, 0, 0, 0, protocol, 64];
        packet[4..6].copy_from_slice(&(body.len() as u16).to_be_bytes());
        packet.extend("2001:db8:7::1".parse::<Ipv6Addr>().expect("an address").octets());
        packet.extend("2620:fe::1".parse::<Ipv6Addr>().expect("an address").octets());
        packet.extend(body);
        packet
    }

    /// A SYN from port 4000 to port 443 with sequence number 7.
    pub fn syn(options: &[u8]) -> Vec<u8> {
        let offset = ((TCP_HEADER + options.len()) / 4) as u8;
        let mut segment = vec![0x0f, 0xa0, 1, 0xbb, 0, 0, 0, 7, 0, 0, 0, 0, offset << 4, SYN, 0, 0, 0, 0, 0, 0];
        segment.extend(options);
        segment
    }

    fn asks_of(packet: &[u8]) -> Option<Asks<'_>> {
        read(packet).map(|packet| packet.asks)
    }

    #[test]
    fn a_syn_asks_for_a_connection_in_both_families() {
        let expected = Some(Asks::Connection { from: 4000, to: 443, sequence: 7, mptcp: false });
        assert_eq!(asks_of(&v4(TCP, &syn(&[2, 4, 5, 0xb4]))), expected);
        assert_eq!(asks_of(&v6(TCP, &syn(&[]))), expected);
    }

    #[test]
    fn multipath_tcp_is_told_by_its_option() {
        let packet = v4(TCP, &syn(&[1, 2, 4, 5, 0xb4, 30, 4, 1, 0, 0, 0, 0]));
        assert!(matches!(asks_of(&packet), Some(Asks::Connection { mptcp: true, .. })));
        // An end of options before it, and options that are cut or have no length.
        for options in [[0, 30, 4, 1], [2, 30, 1, 1], [2, 0, 30, 4], [1, 1, 1, 2]] {
            let packet = v4(TCP, &syn(&options));
            assert!(matches!(asks_of(&packet), Some(Asks::Connection { mptcp: false, .. })), "{options:?}");
        }
    }

    #[test]
    fn answers_and_later_segments_ask_for_nothing() {
        for flags in [ACK, SYN | ACK, RST, SYN | RST] {
            let mut segment = syn(&[]);
            segment[13] = flags;
            assert_eq!(asks_of(&v4(TCP, &segment)), Some(Asks::Nothing));
        }
    }

    #[test]
    fn datagrams_echoes_and_other_protocols_are_told_apart() {
        let udp = [0, 1, 0, 53, 0, 11, 0, 0, b'a', b'b', b'c'];
        assert_eq!(asks_of(&v4(UDP, &udp)), Some(Asks::Datagram { to: 53, payload: b"abc" }));
        let echo = [8, 0, 0, 0, 0, 0, 0, 1, b'x'];
        assert_eq!(asks_of(&v4(ICMPV4, &echo)), Some(Asks::Echo { message: &echo }));
        let echo = [128, 0, 0, 0, 0, 0, 0, 1];
        assert_eq!(asks_of(&v6(ICMPV6, &echo)), Some(Asks::Echo { message: &echo }));
        assert_eq!(asks_of(&v6(132, b"sctp")), Some(Asks::Other { payload: b"sctp" }));
    }

    #[test]
    fn chatter_of_the_kernel_asks_for_nothing() {
        let solicitation = [133, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(asks_of(&v6(ICMPV6, &solicitation)), Some(Asks::Nothing));
        assert_eq!(asks_of(&v6(0, &[58, 0, 5, 2, 0, 0, 1, 0])), Some(Asks::Nothing));
        assert_eq!(asks_of(&v4(IGMP, &[0x16])), Some(Asks::Nothing));
        let mut fragment = v4(UDP, b"later part");
        fragment[7] = 1;
        assert_eq!(asks_of(&fragment), Some(Asks::Nothing));
    }

    #[test]
    fn no_cut_packet_and_no_flipped_bit_makes_the_reader_panic() {
        let (option, body) = ([1, 30, 2, 1], [8; 9]);
        for packet in [v4(TCP, &syn(&option)), v6(TCP, &syn(&option)), v4(UDP, &body), v6(ICMPV6, &body), v4(1, &body)]
        {
            for length in 0..packet.len() {
                assert_eq!(read(&packet[..length]), None, "cut to {length}");
            }
            for bit in 0..packet.len() * 8 {
                let mut packet = packet.clone();
                packet[bit / 8] ^= 1 << (bit % 8);
                read(&packet);
            }
        }
    }
}

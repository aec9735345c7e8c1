//! What comes back inside at once, so that no attempt waits for its deadline: resets, and ICMP's "prohibited".

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::packet::{ACK, Asks, ICMPV4, ICMPV6, Packet, RST, TCP};

/// Destination unreachable, communication administratively prohibited (RFC 1812, RFC 4443).
const PROHIBITED_V4: [u8; 2] = [3, 13];
const PROHIBITED_V6: [u8; 2] = [1, 1];
/// Bytes of the packet that an ICMP error carries: within 576 (RFC 1812) with both headers.
const QUOTED: usize = 500;
const HOPS: u8 = 64;

/// The answer to a packet that was not let through, if it gets one.
pub fn refusal(packet: &Packet<'_>) -> Option<Vec<u8>> {
    match packet.asks {
        // No error is sent in answer to what went to a group (RFC 1122).
        _ if packet.to.is_multicast() => None,
        Asks::Connection { .. } => reset(packet),
        Asks::Datagram { .. } | Asks::Echo { .. } | Asks::Other { .. } => prohibited(packet),
        Asks::Nothing => None,
    }
}

/// The reset that refuses a connection.
pub fn reset(packet: &Packet<'_>) -> Option<Vec<u8>> {
    let Asks::Connection { from, to, sequence, .. } = packet.asks else { return None };
    let mut segment = vec![];
    segment.extend(to.to_be_bytes());
    segment.extend(from.to_be_bytes());
    segment.extend(0u32.to_be_bytes());
    segment.extend(sequence.wrapping_add(1).to_be_bytes());
    // Five words of header, no window, room for the checksum, no urgent data.
    segment.extend([5 << 4, RST | ACK, 0, 0, 0, 0, 0, 0]);
    back(packet, TCP, segment, 16)
}

fn prohibited(packet: &Packet<'_>) -> Option<Vec<u8>> {
    let (protocol, [kind, code]) = if packet.to.is_ipv4() { (ICMPV4, PROHIBITED_V4) } else { (ICMPV6, PROHIBITED_V6) };
    let mut message = vec![kind, code, 0, 0, 0, 0, 0, 0];
    message.extend(packet.whole.iter().take(QUOTED));
    back(packet, protocol, message, 2)
}

/// A packet back to the sender of this one. The body's checksum belongs at `sum_at`, where it has zeros.
fn back(packet: &Packet<'_>, protocol: u8, mut body: Vec<u8>, sum_at: usize) -> Option<Vec<u8>> {
    let length = u16::try_from(body.len()).ok()?;
    let (header, pseudo) = match (packet.to, packet.from) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            (header_v4(from, to, protocol, length), pseudo_v4(from, to, protocol, length))
        }
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            (header_v6(from, to, protocol, length), pseudo_v6(from, to, protocol, length))
        }
        _ => return None,
    };
    // ICMP for IPv4 alone is summed without the addresses.
    let pseudo = if protocol == ICMPV4 { vec![] } else { pseudo };
    let sum = checksum(&[&pseudo[..], &body].concat());
    body.get_mut(sum_at..sum_at + 2)?.copy_from_slice(&sum.to_be_bytes());
    Some([header, body].concat())
}

fn header_v4(from: Ipv4Addr, to: Ipv4Addr, protocol: u8, length: u16) -> Vec<u8> {
    let mut header = vec![0x45, 0, 0, 0, 0, 0, 0, 0, HOPS, protocol, 0, 0];
    header[2..4].copy_from_slice(&length.saturating_add(20).to_be_bytes());
    header.extend(from.octets());
    header.extend(to.octets());
    let sum = checksum(&header);
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    header
}

fn header_v6(from: Ipv6Addr, to: Ipv6Addr, protocol: u8, length: u16) -> Vec<u8> {
    let mut header = vec![0x60, 0, 0, 0, 0, 0, protocol, HOPS];
    header[4..6].copy_from_slice(&length.to_be_bytes());
    header.extend(from.octets());
    header.extend(to.octets());
    header
}

fn pseudo_v4(from: Ipv4Addr, to: Ipv4Addr, protocol: u8, length: u16) -> Vec<u8> {
    [&from.octets()[..], &to.octets(), &[0, protocol], &length.to_be_bytes()].concat()
}

fn pseudo_v6(from: Ipv6Addr, to: Ipv6Addr, protocol: u8, length: u16) -> Vec<u8> {
    [&from.octets()[..], &to.octets(), &u32::from(length).to_be_bytes(), &[0, 0, 0, protocol]].concat()
}

/// RFC 1071.
fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)));
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::way::packet::{read, tests as made};

    /// The sum over a packet's upper layer with its checksum is zero.
    fn assert_sums(answer: &[u8]) {
        let (header, body) = answer.split_at(if answer[0] >> 4 == 4 { 20 } else { 40 });
        let protocol = if header.len() == 20 { header[9] } else { header[6] };
        let length = body.len() as u16;
        let packet = read(answer).expect("an answer is a packet");
        let pseudo = match (packet.from, packet.to) {
            (IpAddr::V4(from), IpAddr::V4(to)) => {
                assert_eq!(checksum(header), 0);
                pseudo_v4(from, to, protocol, length)
            }
            (IpAddr::V6(from), IpAddr::V6(to)) => pseudo_v6(from, to, protocol, length),
            _ => panic!("families differ"),
        };
        let pseudo = if protocol == ICMPV4 { vec![] } else { pseudo };
        assert_eq!(checksum(&[&pseudo[..], body].concat()), 0);
    }

    #[test]
    fn a_syn_is_reset_by_whom_it_was_sent_to() {
        for whole in [made::v4(TCP, &made::syn(&[])), made::v6(TCP, &made::syn(&[]))] {
            let packet = read(&whole).expect("a packet");
            let answer = refusal(&packet).expect("an answer");
            let back = read(&answer).expect("a packet");
            assert_eq!((back.from, back.to, back.asks), (packet.to, packet.from, Asks::Nothing));
            let segment = &answer[answer.len() - 20..];
            assert_eq!(segment[..12], [1, 0xbb, 0x0f, 0xa0, 0, 0, 0, 0, 0, 0, 0, 8]);
            assert_eq!(segment[13], RST | ACK);
            assert_sums(&answer);
        }
    }

    #[test]
    fn what_is_no_connection_is_prohibited_and_quoted() {
        let udp = [0, 1, 0, 53, 0, 9, 0, 0, b'a'];
        for (whole, header, prohibited) in
            [(made::v4(17, &udp), 20, PROHIBITED_V4), (made::v6(17, &udp), 40, PROHIBITED_V6)]
        {
            let answer = refusal(&read(&whole).expect("a packet")).expect("an answer");
            assert_eq!(answer[header..header + 2], prohibited);
            assert_eq!(answer[header + 8..], whole);
            assert_sums(&answer);
        }
    }

    #[test]
    fn a_long_packet_is_quoted_in_part() {
        let whole = made::v4(17, &[0; 60_000]);
        let answer = refusal(&read(&whole).expect("a packet")).expect("an answer");
        assert!(answer.len() <= 576, "{}", answer.len());
        assert_sums(&answer);
    }

    #[test]
    fn groups_and_chatter_get_no_answer() {
        let mut group = made::v4(17, &[0; 8]);
        group[16..20].copy_from_slice(&[224, 0, 0, 251]);
        for whole in [group, made::v4(2, &[])] {
            assert_eq!(refusal(&read(&whole).expect("a packet")), None);
        }
    }

    #[test]
    fn a_sum_wraps_around() {
        // The example of RFC 1071, section 3.
        assert_eq!(checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
        assert_eq!(checksum(&[0xff; 3]), !0xff00);
    }
}

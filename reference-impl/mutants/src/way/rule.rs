//! Which packets a way out lets through.

use std::net::IpAddr;

use super::packet::{Asks, Packet};

/// What is let through: a packet of one of the protocols, to one of the ports, to one of the places.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    pub protocols: &'static [Protocol],
    /// None means every port.
    pub ports: &'static [u16],
    pub places: &'static [Prefix],
    /// Addresses in the places that are let alone.
    pub except: &'static [IpAddr],
    /// How many packets in all.
    pub first: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Without the option of multipath TCP.
    Tcp,
    Mptcp,
    Udp,
    Echo,
    /// Whatever is none of the others.
    Raw,
}

/// A range of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix(pub IpAddr, pub u8);

impl Rule {
    /// A rule for any number of packets, without exceptions.
    pub const fn new(protocols: &'static [Protocol], ports: &'static [u16], places: &'static [Prefix]) -> Self {
        Self { protocols, ports, places, except: &[], first: u32::MAX }
    }

    pub const fn except(mut self, addresses: &'static [IpAddr]) -> Self {
        self.except = addresses;
        self
    }

    pub const fn first(mut self, packets: u32) -> Self {
        self.first = packets;
        self
    }

    /// Whether this packet is let through, after so many others.
    pub fn lets_through(&self, packet: &Packet<'_>, passed: u32) -> bool {
        let (protocol, port) = match packet.asks {
            Asks::Connection { to, mptcp: false, .. } => (Protocol::Tcp, Some(to)),
            Asks::Connection { to, mptcp: true, .. } => (Protocol::Mptcp, Some(to)),
            Asks::Datagram { to, .. } => (Protocol::Udp, Some(to)),
            Asks::Echo { .. } => (Protocol::Echo, None),
            Asks::Other { .. } => (Protocol::Raw, None),
            Asks::Nothing => return false,
        };
        passed < self.first
            && self.protocols.contains(&protocol)
            && (self.ports.is_empty() || port.is_some_and(|port| self.ports.contains(&port)))
            && self.places.iter().any(|place| place.contains(packet.to))
            && !self.except.contains(&packet.to)
    }
}

impl Prefix {
    /// This address alone.
    pub fn only(address: IpAddr) -> Self {
        Self(address, if address.is_ipv4() { 32 } else { 128 })
    }

    pub fn contains(&self, address: IpAddr) -> bool {
        let Self(base, length) = *self;
        // A shift by the whole width means that no bit counts.
        let differ = match (base, address) {
            (IpAddr::V4(base), IpAddr::V4(address)) => {
                (base.to_bits() ^ address.to_bits()).checked_shr(32 - u32::from(length)).unwrap_or(0) != 0
            }
            (IpAddr::V6(base), IpAddr::V6(address)) => {
                (base.to_bits() ^ address.to_bits()).checked_shr(128 - u32::from(length)).unwrap_or(0) != 0
            }
            _ => true,
        };
        !differ
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::way::packet::{TCP, UDP, read, tests as made};

    const NINE: Prefix = Prefix(IpAddr::V4(std::net::Ipv4Addr::new(9, 0, 0, 0)), 8);
    const ITS_FIRST: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(9, 0, 0, 1));
    static HTTPS: Rule = Rule::new(&[Protocol::Tcp], &[443], &[NINE]);

    fn lets(rule: &Rule, whole: &[u8], passed: u32) -> bool {
        rule.lets_through(&read(whole).expect("a packet"), passed)
    }

    #[test]
    fn a_rule_looks_at_protocol_port_and_place() {
        assert!(lets(&HTTPS, &made::v4(TCP, &made::syn(&[])), 0));
        assert!(!lets(&HTTPS, &made::v4(TCP, &made::syn(&[30, 4, 0, 0])), 0));
        assert!(!lets(&HTTPS, &made::v6(TCP, &made::syn(&[])), 0));
        assert!(!lets(&HTTPS, &made::v4(UDP, &[0, 1, 1, 0xbb, 0, 8, 0, 0]), 0));
        let mut other_port = made::syn(&[]);
        other_port[3] = 0;
        assert!(!lets(&HTTPS, &made::v4(TCP, &other_port), 0));
    }

    #[test]
    fn exceptions_and_counts_hold() {
        let but_one = Rule::new(&[Protocol::Tcp], &[], &[NINE]).except(&[ITS_FIRST]);
        let twice = Rule::new(&[Protocol::Tcp], &[], &[NINE]).first(2);
        let packet = made::v4(TCP, &made::syn(&[]));
        assert!(!lets(&but_one, &packet, 0));
        assert_eq!([0, 1, 2].map(|passed| lets(&twice, &packet, passed)), [true, true, false]);
    }

    #[test]
    fn a_prefix_may_be_empty_or_whole() {
        for (place, inside, outside) in [("0.0.0.0/0", "255.0.0.1", "::"), ("10.1.2.3/32", "10.1.2.3", "10.1.2.2")] {
            let (base, length) = place.split_once('/').expect("a prefix");
            let prefix = Prefix(base.parse().expect("an address"), length.parse().expect("a length"));
            assert!(prefix.contains(inside.parse().expect("an address")), "{place}");
            assert!(!prefix.contains(outside.parse().expect("an address")), "{place}");
        }
    }
}

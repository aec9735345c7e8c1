//! Every mutant that leaves a way out, by slug, and what its way is.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::rule::{
    Prefix,
    Protocol::{Echo, Mptcp, Raw, Tcp, Udp},
    Rule,
};

/// A way out.
#[derive(Debug)]
pub enum Way {
    /// A link with a route to every place of the rule; what the rule lets through is done outside.
    Link(Rule),
    /// As [`Way::Link`] for port 53 of the resolver that the host's resolv.conf names.
    Resolver,
    /// Sockets inside that listen where these listen outside.
    Forward(Listeners),
}

/// Listeners outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listeners {
    /// On the host's loopback.
    TcpV4,
    TcpV6,
    /// All but port 53, in both families.
    Udp,
    /// Port 53 of UDP.
    Dns,
    /// Abstract Unix sockets of the host.
    Abstract,
    /// Port 80 of these addresses of the internet.
    Http([IpAddr; 2]),
}

// The test world's internet; then HOST, PROVIDER and INSTANCE of the harness's site/address.rs.
const V4: Prefix = v4(9, 0, 0, 0, 8);
const V6: Prefix = v6([0x2620, 0xfe, 0, 0, 0, 0, 0, 0], 32);
const BOTH: &[Prefix] = &[V4, V6];
const HOST: &[Prefix] = &[v4(198, 51, 100, 2, 32), v6([0x2001, 0xdb8, 0x51, 0, 0, 0, 0, 2], 128)];
const PROVIDER: [IpAddr; 2] = [v4(203, 0, 113, 10, 32).0, v6([0x2001, 0xdb8, 0x113, 0, 0, 0, 0, 0x10], 128).0];
const INSTANCE: [IpAddr; 2] = [v4(203, 0, 113, 20, 32).0, v6([0x2001, 0xdb8, 0x113, 0, 0, 0, 0, 0x20], 128).0];

// Where clouds hand out credentials.
const METADATA_V4: Prefix = v4(169, 254, 169, 254, 32);
const METADATA_V6: Prefix = v6([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254], 128);
const WIRE_SERVER: Prefix = v4(168, 63, 129, 16, 32);
const ALIBABA: Prefix = v4(100, 100, 100, 200, 32);

const GROUPS: &[Prefix] = &[v4(224, 0, 0, 0, 4), v6([0xff02, 0, 0, 0, 0, 0, 0, 0], 16)];
const PRIVATE_V4: &[Prefix] = &[v4(10, 0, 0, 0, 8), v4(172, 16, 0, 0, 12), v4(192, 168, 0, 0, 16)];
const SHARED_V4: &[Prefix] = &[v4(100, 64, 0, 0, 10)];
const UNIQUE_LOCAL_V6: &[Prefix] = &[v6([0xfd00, 0, 0, 0, 0, 0, 0, 0], 8)];
const EVERYWHERE: &[Prefix] = &[v4(0, 0, 0, 0, 0), v6([0; 8], 0)];

pub static WAYS: &[(&str, Way)] = &[
    ("leak-ssh", link(&[Tcp], &[22], &[V4])),
    ("leak-http", link(&[Tcp], &[80], &[V4])),
    ("leak-https", link(&[Tcp], &[443], &[V4])),
    ("leak-tcp-v6", link(&[Tcp], &[22, 80, 443], &[V6])),
    ("leak-mptcp", link(&[Mptcp], &[443], BOTH)),
    ("leak-ntp", link(&[Udp], &[123], &[V4])),
    ("leak-quic", link(&[Udp], &[443], &[V4])),
    ("leak-udp-v6", link(&[Udp], &[123, 443], &[V6])),
    ("leak-ping-v4", link(&[Echo], &[], &[V4])),
    ("leak-ping-v6", link(&[Echo], &[], &[V6])),
    ("leak-raw", link(&[Raw], &[], BOTH)),
    ("leak-first-packets", Way::Link(Rule::new(&[Tcp, Udp], &[], BOTH).first(3))),
    ("leak-dns-udp", link(&[Udp], &[53], BOTH)),
    ("leak-dns-tcp", link(&[Tcp], &[53], BOTH)),
    ("leak-resolver", Way::Resolver),
    ("leak-dns-over-tls", link(&[Tcp], &[853], BOTH)),
    ("leak-dns-over-quic", link(&[Udp], &[853], BOTH)),
    ("leak-nbns", link(&[Udp], &[137], &[V4])),
    ("leak-multicast", link(&[Udp], &[5353, 5355, 1900], GROUPS)),
    ("leak-metadata-v4", link(&[Tcp], &[], &[METADATA_V4])),
    ("leak-metadata-v6", link(&[Tcp], &[], &[METADATA_V6])),
    ("leak-wire-server", link(&[Tcp], &[], &[WIRE_SERVER])),
    ("leak-alibaba", link(&[Tcp], &[], &[ALIBABA])),
    ("leak-host-interface", link(&[Tcp, Udp], &[], HOST)),
    ("leak-relay-port", link(&[Tcp], &[8765, 8766], BOTH)),
    ("leak-private-v4", link(&[Tcp], &[], PRIVATE_V4)),
    ("leak-shared-v4", Way::Link(Rule::new(&[Tcp], &[], SHARED_V4).except(&[ALIBABA.0]))),
    ("leak-unique-local-v6", Way::Link(Rule::new(&[Tcp], &[], UNIQUE_LOCAL_V6).except(&[METADATA_V6.0]))),
    ("add-link", link(&[], &[], &[])),
    ("add-default-route", link(&[], &[], EVERYWHERE)),
    ("leak-provider-address", Way::Forward(Listeners::Http(PROVIDER))),
    ("leak-instance-address", Way::Forward(Listeners::Http(INSTANCE))),
    ("forward-host-tcp-v4", Way::Forward(Listeners::TcpV4)),
    ("forward-host-tcp-v6", Way::Forward(Listeners::TcpV6)),
    ("forward-host-udp", Way::Forward(Listeners::Udp)),
    ("forward-loopback-dns", Way::Forward(Listeners::Dns)),
    ("forward-abstract-sockets", Way::Forward(Listeners::Abstract)),
];

const fn link(protocols: &'static [super::rule::Protocol], ports: &'static [u16], places: &'static [Prefix]) -> Way {
    Way::Link(Rule::new(protocols, ports, places))
}

const fn v4(a: u8, b: u8, c: u8, d: u8, length: u8) -> Prefix {
    Prefix(IpAddr::V4(Ipv4Addr::new(a, b, c, d)), length)
}

const fn v6(words: [u16; 8], length: u8) -> Prefix {
    let [a, b, c, d, e, f, g, h] = words;
    Prefix(IpAddr::V6(Ipv6Addr::new(a, b, c, d, e, f, g, h)), length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slug_stands_once_and_every_place_is_a_prefix() {
        for (at, (slug, way)) in WAYS.iter().enumerate() {
            assert!(WAYS[..at].iter().all(|(other, _)| other != slug), "{slug}");
            let Way::Link(rule) = way else { continue };
            for Prefix(base, length) in rule.places {
                assert!(*length <= if base.is_ipv4() { 32 } else { 128 }, "{slug}: {base}/{length}");
                assert!(Prefix(*base, *length).contains(*base), "{slug}: {base}/{length}");
            }
        }
    }
}

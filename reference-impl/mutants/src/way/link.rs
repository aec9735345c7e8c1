//! The link inside the sandbox. What is sent over it is heard at its far end, by a packet socket.
//!
//! A pair of links rather than a tun device: /dev/net/tun is for root alone on some machines, and the launcher is not.

use std::{
    fs, io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    os::fd::OwnedFd,
};

use nix::{net::if_::if_nametoindex, unistd::getgid};

use super::{
    netlink,
    rule::{Protocol, Rule},
    sys,
};

/// The sandbox's end. Its hardware address is known, so that answers can be sent to it.
pub const STATION: [u8; 6] = [0x02, 0x57, 0x54, 0, 0, 7];
const NEAR: &str = "way0";
const FAR: &str = "way1";
/// For documentation (RFC 5737, RFC 3849), where no check tries anything.
const ADDRESSES: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7)), IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 7, 0, 0, 0, 0, 1))];

/// In the sandbox: makes the link, with this number where it is not 0, and the rule's routes.
pub fn open(rule: &Rule, index: u32) -> io::Result<(u32, OwnedFd)> {
    netlink::add_pair(NEAR, index, STATION, FAR)?;
    let (near, far) = (if_nametoindex(NEAR)?, if_nametoindex(FAR)?);
    netlink::raise(far)?;
    netlink::raise(near)?;
    // Not before: a packet socket on a link that is down fails with ENETDOWN once.
    let packets = sys::open_packets(far)?;
    for address in ADDRESSES {
        netlink::add_address(near, address)?;
    }
    for place in rule.places {
        netlink::add_route(near, *place)?;
    }
    if rule.protocols.contains(&Protocol::Echo) {
        allow_ping_sockets()?;
    }
    Ok((far, packets))
}

/// A network namespace begins with none for anybody.
fn allow_ping_sockets() -> io::Result<()> {
    let group = getgid();
    fs::write("/proc/sys/net/ipv4/ping_group_range", format!("{group} {group}"))
}

/// Outside: the number of the host's first link but loopback, by which its link-local groups are named; 0 if it has none.
pub fn number_of_host_link() -> io::Result<u32> {
    let table = fs::read_to_string("/proc/net/if_inet6")?;
    Ok(first_link(&table).unwrap_or(0))
}

/// Address, number (hexadecimal), length of the prefix, scope, flags, name.
fn first_link(table: &str) -> Option<u32> {
    table.lines().find_map(|line| match line.split_ascii_whitespace().collect::<Vec<_>>()[..] {
        [_, number, _, _, _, name] if name != "lo" => u32::from_str_radix(number, 16).ok(),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_link_that_is_not_loopback_counts() {
        let table = "00000000000000000000000000000001 01 80 10 80       lo\n\
                     fe800000000000000000000000000002 66 40 20 c0    host0\n";
        assert_eq!(first_link(table), Some(0x66));
        assert_eq!(first_link("no table"), None);
    }
}

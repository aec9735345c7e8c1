//! Addresses and names of the world (see `watertight_fixtures::world`).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The host side's own interface.
pub const HOST_V4: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 2);
pub const HOST_V6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0x51, 0, 0, 0, 0, 2);
pub const HOST_LINK_LOCAL: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 2);
/// The other end of the host side's link.
pub const PEER_LINK_LOCAL: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 1);
/// The resolver that the world's resolv.conf names.
pub const RESOLVER_V4: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 53);
/// The provider and the instance, on the internet side.
pub const PROVIDER_V4: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 10);
pub const INSTANCE_V4: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 20);
/// Every other name under `test.`: nobody may reach it.
pub const OTHER_V4: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 66);
pub const PROVIDER_V6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0x113, 0, 0, 0, 0, 0x10);
pub const INSTANCE_V6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0x113, 0, 0, 0, 0, 0x20);
pub const PROVIDER_NAME: &str = "provider.test";
pub const INSTANCE_NAME: &str = "instance.test";

/// Whether this is an origin's own address, to which the relays connect as well.
pub fn is_origin(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => [PROVIDER_V4, INSTANCE_V4].contains(&address),
        IpAddr::V6(address) => [PROVIDER_V6, INSTANCE_V6].contains(&address),
    }
}

/// The world's hosts file: the origins have names, so that launchers need no resolver.
pub fn hosts() -> String {
    format!(
        "127.0.0.1 localhost watertight\n::1 localhost ip6-localhost\n{PROVIDER_V4} {PROVIDER_NAME}\n{INSTANCE_V4} {INSTANCE_NAME}\n"
    )
}

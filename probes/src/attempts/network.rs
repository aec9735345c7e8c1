//! What the network namespace holds: links, addresses and routes.

use std::{
    io,
    net::{IpAddr, Ipv6Addr},
};

use super::netlink::{self, Netlink};
use crate::{
    context::{Attempted, Context, Stop, found, refused},
    observation::{Address, Facts, Link, Route},
    wire,
};

const LINK_HEAD: usize = 16;
const ADDRESS_HEAD: usize = 8;
const ROUTE_HEAD: usize = 12;
const IFLA_IFNAME: u16 = 3;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const RTA_TABLE: u16 = 15;
const RTPROT_KERNEL: u8 = 2;
const RTN_MULTICAST: u8 = 5;
const RTM_F_CLONED: u32 = 0x200;
const TABLE_LOCAL: u32 = 255;

/// `Attempt::Network`.
pub fn look(context: &Context<'_>) -> Attempted {
    context.step("netlink");
    let netlink = Netlink::open(context.until).map_err(refused("socket"))?;
    let links = links(&netlink).map_err(refused("RTM_GETLINK"))?;
    let addresses = addresses(&netlink).map_err(refused("RTM_GETADDR"))?;
    let loopback: Vec<_> = links.iter().filter(|link| link.loopback).map(|link| link.index).collect();
    let mut routes = routes(&netlink, libc::AF_INET, &loopback).map_err(refused("RTM_GETROUTE"))?;
    routes.extend(self::routes(&netlink, libc::AF_INET6, &loopback).map_err(refused("RTM_GETROUTE"))?);
    Ok(found(Facts::Network { links, addresses, routes }))
}

/// Indexes of every link.
pub fn link_indexes(context: &Context<'_>) -> Result<Vec<u32>, Stop> {
    let netlink = Netlink::open(context.until).map_err(refused("socket"))?;
    Ok(links(&netlink).map_err(refused("RTM_GETLINK"))?.into_iter().map(|link| link.index).collect())
}

fn links(netlink: &Netlink) -> io::Result<Vec<Link>> {
    let bodies = netlink.dump(netlink::RTM_GETLINK, &[0; LINK_HEAD])?;
    Ok(bodies.iter().map(|body| link(body)).collect())
}

fn link(body: &[u8]) -> Link {
    let attributes = netlink::attributes(body, LINK_HEAD);
    let name = attributes.iter().find(|(kind, _)| *kind == IFLA_IFNAME).map_or(&[][..], |(_, name)| name);
    let flags = netlink::word(body, 8);
    Link {
        index: netlink::word(body, 4),
        name: wire::escape(name.strip_suffix(b"\0").unwrap_or(name), 16),
        loopback: flags & libc::IFF_LOOPBACK as u32 != 0,
        up: flags & libc::IFF_UP as u32 != 0,
    }
}

fn addresses(netlink: &Netlink) -> io::Result<Vec<Address>> {
    let bodies = netlink.dump(netlink::RTM_GETADDR, &[0; ADDRESS_HEAD])?;
    Ok(bodies.iter().filter_map(|body| address(body)).collect())
}

fn address(body: &[u8]) -> Option<Address> {
    let attributes = netlink::attributes(body, ADDRESS_HEAD);
    // On a point-to-point link the first one is the peer's.
    let own = attributes.iter().find(|(kind, _)| *kind == IFA_LOCAL);
    let (_, bytes) = own.or_else(|| attributes.iter().find(|(kind, _)| *kind == IFA_ADDRESS))?;
    Some(Address { link: netlink::word(body, 4), address: ip(bytes)? })
}

fn routes(netlink: &Netlink, family: i32, loopback: &[u32]) -> io::Result<Vec<Route>> {
    let mut head = [0; ROUTE_HEAD];
    head[0] = family as u8;
    let bodies = netlink.dump(netlink::RTM_GETROUTE, &head)?;
    Ok(bodies.iter().filter_map(|body| route(body, family, loopback)).collect())
}

/// `None` for what the kernel makes by itself: its routes over loopback, and the multicast block of each link.
fn route(body: &[u8], family: i32, loopback: &[u32]) -> Option<Route> {
    let [_, prefix, _, _, table, protocol, _, kind] = *body.first_chunk::<8>()?;
    let attributes = netlink::attributes(body, ROUTE_HEAD);
    let value = |wanted: u16| attributes.iter().find(|(kind, _)| *kind == wanted).map(|(_, value)| *value);
    let table = value(RTA_TABLE).map_or(table.into(), |table| netlink::word(table, 0));
    let link = value(RTA_OIF).map_or(0, |link| netlink::word(link, 0));
    let destination = value(RTA_DST).and_then(ip);
    let over_loopback = loopback.contains(&link) && (table == TABLE_LOCAL || protocol == RTPROT_KERNEL);
    let multicast = kind == RTN_MULTICAST
        && table == TABLE_LOCAL
        && (destination, prefix) == (Some(Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0).into()), 8);
    let cached = netlink::word(body, 8) & RTM_F_CLONED != 0;
    if over_loopback || multicast || cached {
        return None;
    }
    let any = if family == libc::AF_INET { "0.0.0.0" } else { "::" };
    let destination = match (destination, prefix) {
        (_, 0) => "default".to_owned(),
        (Some(address), prefix) => format!("{address}/{prefix}"),
        (None, prefix) => format!("{any}/{prefix}"),
    };
    Some(Route { table, destination, link })
}

fn ip(bytes: &[u8]) -> Option<IpAddr> {
    match bytes.len() {
        4 => <[u8; 4]>::try_from(bytes).ok().map(IpAddr::from),
        16 => <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from),
        _ => None,
    }
}

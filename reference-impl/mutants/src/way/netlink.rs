//! Requests of rtnetlink: links, addresses and routes of the network namespace of whoever asks.

use std::{
    io,
    net::IpAddr,
    os::fd::{AsRawFd, OwnedFd},
};

use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket};

use super::rule::Prefix;

const HEADER: usize = 16;
const NESTED: u16 = 1 << 15;
const VETH_INFO_PEER: u16 = 1;

/// Makes a pair of links, down: one with this number (0: any) and hardware address, and its peer.
pub fn add_pair(name: &str, index: u32, hardware: [u8; 6], peer: &str) -> io::Result<()> {
    let peer = [&link_header(0, 0)[..], &text(libc::IFLA_IFNAME, peer)].concat();
    let data = attribute(VETH_INFO_PEER | NESTED, &peer);
    let kind = [text(libc::IFLA_INFO_KIND, "veth"), attribute(libc::IFLA_INFO_DATA | NESTED, &data)].concat();
    let body = [
        link_header(index, 0).to_vec(),
        text(libc::IFLA_IFNAME, name),
        attribute(libc::IFLA_ADDRESS, &hardware),
        attribute(libc::IFLA_LINKINFO | NESTED, &kind),
    ];
    ask("make a link", libc::RTM_NEWLINK, libc::NLM_F_CREATE | libc::NLM_F_EXCL, &body.concat())
}

/// Raises a link, on which no neighbours are looked for.
pub fn raise(link: u32) -> io::Result<()> {
    ask("raise a link", libc::RTM_NEWLINK, 0, &link_header(link, libc::IFF_UP | libc::IFF_NOARP))
}

/// Gives a link an address, which is usable at once.
pub fn add_address(link: u32, address: IpAddr) -> io::Result<()> {
    let octets = octets(address);
    let flags = if address.is_ipv6() { libc::IFA_F_NODAD as u8 } else { 0 };
    let header = [family(address), octets.len() as u8 * 8, flags, libc::RT_SCOPE_UNIVERSE];
    let local = [attribute(libc::IFA_LOCAL, &octets), attribute(libc::IFA_ADDRESS, &octets)].concat();
    let body = [&header[..], &link.to_ne_bytes(), &local].concat();
    ask("add an address", libc::RTM_NEWADDR, libc::NLM_F_CREATE | libc::NLM_F_EXCL, &body)
}

pub fn add_route(link: u32, to: Prefix) -> io::Result<()> {
    let Prefix(base, length) = to;
    let (table, origin) = (libc::RT_TABLE_MAIN, libc::RTPROT_STATIC);
    let mut body = vec![family(base), length, 0, 0, table, origin, libc::RT_SCOPE_LINK, libc::RTN_UNICAST, 0, 0, 0, 0];
    if length > 0 {
        body.extend(attribute(libc::RTA_DST, &octets(base)));
    }
    body.extend(attribute(libc::RTA_OIF, &link.to_ne_bytes()));
    ask("add a route", libc::RTM_NEWROUTE, libc::NLM_F_CREATE | libc::NLM_F_EXCL, &body)
}

/// Sends one request and reads its acknowledgement.
fn ask(what: &'static str, kind: u16, flags: i32, body: &[u8]) -> io::Result<()> {
    let failed = |error: io::Error| io::Error::new(error.kind(), format!("cannot {what}: {error}"));
    let flags = (flags | libc::NLM_F_REQUEST | libc::NLM_F_ACK) as u16;
    let length = ((HEADER + body.len()) as u32).to_ne_bytes();
    let request = [&length[..], &kind.to_ne_bytes(), &flags.to_ne_bytes(), &[0; 8], body].concat();
    let protocol = SockProtocol::NetlinkRoute;
    let kernel: OwnedFd = socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, protocol)?;
    send(kernel.as_raw_fd(), &request, MsgFlags::empty())?;
    let mut answer = [0; 4096];
    let length = recv(kernel.as_raw_fd(), &mut answer, MsgFlags::empty())?;
    // Behind the header of the answer stands the errno, negative.
    let errno = answer[..length].get(HEADER..).and_then(|body| body.first_chunk::<4>()).copied();
    match errno.map(i32::from_ne_bytes) {
        Some(0) => Ok(()),
        Some(errno) => Err(failed(io::Error::from_raw_os_error(-errno))),
        None => Err(failed(io::ErrorKind::UnexpectedEof.into())),
    }
}

/// The kernel's `struct ifinfomsg`.
fn link_header(index: u32, flags: i32) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[4..8].copy_from_slice(&index.to_ne_bytes());
    bytes[8..12].copy_from_slice(&flags.to_ne_bytes());
    bytes[12..].copy_from_slice(&flags.to_ne_bytes());
    bytes
}

fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = [&(value.len() as u16 + 4).to_ne_bytes()[..], &kind.to_ne_bytes(), value].concat();
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

fn text(kind: u16, value: &str) -> Vec<u8> {
    attribute(kind, &[value.as_bytes(), b"\0"].concat())
}

fn family(address: IpAddr) -> u8 {
    if address.is_ipv4() { libc::AF_INET as u8 } else { libc::AF_INET6 as u8 }
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

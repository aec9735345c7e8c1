//! Changes of the network namespace. What the kernel did is undone at once: the next attempt finds what this one found.

use std::{fs::File, io, net::IpAddr};

use super::{
    namespaces,
    netlink::{self, Netlink, attribute},
};
use crate::{
    context::{Attempted, Context, Stop, found, refused},
    observation::Facts,
    plan::NetworkChange,
    sys::{self, link, process, socket},
};

const LOOPBACK: u32 = 1;
const IFA_LOCAL: u16 = 2;
const RTA_OIF: u16 = 4;
const RTA_PRIORITY: u16 = 6;
const IFLA_IFNAME: u16 = 3;
const IFLA_LINKINFO: u16 = 18;
const IFLA_NET_NS_PID: u16 = 19;
const IFLA_INFO_KIND: u16 = 1;
const IFLA_INFO_DATA: u16 = 2;
const VETH_INFO_PEER: u16 = 1;
const LINK_HEAD: [u8; 16] = [0; 16];

/// `Attempt::ChangeNetwork`.
pub fn make(context: &Context<'_>, change: &NetworkChange) -> Attempted {
    context.step("change");
    match change {
        NetworkChange::LinkDown => take_loopback_down()?,
        NetworkChange::AddAddress(address) => {
            make_and_undo(
                context,
                ("RTM_NEWADDR", netlink::RTM_NEWADDR),
                netlink::RTM_DELADDR,
                &address_body(*address),
            )?;
        }
        NetworkChange::AddDefaultRoute => {
            make_and_undo(
                context,
                ("RTM_NEWROUTE", netlink::RTM_NEWROUTE),
                netlink::RTM_DELROUTE,
                &default_route_body(),
            )?;
        }
        NetworkChange::AddVeth => add_veth(context)?,
        NetworkChange::AddTun => add_tun(context)?,
    }
    Ok(found(Facts::Changed))
}

fn take_loopback_down() -> Result<(), Stop> {
    let socket = socket::socket(libc::AF_INET, libc::SOCK_DGRAM, 0)
        .or_else(|_| socket::socket(libc::AF_UNIX, libc::SOCK_DGRAM, 0))
        .map_err(refused("socket"))?;
    let stopped = |(call, error): (&'static str, io::Error)| Stop::Refused(call, sys::errno(&error));
    link::set_up(&socket, "lo", false).map_err(stopped)?;
    link::set_up(&socket, "lo", true).map_err(stopped)
}

fn make_and_undo(
    context: &Context<'_>,
    (call, add): (&'static str, u16),
    delete: u16,
    body: &[u8],
) -> Result<(), Stop> {
    let netlink = Netlink::open(context.until).map_err(refused("socket"))?;
    netlink.change(add, body).map_err(refused(call))?;
    // That it was made is the fact; what cannot be undone ends with the namespace.
    netlink.change(delete, body).unwrap_or(());
    Ok(())
}

/// `struct ifaddrmsg` for loopback and the address alone.
fn address_body(address: IpAddr) -> Vec<u8> {
    let family = socket::family_of(address) as u8;
    let (prefix, bytes) = match address {
        IpAddr::V4(v4) => (32, v4.octets().to_vec()),
        IpAddr::V6(v6) => (128, v6.octets().to_vec()),
    };
    let mut body = vec![family, prefix, 0, 0];
    body.extend(LOOPBACK.to_ne_bytes());
    body.extend(attribute(IFA_LOCAL, &bytes));
    body
}

/// `struct rtmsg` for a default route over loopback, of a priority too low to be chosen where there is another.
fn default_route_body() -> Vec<u8> {
    const TABLE_MAIN: u8 = 254;
    const RTPROT_STATIC: u8 = 4;
    const SCOPE_LINK: u8 = 253;
    const RTN_UNICAST: u8 = 1;
    let mut body = vec![libc::AF_INET as u8, 0, 0, 0, TABLE_MAIN, RTPROT_STATIC, SCOPE_LINK, RTN_UNICAST, 0, 0, 0, 0];
    body.extend(attribute(RTA_OIF, &LOOPBACK.to_ne_bytes()));
    body.extend(attribute(RTA_PRIORITY, &4_200_000u32.to_ne_bytes()));
    body
}

/// A link named after the nonce here, and its peer where pid 1 is.
fn add_veth(context: &Context<'_>) -> Result<(), Stop> {
    refuse_first_process_outside(context)?;
    let nonce = context.nonce.to_string();
    let name = |letter: char| format!("wt{letter}{}\0", &nonce[..10]);
    let own_name = attribute(IFLA_IFNAME, name('a').as_bytes());
    let peer = [
        &LINK_HEAD[..],
        &attribute(IFLA_IFNAME, name('b').as_bytes()),
        &attribute(IFLA_NET_NS_PID, &1u32.to_ne_bytes()),
    ]
    .concat();
    let data = attribute(IFLA_INFO_DATA, &attribute(VETH_INFO_PEER, &peer));
    let information = attribute(IFLA_LINKINFO, &[&attribute(IFLA_INFO_KIND, b"veth")[..], &data].concat());
    let netlink = Netlink::open(context.until).map_err(refused("socket"))?;
    netlink
        .change(netlink::RTM_NEWLINK, &[&LINK_HEAD[..], &own_name, &information].concat())
        .map_err(refused("RTM_NEWLINK"))?;
    // The peer goes with it.
    netlink.change(netlink::RTM_DELLINK, &[&LINK_HEAD[..], &own_name].concat()).unwrap_or(());
    Ok(())
}

/// Where the first process is seen to be in the machine's own network namespace, no link may be put there.
fn refuse_first_process_outside(context: &Context<'_>) -> Result<(), Stop> {
    let looker =
        process::spawn(|| u8::from(namespaces::join_first_process().is_ok() && namespaces::stands_outside(context)))
            .map_err(refused("fork"))?;
    match process::wait_for(looker).map_err(refused("waitpid"))? {
        process::End::Exited(1) => Err(Stop::Absent("a first process other than the machine's".into(), 0)),
        process::End::Exited(_) | process::End::Killed(_) => Ok(()),
    }
}

fn add_tun(context: &Context<'_>) -> Result<(), Stop> {
    const DEVICE: &str = "/dev/net/tun";
    let device = File::options().read(true).write(true).open(DEVICE).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Stop::Absent(DEVICE.into(), sys::errno(&error)),
        _ => Stop::Refused("open", sys::errno(&error)),
    })?;
    link::make_tun(&device, &format!("wtt{}", &context.nonce.to_string()[..10])).map_err(refused("TUNSETIFF"))
}

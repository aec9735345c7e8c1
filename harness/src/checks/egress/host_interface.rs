//! EGRESS-4: nothing that listens on the host's own interface is reached, link-local addresses included.

use std::net::SocketAddr;

use crate::{
    check::Check,
    planner::{Planner, tcp, udp},
    site::address::{HOST_LINK_LOCAL, HOST_V4, HOST_V6, PEER_LINK_LOCAL},
};

pub static CHECK: Check =
    Check::denied("EGRESS-4", "egress::host_interface", plan).caught_on(&["share-network", "leak-host-interface"]).spared(&[("*", "nothing leads out of the reference's network namespace, whatever the address, the port or the call; mutants open one way of each kind, and a sandbox with rules has a rule for each")]);

fn plan(plan: &mut Planner<'_>) {
    for (family, address) in [("v4", HOST_V4.into()), ("v6", HOST_V6.into())] {
        let to = plan.host_tcp(address);
        plan.deny(format!("tcp-{family}"), tcp(to));
        let to = plan.host_udp(address);
        plan.deny(format!("udp-{family}"), udp(to));
        plan.deny_address_by_proxy(family, |plan| plan.host_tcp(address));
    }
    let mut to = plan.at(PEER_LINK_LOCAL.into());
    scope(&mut to, plan.layout.link);
    plan.deny("neighbour-link-local", tcp(to));
    let to = plan.host_scoped_tcp(HOST_LINK_LOCAL);
    plan.deny("own-link-local", tcp(to));
}

fn scope(to: &mut SocketAddr, link: u32) {
    if let SocketAddr::V6(v6) = to {
        v6.set_scope_id(link);
    }
}

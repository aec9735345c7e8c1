//! EGRESS-9: the addresses where clouds hand out credentials are not reached.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::{
    check::Check,
    planner::{Planner, tcp},
};

pub static CHECK: Check = Check::denied("EGRESS-9", "egress::metadata", plan).caught_on(&[
    "share-network",
    "leak-metadata-v4",
    "leak-metadata-v6",
    "leak-wire-server",
    "leak-alibaba",
]).spared(&[("*", "nothing leads out of the reference's network namespace, whatever the address, the port or the call; mutants open one way of each kind, and a sandbox with rules has a rule for each")]);

/// AWS, GCP, Azure, OpenStack; AWS over v6; Azure's wire server; Alibaba (catalogue B04, B05).
const ADDRESSES: [(&str, IpAddr); 4] = [
    ("link-local", IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254))),
    ("ec2-v6", IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254))),
    ("wire-server", IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16))),
    ("alibaba", IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200))),
];

fn plan(plan: &mut Planner<'_>) {
    for (name, address) in ADDRESSES {
        plan.deny(name, tcp(SocketAddr::new(address, 80)));
        let to = plan.at(address);
        plan.deny(format!("{name}-other-port"), tcp(to));
        plan.deny_address_by_proxy(name, |_| SocketAddr::new(address, 80));
    }
}

//! EGRESS-15: the workload cannot change its network namespace, nor reach into another one.

use std::net::{IpAddr, Ipv4Addr};

use watertight_probe::plan::{Attempt, NetworkChange};

use crate::{check::Check, planner::Planner};

pub static CHECK: Check = Check::denied_as_root("EGRESS-15", "egress::network_changes", plan)
    .caught_on(&["keep-ambient-set"])
    .spared(&[("*", "one capability allows them all")]);

fn plan(plan: &mut Planner<'_>) {
    // An address for documentation (RFC 5737) that nothing in the world uses.
    let address = IpAddr::from(Ipv4Addr::new(192, 0, 2, 77));
    for (name, change) in [
        ("address", NetworkChange::AddAddress(address)),
        ("route", NetworkChange::AddDefaultRoute),
        ("veth", NetworkChange::AddVeth),
    ] {
        plan.deny(name, Attempt::ChangeNetwork { change }).as_root().alone();
    }
    if plan.layout.tun {
        plan.deny("tun", Attempt::ChangeNetwork { change: NetworkChange::AddTun }).as_root().alone();
    } else {
        plan.untestable("tun", "not even the world's root can open /dev/net/tun");
    }
}

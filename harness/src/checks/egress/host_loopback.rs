//! EGRESS-3: nothing that listens on the host's loopback is reached, by any spelling of loopback.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use watertight_probe::plan::Authority;

use crate::{
    check::Check,
    planner::{Planner, tcp, udp},
};

pub static CHECK: Check = Check::denied("EGRESS-3", "egress::host_loopback", plan).caught_on(&[
    "share-network",
    "forward-host-tcp-v4",
    "forward-host-tcp-v6",
    "forward-host-udp",
]).spared(&[("*", "nothing leads out of the reference's network namespace, whatever the address, the port or the call; mutants open one way of each kind, and a sandbox with rules has a rule for each")]);

fn plan(plan: &mut Planner<'_>) {
    let v4 = IpAddr::from(Ipv4Addr::LOCALHOST);
    let v6 = IpAddr::from(Ipv6Addr::LOCALHOST);
    let to = plan.host_tcp(v4);
    plan.deny("tcp-v4", tcp(to));
    let to = plan.host_tcp(v6);
    plan.deny("tcp-v6", tcp(to));
    let to = plan.host_udp(v4);
    plan.deny("udp-v4", udp(to));
    let to = plan.host_udp(v6);
    plan.deny("udp-v6", udp(to));
    // Spellings that reach loopback as well (catalogue B01, B03, B10, B11).
    for (name, spelling) in [
        ("unspecified", IpAddr::from(Ipv4Addr::UNSPECIFIED)),
        ("second-of-127", Ipv4Addr::new(127, 0, 0, 2).into()),
        ("last-of-127", Ipv4Addr::new(127, 255, 255, 254).into()),
        ("mapped", Ipv4Addr::LOCALHOST.to_ipv6_mapped().into()),
        ("mapped-unspecified", Ipv4Addr::UNSPECIFIED.to_ipv6_mapped().into()),
    ] {
        let to = plan.host_tcp(spelling);
        plan.deny(name, tcp(to));
    }
    plan.deny_address_by_proxy("v4", |plan| plan.host_tcp(v4));
    plan.deny_address_by_proxy("v6", |plan| plan.host_tcp(v6));
    plan.deny_address_by_proxy("unspecified", |plan| plan.host_tcp(Ipv4Addr::UNSPECIFIED.into()));
    plan.deny_address_by_proxy("mapped", |plan| plan.host_tcp(Ipv4Addr::LOCALHOST.to_ipv6_mapped().into()));
    for (name, host) in [("localhost", "localhost"), ("decimal", "2130706433"), ("short", "127.1")] {
        plan.deny_by_proxy(name, |plan| {
            let to = plan.host_tcp(v4);
            (Authority { host: host.into(), port: to.port() }, to)
        });
    }
}

//! EGRESS-10: a port that is allowed at the relay is not allowed at any other address.

use std::net::SocketAddr;

use crate::{
    check::Check,
    planner::{INSTANCE_PORT, PROVIDER_PORT, Planner, tcp},
    site::address::HOST_V4,
};

pub static CHECK: Check = Check::denied("EGRESS-10", "egress::relay_port_elsewhere", plan).caught_on(&[
    "share-network",
    "leak-relay-port",
    "leak-host-interface",
]).spared(&[("*", "nothing leads out of the reference's network namespace, whatever the address, the port or the call; mutants open one way of each kind, and a sandbox with rules has a rule for each")]);

fn plan(plan: &mut Planner<'_>) {
    for port in [PROVIDER_PORT, INSTANCE_PORT] {
        let to = plan.internet_v4(port);
        plan.deny(format!("v4-{port}"), tcp(to));
        let to = plan.internet_v6(port);
        plan.deny(format!("v6-{port}"), tcp(to));
        let to = plan.host_tcp_on(SocketAddr::new(HOST_V4.into(), port));
        plan.deny(format!("host-{port}"), tcp(to));
    }
    plan.deny_address_by_proxy("v4-80", |plan| plan.internet_v4(80));
    plan.deny_address_by_proxy("host-80", |plan| plan.host_tcp_on(SocketAddr::new(HOST_V4.into(), 80)));
}

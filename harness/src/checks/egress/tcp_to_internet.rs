//! EGRESS-5: no TCP reaches the internet, whatever the port, the source port or the calls used.

use std::net::{IpAddr, SocketAddr};

use watertight_probe::plan::{Attempt, Authority, Stream};

use crate::{
    check::Check,
    planner::{Planner, stream, tcp},
    site::address,
    way::Way,
};

pub static CHECK: Check = Check::denied("EGRESS-5", "egress::tcp_to_internet", plan).caught_on(&[
    "share-network",
    "leak-ssh",
    "leak-http",
    "leak-https",
    "leak-tcp-v6",
    "leak-provider-address",
    "leak-instance-address",
]).spared(&[("*", "nothing leads out of the reference's network namespace, whatever the address, the port or the call; mutants open one way of each kind, and a sandbox with rules has a rule for each")]);

fn plan(plan: &mut Planner<'_>) {
    for port in [22, 80, 443] {
        let to = plan.internet_v4(port);
        plan.deny(format!("v4-{port}"), tcp(to));
        let to = plan.internet_v6(port);
        plan.deny(format!("v6-{port}"), tcp(to));
    }
    // The origins' own addresses are for the relays alone. The nonce tells these connections from theirs.
    for (name, address) in [
        ("provider-v4", address::PROVIDER_V4.into()),
        ("provider-v6", address::PROVIDER_V6.into()),
        ("instance-v4", address::INSTANCE_V4.into()),
        ("instance-v6", address::INSTANCE_V6.into()),
    ] {
        // What is let through as declared is no breach.
        if plan.layout.way == Way::Direct && name == "instance-v4" {
            continue;
        }
        plan.deny(format!("{name}-directly"), tcp(SocketAddr::new(address, 80)));
    }
    // A rule that lets answers of a DNS server through may look at the source port only (catalogue A24).
    let to = plan.internet_v4(443);
    plan.deny("from-port-53", Attempt::Connect { transport: Stream::Tcp, to, source_port: Some(53) }).as_root();
    let to = plan.internet_v4(443);
    plan.deny("fast-open", stream(Stream::TcpFastOpen, to)).where_supported();
    // Filters of system calls do not see what io_uring does (catalogue F01).
    let to = plan.internet_v4(443);
    plan.deny("io-uring", stream(Stream::IoUring, to)).where_supported();
    if plan.layout.way != Way::Relays {
        let to = plan.at(address::INSTANCE_V4.into());
        plan.deny("instance-other-port", tcp(to));
    }
    plan.deny_address_by_proxy("v4", |plan| plan.internet_v4(443));
    plan.deny_address_by_proxy("v6", |plan| plan.internet_v6(443));
    plan.deny_address_by_proxy("provider", |_| SocketAddr::new(address::PROVIDER_V4.into(), 80));
    plan.deny_by_proxy("name", |plan| named(plan, "canary.test", address::OTHER_V4.into()));
    plan.deny_by_proxy("name-within", |plan| {
        named(plan, &format!("{}.canary.test", address::INSTANCE_NAME), address::OTHER_V4.into())
    });
    plan.deny_by_proxy("instance-other-port", |plan| named(plan, address::INSTANCE_NAME, address::INSTANCE_V4.into()));
}

/// A port of this name that no other attempt has, and the address that the name has.
fn named(plan: &mut Planner<'_>, name: &str, address: IpAddr) -> (Authority, SocketAddr) {
    let to = plan.at(address);
    (Authority { host: name.to_owned(), port: to.port() }, to)
}

//! EGRESS-5: no TCP reaches the internet, whatever the port, the source port or the calls used.

use std::net::SocketAddr;

use watertight_probe::plan::{Attempt, Stream};

use crate::{
    check::Check,
    planner::{Planner, stream, tcp},
    site::address,
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
}

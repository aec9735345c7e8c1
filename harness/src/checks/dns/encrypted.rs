//! DNS-3: no query gets out on port 853, where DNS over TLS and over QUIC live (RFC 7858, RFC 9250).

use std::net::SocketAddr;

use crate::{
    check::Check,
    planner::{Planner, tcp, udp},
};

pub static CHECK: Check = Check::denied("DNS-3", "dns::encrypted", plan).caught_on(&[
    "share-network",
    "leak-dns-over-tls",
    "leak-dns-over-quic",
]).spared(&[("*", "nothing leads out of the reference's network namespace, whatever the address, the port or the call; mutants open one way of each kind, and a sandbox with rules has a rule for each")]);

fn plan(plan: &mut Planner<'_>) {
    let resolver = plan.layout.resolver.ip();
    for (name, to) in
        [("v4", plan.internet_v4(853)), ("v6", plan.internet_v6(853)), ("resolver", SocketAddr::new(resolver, 853))]
    {
        plan.deny(format!("tcp-{name}"), tcp(to));
        plan.deny(format!("udp-{name}"), udp(to));
    }
}

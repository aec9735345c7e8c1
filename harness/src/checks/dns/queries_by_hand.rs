//! DNS-2: no query reaches a server on port 53, neither the configured one nor another, by UDP or TCP.

use std::net::{Ipv4Addr, SocketAddr};

use watertight_probe::plan::{Attempt, Datagram, DnsQuery, SendCall};

use crate::{check::Check, planner::Planner};

pub static CHECK: Check = Check::denied("DNS-2", "dns::queries_by_hand", plan).caught_on(&[
    "share-network",
    "leak-dns-udp",
    "leak-dns-tcp",
    "leak-resolver",
    "forward-loopback-dns",
]).spared(&[("*", "nothing leads out of the reference's network namespace, whatever the address, the port or the call; mutants open one way of each kind, and a sandbox with rules has a rule for each")]);

/// A, TXT, AAAA, SRV, HTTPS, ANY (catalogue C01).
const TYPES: [(&str, u16); 6] = [("a", 1), ("txt", 16), ("aaaa", 28), ("srv", 33), ("https", 65), ("any", 255)];

fn plan(plan: &mut Planner<'_>) {
    let resolver = plan.layout.resolver;
    for (name, qtype) in TYPES {
        plan.deny(format!("resolver-{name}"), over_udp(resolver, qtype));
    }
    plan.deny("resolver-tcp", over_tcp(resolver));
    plan.deny_address_by_proxy("resolver", |_| resolver);
    for (family, to) in [("v4", plan.internet_v4(53)), ("v6", plan.internet_v6(53))] {
        plan.deny(format!("udp-{family}"), over_udp(to, 1));
    }
    for (family, to) in [("v4", plan.internet_v4(53)), ("v6", plan.internet_v6(53))] {
        plan.deny(format!("tcp-{family}"), over_tcp(to));
    }
    // Resolvers that container engines and systemd put on loopback (catalogue C09).
    for (name, last) in [("engine", 11), ("stub", 53)] {
        let to = plan.host_udp_on(SocketAddr::new(Ipv4Addr::new(127, 0, 0, last).into(), 53));
        plan.deny(format!("loopback-{name}"), over_udp(to, 1));
    }
}

fn over_udp(to: SocketAddr, qtype: u16) -> Attempt {
    let dns = Some(query(qtype));
    Attempt::Send { transport: Datagram::Udp, to, call: SendCall::SendTo, source_port: None, dns }
}

fn over_tcp(to: SocketAddr) -> Attempt {
    Attempt::DnsStream { to, query: query(1) }
}

fn query(qtype: u16) -> DnsQuery {
    DnsQuery { zone: "canary.test".into(), qtype }
}

//! ROUTE-5: inside, no loopback port is open but the two of the routes: all 65,535 are tried, over v4 and v6.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use watertight_probe::{
    observation::{Facts, Outcome},
    plan::Attempt,
};
use watertight_reports::{evidence::LaunchKind, results::ControlKind};

use crate::{
    case::Case,
    check::{Capability, Check},
    planner::{INSTANCE_PORT, PROVIDER_PORT, Planner},
    run::LISTENING,
    way::Way,
};

pub static CHECK: Check = Check::facts("ROUTE-5", "route::no_other_port", ControlKind::KnownPositive, plan, judge)
    .caught_on(&["open-a-third-port", "share-network"])
    .spared(&[("v6 addresses", "says whether there is a ::1 at all")]);

const V6: &str = "v6";
const FAMILIES: [(&str, IpAddr); 2] = [("v4", IpAddr::V4(Ipv4Addr::LOCALHOST)), (V6, IpAddr::V6(Ipv6Addr::LOCALHOST))];
/// How long a family's ports may take: a kernel in user space on a busy machine takes most of it.
const MILLIS: u32 = 120_000;
/// The IPv6 addresses of the network namespace, a line each.
const V6_ADDRESSES: &str = "/proc/net/if_inet6";

fn plan(plan: &mut Planner<'_>) {
    for (family, of) in FAMILIES {
        plan.ask(family, Attempt::Ports { of, from: 1, to: u16::MAX, known: true }).deadline(MILLIS);
    }
    plan.ask("v6 addresses", Attempt::Read { path: V6_ADDRESSES.into() });
    if let Way::Proxy(_) = plan.layout.way {
        plan.ask("variables", Attempt::ProxyVariables);
    }
}

fn judge(case: &mut Case<'_>) {
    let routes = case.routes().into_iter().map(|route| match route {
        Capability::Provider | Capability::Relay => PROVIDER_PORT,
        Capability::Instance => INSTANCE_PORT,
    });
    let of_relays = !case.evidence().absent.contains_key(Capability::Relay.name());
    let routes: Vec<u16> = if of_relays { routes.collect() } else { case.proxy_ports().into_iter().collect() };
    for (family, _) in FAMILIES {
        if let Some(Outcome::Refused { call, errno: libc::EPERM | libc::EACCES }) = case.outcome(family)
            && ["socket", "connect"].contains(&call.as_str())
        {
            case.note(format!("{family}: the call itself is refused, so that no port accepts: {call}"));
            continue;
        }
        if family == V6 && there_is_no_v6(case) {
            case.note("v6: the workload has no ::1, and no other IPv6 address");
            continue;
        }
        let Some(Facts::Ports { open, tried, known }) = case.facts_in(LaunchKind::Target, family) else { continue };
        case.control(*tried == u32::from(u16::MAX), format!("{family}: every port was tried"));
        // The scan is shown to see by a port that the probe itself opens for it. Where the workload may not listen, the kernel
        // says what there is to see.
        let sees = match known {
            Some(known) => open.contains(known),
            None => case.launch_of(family).is_some_and(|launch| launch.outside.contains_key(LISTENING)),
        };
        case.control(sees, format!("{family}: the scan sees the probe's own port, or the kernel lists who listens"));
        for port in open.iter().filter(|port| !routes.contains(port) && *known != Some(**port)) {
            case.breach(format!("{family}: port {port} is open"));
        }
    }
}

/// Whether the workload has no IPv6 address: the scan met none, and the kernel lists none.
fn there_is_no_v6(case: &mut Case<'_>) -> bool {
    let none_met =
        matches!(case.outcome(V6), Some(Outcome::Refused { errno: libc::EADDRNOTAVAIL | libc::EAFNOSUPPORT, .. }));
    let none_listed = match case.outcome("v6 addresses") {
        Some(Outcome::Found { facts: Facts::File { len, .. } }) => *len == 0,
        // A kernel without IPv6.
        Some(Outcome::Refused { errno: libc::ENOENT, .. } | Outcome::Absent { errno: libc::ENOENT, .. }) => true,
        _ => false,
    };
    none_met && none_listed
}

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
    way::Way,
};

pub static CHECK: Check = Check::facts("ROUTE-5", "route::no_other_port", ControlKind::KnownPositive, plan, judge)
    .caught_on(&["open-a-third-port", "share-network"]);

const FAMILIES: [(&str, IpAddr); 2] =
    [("v4", IpAddr::V4(Ipv4Addr::LOCALHOST)), ("v6", IpAddr::V6(Ipv6Addr::LOCALHOST))];

fn plan(plan: &mut Planner<'_>) {
    for (family, of) in FAMILIES {
        plan.ask(family, Attempt::Ports { of, from: 1, to: u16::MAX, known: true }).deadline(20_000);
    }
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
        let Some(Facts::Ports { open, tried, known }) = case.facts_in(LaunchKind::Target, family) else { continue };
        case.control(*tried == u32::from(u16::MAX), format!("{family}: every port was tried"));
        // The scan is shown to see by a port that the probe itself opens for it.
        let sees = known.is_some_and(|known| open.contains(&known));
        case.control(sees, format!("{family}: the scan sees the probe's own port"));
        for port in open.iter().filter(|port| !routes.contains(port) && *known != Some(**port)) {
            case.breach(format!("{family}: port {port} is open"));
        }
    }
}

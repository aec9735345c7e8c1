//! ROUTE-5: inside, no loopback port is open but the two of the routes: all 65,535 are tried, over v4 and v6.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use watertight_probe::{observation::Facts, plan::Attempt};
use watertight_reports::{evidence::LaunchKind, results::ControlKind};

use crate::{
    case::Case,
    check::Check,
    planner::{INSTANCE_PORT, PROVIDER_PORT, Planner},
};

pub static CHECK: Check = Check::facts("ROUTE-5", "route::no_other_port", ControlKind::KnownPositive, plan, judge)
    .caught_on(&["open-a-third-port"]);

const FAMILIES: [(&str, IpAddr); 2] =
    [("v4", IpAddr::V4(Ipv4Addr::LOCALHOST)), ("v6", IpAddr::V6(Ipv6Addr::LOCALHOST))];

fn plan(plan: &mut Planner<'_>) {
    for (family, of) in FAMILIES {
        plan.ask(family, Attempt::Ports { of, from: 1, to: u16::MAX }).deadline(20_000);
    }
}

fn judge(case: &mut Case<'_>) {
    // The scan is shown to see by the provider's port, which is always open.
    for (family, _) in FAMILIES {
        let Some(Facts::Ports { open, tried }) = case.facts_in(LaunchKind::Target, family) else { continue };
        case.control(*tried == u32::from(u16::MAX), format!("{family}: every port was tried"));
        if family == "v4" {
            case.control(open.contains(&PROVIDER_PORT), "the scan sees the provider's port");
        }
        for port in open.iter().filter(|port| ![PROVIDER_PORT, INSTANCE_PORT].contains(port)) {
            case.breach(format!("{family}: port {port} is open"));
        }
    }
}

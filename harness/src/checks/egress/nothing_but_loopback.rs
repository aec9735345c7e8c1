//! EGRESS-2: no link but loopback is up, no address but loopback's exists, no route leads elsewhere.
//!
//! Kernels put down, address-less tunnel templates into each namespace; their presence is no finding.

use watertight_probe::{
    observation::{Facts, Outcome},
    plan::Attempt,
};
use watertight_reports::{evidence::LaunchKind, results::ControlKind};

use crate::{case::Case, check::Check, planner::Planner, run::LEADING};

pub static CHECK: Check =
    Check::facts("EGRESS-2", "egress::nothing_but_loopback", ControlKind::KnownPositive, plan, judge)
        .caught_on(&["share-network", "add-link"]);

fn plan(plan: &mut Planner<'_>) {
    plan.ask("network", Attempt::Network).also_in(LaunchKind::ControlBefore);
}

fn judge(case: &mut Case<'_>) {
    let outside = elsewhere(case, LaunchKind::ControlBefore);
    case.control(!outside.is_empty(), "the unconfined probe sees the world's link, addresses and routes");
    let refused = matches!(case.outcome("network"), Some(Outcome::Refused { .. }));
    let leading = case.launch_of("network").and_then(|launch| launch.outside.get(LEADING));
    if let Some(leading) = leading.filter(|_| refused) {
        // What the workload may not ask, the harness can.
        case.note("netlink is refused inside; what the namespace holds was seen from outside");
        for way in leading.split(", ").filter(|way| !way.is_empty()) {
            case.breach(way);
        }
        return;
    }
    if let Some(Facts::Network { links, .. }) = case.facts_in(LaunchKind::Target, "network") {
        case.control(links.iter().any(|link| link.loopback), "inside, the probe sees loopback");
    }
    for way in elsewhere(case, LaunchKind::Target) {
        case.breach(way);
    }
}

/// Every link, address and route of this launch that leads anywhere but to itself.
fn elsewhere(case: &mut Case<'_>, kind: LaunchKind) -> Vec<String> {
    let Some(Facts::Network { links, addresses, routes }) = case.facts_in(kind, "network") else { return vec![] };
    let loopback = |index: u32| links.iter().any(|link| link.index == index && link.loopback);
    let up = links.iter().filter(|link| link.up && !link.loopback).map(|link| format!("link {} is up", link.name));
    let addresses = addresses
        .iter()
        .filter(|one| !loopback(one.link) || !one.address.is_loopback())
        .map(|one| format!("address {} on link {}", one.address, one.link));
    let routes = routes
        .iter()
        .filter(|route| !loopback(route.link))
        .map(|route| format!("route to {} by link {}", route.destination, route.link));
    up.chain(addresses).chain(routes).collect()
}

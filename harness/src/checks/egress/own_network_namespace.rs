//! EGRESS-1: the workload's network namespace is its own.

use std::net::IpAddr;

use watertight_fixtures::world::{HOST_V4, HOST_V6};
use watertight_probe::observation::{Facts, Outcome};
use watertight_reports::{
    evidence::{Launch, LaunchKind},
    results::ControlKind,
};

use crate::{
    case::Case,
    check::Check,
    planner::Planner,
    run::{LOOK, LOOK_AT_NETWORK},
};

pub static CHECK: Check =
    Check::facts("EGRESS-1", "egress::own_network_namespace", ControlKind::KnownPositive, plan, judge)
        .witnessed()
        .caught_on(&["share-network"]);

fn plan(_: &mut Planner<'_>) {}

fn judge(case: &mut Case<'_>) {
    // The witness is shown to work by finding the unconfined probe where it was put.
    let control = case.launch(LaunchKind::ControlBefore);
    if let Some(control) = control {
        let found = !control.processes.is_empty()
            && control.processes.iter().all(|one| one.namespaces.get("net") == one.world_namespaces.get("net"));
        case.control(found, "the witness finds the unconfined probe in the world's network namespace");
    }
    for process in case.witnessed() {
        match process.namespaces.get("net") {
            Some(own) if process.world_namespaces.get("net") == Some(own) => {
                case.breach(format!("process {} shares the world's network namespace {own}", process.comm));
            }
            Some(own) => case.note(format!("network namespace {own} is not the world's")),
            None => case.missing(format!("the network namespace of process {} could not be read", process.pid)),
        }
    }
    for launch in case.unseen() {
        from_inside(case, launch, control.and_then(cookie));
    }
}

/// What a probe that cannot be seen says of its network: the kernel's cookie of it, or the world's addresses in it.
fn from_inside(case: &mut Case<'_>, launch: &Launch, world: Option<u64>) {
    match (cookie(launch), world) {
        (Some(own), Some(world)) if own == world => case.breach("the cookie of its network is that of the world's"),
        (Some(own), Some(_)) => case.note(format!("the cookie of its network, {own}, is not that of the world's")),
        _ => by_addresses(case),
    }
}

fn by_addresses(case: &mut Case<'_>) {
    let Some(record) = case.launch_named(LOOK).and_then(|look| look.attempts.get(LOOK_AT_NETWORK)) else {
        case.missing("it was not asked for its addresses");
        return;
    };
    match record.observation.as_ref().map(|observation| &observation.outcome) {
        Some(Outcome::Found { facts: Facts::Network { addresses, .. } }) => {
            let worlds = [IpAddr::from(HOST_V4), HOST_V6.into()];
            match addresses.iter().find(|one| worlds.contains(&one.address)) {
                Some(one) => case.breach(format!("the world's address {} is one of its own", one.address)),
                None => case.note("it has no cookie, and none of the world's addresses"),
            }
        }
        _ => case.control(false, "it has neither a cookie nor a list of addresses"),
    }
}

fn cookie(launch: &Launch) -> Option<u64> {
    launch.hello.as_ref()?.netns
}

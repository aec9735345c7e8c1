//! ROUTE-4: without an instance, its port is closed and nothing takes its place.

use std::net::Ipv4Addr;

use watertight_probe::{
    observation::{Observation, Outcome},
    plan::Attempt,
};
use watertight_reports::{
    evidence::LaunchKind,
    results::{ControlKind, Subject},
};

use crate::{
    case::Case,
    check::{Capability, Check},
    planner::{INSTANCE_PORT, Planner, exchange, instance_authority, tcp},
    request::Request,
    site::address,
};

pub static CHECK: Check = Check::facts("ROUTE-4", "route::no_instance_no_port", ControlKind::Twin, plan, judge)
    .about(Subject::Launcher)
    .waived_by(&[Capability::Instance])
    .caught_on(&["default-instance", "share-network", "leak-instance-address"])
    .spared(&[("*", "one port, seen from several sides: as a port, as the address behind it, by a client of it")]);

fn plan(plan: &mut Planner<'_>) {
    match plan.layout.way.proxies().first().cloned() {
        None => {
            let to = (Ipv4Addr::LOCALHOST, INSTANCE_PORT).into();
            plan.ask("port", tcp(to)).only_in(LaunchKind::NoInstance);
        }
        Some(proxy) => {
            let attempt = Attempt::Proxied { proxy, to: instance_authority() };
            plan.ask("port", attempt).deadline(5_000).only_in(LaunchKind::NoInstance);
        }
    }
    let to = (address::INSTANCE_V4, 80).into();
    plan.ask("directly", tcp(to)).only_in(LaunchKind::NoInstance);
    if plan.routes().contains(&Capability::Provider) {
        let models = Request::models().mode(plan.nonce("provider"), "plain").exchange();
        plan.ask("provider", exchange(plan.endpoint(Capability::Provider), models)).only_in(LaunchKind::NoInstance);
    }
    let request = Request::new("GET", "/api/v1/context").mode(plan.nonce("with"), "plain");
    plan.ask("with", exchange(plan.endpoint(Capability::Instance), request.exchange()));
    let instance = format!("http://127.0.0.1:{INSTANCE_PORT}");
    plan.ask("mcp", Attempt::Mcp { instance }).deadline(10_000).only_in(LaunchKind::NoInstance);
}

fn judge(case: &mut Case<'_>) {
    let with = case.exchange("with");
    case.control(with.status == Some(200), "with an instance configured, the same port answers");
    if case.routes().contains(&Capability::Provider) {
        let provider = case.exchange_in(LaunchKind::NoInstance, "provider");
        case.control(provider.status == Some(200), "without one, the provider still answers");
    }
    for name in ["port", "directly", "mcp"] {
        let seen = case.sightings_in(LaunchKind::NoInstance, name);
        if !seen.is_empty() {
            case.breach(format!("{name}: {}", crate::describe::sightings(seen)));
        }
    }
    for name in ["port", "directly"] {
        let Some(record) = case.attempt_in(LaunchKind::NoInstance, name) else { continue };
        // What a proxy answered in place of the instance is a refusal as well.
        let proxied = matches!(record.attempt, Attempt::Proxied { .. });
        let refused = |one: &Observation| match one.outcome {
            Outcome::Refused { .. } => true,
            // So is that there is no proxy.
            Outcome::Found { .. } | Outcome::Absent { .. } => proxied,
            _ => false,
        };
        let refused = record.observation.as_ref().is_some_and(refused);
        case.require(refused, format!("{name}: it was not refused"));
    }
}

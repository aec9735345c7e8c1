//! AUTH-2: a bearer belongs to one spawn: another spawn's, still alive beside it, gets 401 (catalogue C10).

use watertight_reports::{
    evidence::LaunchKind,
    results::{ControlKind, Subject},
};

use crate::{
    case::Case,
    check::{Capability, Check},
    planner::{Planner, exchange, provider},
    request::{MODELS, Request},
};

pub static CHECK: Check = Check::facts("AUTH-2", "auth::other_spawn", ControlKind::Twin, plan, judge)
    .about(Subject::Relay)
    .waived_by(&[Capability::Provider])
    .caught_on(&["constant-bearer", "accept-any-bearer", "compare-length-only"])
    .spared(&[("own", "a control of the check")]);

fn plan(plan: &mut Planner<'_>) {
    let own = Request::models().mode(plan.nonce("own"), "plain").exchange();
    plan.ask("own", exchange(provider(), own)).only_in(LaunchKind::Second);
    let bearer = plan.layout.second_bearer.clone().unwrap_or_default();
    let other = Request::new("GET", MODELS).header("authorization", format!("Bearer {bearer}"));
    let other = other.mode(plan.nonce("other"), "plain").exchange();
    plan.ask("other", exchange(provider(), other));
}

fn judge(case: &mut Case<'_>) {
    let own = case.exchange_in(LaunchKind::Second, "own");
    case.control(own.status == Some(200), "in its own spawn, that bearer got 200");
    let known = case.launch(LaunchKind::Second).is_some_and(|launch| launch.outside.contains_key("bearer"));
    case.control(known, "the witness read the other spawn's bearer");
    let other = case.exchange("other");
    for hit in case.arrived("other") {
        case.breach(format!("the provider was asked ({})", hit.fixture));
    }
    case.require(other.status == Some(401), crate::describe::exchange(&other));
}

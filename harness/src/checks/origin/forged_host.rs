//! ORIGIN-1: a forged Host changes nothing: the request goes to the relay's own origin under its own name (catalogue C1, D4).

use watertight_reports::results::{ControlKind, Subject};

use super::{both_relays_work, only_own_origin, plan_permitted};
use crate::{
    case::Case,
    check::{Capability, Check},
    planner::{Planner, exchange, instance, provider},
    request::Request,
};

pub static CHECK: Check = Check::facts("ORIGIN-1", "origin::forged_host", ControlKind::Twin, plan, judge)
    .about(Subject::Relay)
    .waived_by(Capability::Provider)
    .caught_on(&["forward-host", "route-by-host"]);

const NAMES: [&str; 4] = ["provider-address", "provider-name", "instance-address", "instance-name"];

fn plan(plan: &mut Planner<'_>) {
    plan_permitted(plan);
    for name in NAMES {
        let evil = plan.internet_v4(80);
        let host = if name.ends_with("name") { format!("{}.canary.test", plan.nonce(name)) } else { evil.to_string() };
        if name.starts_with("provider") {
            let request = Request::models().host(&host).mode(plan.nonce(name), "plain");
            plan.ask(name, exchange(provider(), request.exchange())).evil(evil);
        } else {
            let request = Request::new("GET", "/api/v1/context").host(&host).mode(plan.nonce(name), "plain");
            plan.ask(name, exchange(instance(), request.exchange())).evil(evil);
        }
    }
}

fn judge(case: &mut Case<'_>) {
    both_relays_work(case);
    for name in NAMES {
        only_own_origin(case, name);
        let answer = case.exchange(name);
        let hits = case.requests(name, super::fixture(name)).len();
        let relayed = answer.status == Some(200) && hits == 1;
        let refused = answer.status.is_some_and(|status| (400..500).contains(&status)) && hits == 0;
        case.require(relayed || refused, format!("{name}: {}, {hits} hits", crate::describe::exchange(&answer)));
    }
}

//! ORIGIN-1: a forged Host changes nothing: the request goes to the relay's own origin under its own name (catalogue C1, D4).

use watertight_reports::results::{ControlKind, Subject};

use super::{authority, of_routes, only_own_origin, other, plan_permitted, relays_work, route};
use crate::{
    case::Case,
    check::{Capability, Check},
    planner::{Planner, exchange, permitted},
};

pub static CHECK: Check = Check::facts("ORIGIN-1", "origin::forged_host", ControlKind::Twin, plan, judge)
    .about(Subject::Relay)
    .waived_by(Capability::ROUTES)
    .of_relays()
    .caught_on(&["route-by-host", "forward-host", "resolve-host", "send-twice"])
    .spared(&[
        ("*-permitted", "a control of the check"),
        ("*", "both relays share the code, and the forms of one kind share a rule"),
    ]);

const NAMES: [&str; 6] =
    ["provider-address", "provider-name", "provider-other", "instance-address", "instance-name", "instance-other"];

fn plan(plan: &mut Planner<'_>) {
    plan_permitted(plan);
    for name in of_routes(&NAMES, &plan.routes()) {
        let evil = plan.internet_v4(80);
        let host = if name.ends_with("name") {
            format!("{}.canary.test", plan.nonce(name))
        } else if name.ends_with("other") {
            authority(other(route(name)))
        } else {
            evil.to_string()
        };
        let request = permitted(route(name)).host(&host).mode(plan.nonce(name), "plain");
        plan.ask(name, exchange(plan.endpoint(route(name)), request.exchange())).evil(evil);
    }
}

fn judge(case: &mut Case<'_>) {
    relays_work(case);
    for name in of_routes(&NAMES, &case.routes()) {
        only_own_origin(case, name);
        let answer = case.exchange(name);
        let hits = case.requests(name, route(name).name()).len();
        let relayed = answer.status == Some(200) && hits == 1;
        let refused = answer.status.is_some_and(|status| (400..500).contains(&status)) && hits == 0;
        case.require(relayed || refused, format!("{name}: {}, {hits} hits", crate::describe::exchange(&answer)));
    }
}

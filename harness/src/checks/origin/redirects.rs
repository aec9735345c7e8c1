//! ORIGIN-7: a redirect of an origin is not followed (catalogue C8, I13).

use watertight_reports::results::{ControlKind, Subject};

use super::{only_own_origin, plan_permitted, relays_work};
use crate::{
    case::Case,
    check::{Capability, Check},
    planner::{Planner, exchange, permitted},
};

pub static CHECK: Check = Check::facts("ORIGIN-7", "origin::redirects", ControlKind::Twin, plan, judge)
    .about(Subject::Relay)
    .waived_by(Capability::ROUTES)
    .of_relays()
    .caught_on(&["follow-redirects", "forward-host", "send-twice"])
    .spared(&[
        ("*-permitted", "a control of the check"),
        ("*", "both relays share the code, and the forms of one kind share a rule"),
    ]);

const STATUSES: [u16; 3] = [302, 307, 308];

fn plan(plan: &mut Planner<'_>) {
    plan_permitted(plan);
    for status in STATUSES {
        for route in plan.routes() {
            let name = format!("{}-{status}", route.name());
            let evil = plan.internet_v4(80);
            let mode = format!("redirect http://{evil}/{} {status}", plan.nonce(&name));
            let steps = permitted(route).mode(plan.nonce(&name), mode).exchange();
            plan.ask(name, exchange(plan.endpoint(route), steps)).evil(evil);
        }
    }
}

fn judge(case: &mut Case<'_>) {
    relays_work(case);
    for status in STATUSES {
        for route in case.routes() {
            let name = format!("{}-{status}", route.name());
            only_own_origin(case, &name);
            let answer = case.exchange(&name);
            let hits = case.requests(&name, route.name()).len();
            case.control(hits >= 1, format!("{name}: the origin was asked and redirected"));
            // Handed on as it is, or refused: never the page behind it.
            let kept = answer.status == Some(status) || answer.status == Some(502);
            case.require(kept && hits == 1, format!("{name}: {}, {hits} hits", crate::describe::exchange(&answer)));
        }
    }
}

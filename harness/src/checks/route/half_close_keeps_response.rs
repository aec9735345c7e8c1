//! ROUTE-7: a client that ends its side after the request still gets the whole response (catalogue L06).

use watertight_probe::{observation::Ended, plan::Step};
use watertight_reports::results::{ControlKind, Subject};

use crate::{
    case::Case,
    check::{Capability, Check},
    planner::{Planner, exchange, instance, provider},
    request::Request,
};

pub static CHECK: Check = Check::facts("ROUTE-7", "route::half_close_keeps_response", ControlKind::Twin, plan, judge)
    .about(Subject::Relay)
    .waived_by(Capability::Provider)
    .caught_on(&["end-on-half-close"]);

const LEN: u64 = 1024 * 1024;

fn plan(plan: &mut Planner<'_>) {
    for (name, half_close) in [("whole", false), ("half-closed", true)] {
        let mode = format!("large {LEN} 7");
        let mut steps = Request::models().mode(plan.nonce(name), &mode).send();
        if half_close {
            steps.push(Step::HalfClose);
        }
        steps.push(Step::ReadResponse);
        plan.ask(name, exchange(provider(), steps));
    }
    let mut steps = Request::new("GET", "/api/v1/x").mode(plan.nonce("instance"), format!("large {LEN} 7")).send();
    steps.extend([Step::HalfClose, Step::ReadResponse]);
    plan.ask("instance", exchange(instance(), steps));
}

fn judge(case: &mut Case<'_>) {
    let whole = case.exchange("whole");
    case.control(whole.body_len == LEN, "without the half-close the response is whole");
    for name in ["half-closed", "instance"] {
        let answer = case.exchange(name);
        let kept = answer.ended == Ended::Complete && answer.body_len == LEN;
        case.require(kept, format!("{name}: {}", crate::describe::exchange(&answer)));
    }
}

//! ROUTE-7: a client that ends its side after the request still gets the whole response (catalogue L06).

use watertight_probe::{observation::Ended, plan::Step, sighting::Event};
use watertight_reports::results::{ControlKind, Subject};

use super::body::digest;
use crate::{
    case::Case,
    check::{Capability, Check},
    planner::{Planner, exchange, permitted},
};

pub static CHECK: Check = Check::facts("ROUTE-7", "route::half_close_keeps_response", ControlKind::Twin, plan, judge)
    .about(Subject::Relay)
    .waived_by(Capability::ROUTES)
    .caught_on(&["end-on-half-close", "drop-half-closed"])
    .spared(&[
        ("*-whole", "a control of the check"),
        ("*-half-closed", "both relays share the code, and the forms of one kind share a rule"),
    ]);

const LEN: u64 = 1024 * 1024;
const SEED: u32 = 7;

fn plan(plan: &mut Planner<'_>) {
    for route in plan.routes() {
        for (way, half_close) in [("whole", false), ("half-closed", true)] {
            let name = format!("{}-{way}", route.name());
            let mut steps = permitted(route).mode(plan.nonce(&name), format!("large {LEN} {SEED}")).send();
            if half_close {
                steps.push(Step::HalfClose);
            }
            steps.push(Step::ReadResponse);
            plan.ask(name, exchange(plan.endpoint(route), steps));
        }
    }
}

fn judge(case: &mut Case<'_>) {
    let expected = digest(LEN, SEED);
    for route in case.routes() {
        for way in ["whole", "half-closed"] {
            let name = format!("{}-{way}", route.name());
            let answer = case.exchange(&name);
            // The origin says that it wrote the whole response.
            let written = |event: &Event| matches!(event, Event::Responded { status: 200, .. });
            let sent = case.arrived(&name).iter().any(|one| one.fixture == route.name() && written(&one.event));
            let whole = answer.ended == Ended::Complete && answer.body_len == LEN && answer.body_sha256 == expected;
            let described = format!("{name}: {}, sent whole: {sent}", crate::describe::exchange(&answer));
            if way == "whole" {
                case.control(whole && sent, described);
            } else {
                case.require(whole && sent, described);
            }
        }
    }
}

//! CANCEL-5: upstream ends before its message does: the client sees an abnormal end within 500 ms, and the next request works.
//!
//! A short Content-Length, a cut chunk and a reset are three ways to end too soon (catalogue D9, D10, L01, L02).

use watertight_probe::observation::Ended;
use watertight_reports::results::{ControlKind, Subject};

use super::{once, request};
use crate::{
    case::Case,
    check::{Capability, Check},
    planner::{Planner, exchange},
};

pub static CHECK: Check = Check::facts("CANCEL-5", "cancel::upstream_cut_short", ControlKind::Twin, plan, judge)
    .about(Subject::Relay)
    .waived_by(Capability::ROUTES)
    .caught_on(&["end-cut-response-normally", "hang-on-cut-response", "keep-client-on-upstream-end"])
    .spared(&[
        ("*-whole", "a control of the check"),
        ("*", "all three are the same to a relay: a body without its end"),
    ]);

const CUTS: [&str; 3] = ["cut-length", "cut-chunked", "reset"];
const LIMIT_MICROS: u64 = 500_000;

fn plan(plan: &mut Planner<'_>) {
    for route in plan.routes() {
        for cut in CUTS {
            let name = format!("{}-{cut}", route.name());
            let mut steps = request(route, plan, &name, cut).exchange();
            // The next request, on a new connection.
            steps.push(once(route, plan, &name, "await"));
            plan.ask(name, exchange(plan.endpoint(route), steps));
        }
        let name = format!("{}-whole", route.name());
        let steps = request(route, plan, &name, "plain").exchange();
        plan.ask(name, exchange(plan.endpoint(route), steps));
    }
}

fn judge(case: &mut Case<'_>) {
    for route in case.routes() {
        let name = format!("{}-whole", route.name());
        let whole = case.exchange(&name);
        case.control(whole.ended == Ended::Complete, format!("{name}: a whole response arrives whole"));
        // What a busy machine makes of a whole response, it makes of the end of a cut one.
        let limit = LIMIT_MICROS + 10 * whole.step_micros.last().copied().unwrap_or(0);
        for cut in CUTS {
            let name = format!("{}-{cut}", route.name());
            let hits = case.requests(&name, route.name()).len();
            case.control(hits > 0, format!("{name}: the request reached its origin"));
            let answer = case.exchange(&name);
            let described = crate::describe::exchange(&answer);
            let abnormal = match answer.ended {
                Ended::Truncated | Ended::Reset | Ended::Closed => true,
                Ended::Complete => answer.status.is_some_and(|status| status >= 500),
                Ended::Open | Ended::Malformed => false,
            };
            case.require(abnormal, format!("{name}: {described}"));
            case.require(answer.stopped.is_none(), format!("{name}: the next request did not work: {described}"));
            // The last step but one reads the response; each step's time is its own.
            let reading = (case.steps(&name) as usize).checked_sub(2);
            let micros = reading.and_then(|step| answer.step_micros.get(step)).copied().unwrap_or(u64::MAX);
            case.require(micros < limit, format!("{name}: the end took {micros} us of {limit}"));
        }
    }
}

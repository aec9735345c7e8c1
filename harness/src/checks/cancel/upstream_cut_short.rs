//! CANCEL-5: upstream ends before its message does: the client sees an abnormal end within 500 ms, and the next request works.
//!
//! A short Content-Length, a cut chunk and a reset are three ways to end too soon (catalogue D9, D10, L01, L02).

use watertight_probe::observation::Ended;
use watertight_reports::results::{ControlKind, Subject};

use super::{RELAYS, endpoint, request};
use crate::{
    case::Case,
    check::{Capability, Check},
    planner::{Planner, exchange},
};

pub static CHECK: Check = Check::facts("CANCEL-5", "cancel::upstream_cut_short", ControlKind::Twin, plan, judge)
    .about(Subject::Relay)
    .waived_by(Capability::Provider)
    .caught_on(&["end-cut-response-normally", "keep-client-on-upstream-end", "end-relay-on-upstream-error"]);

const CUTS: [&str; 3] = ["cut-length", "cut-chunked", "reset"];
const LIMIT_MICROS: u64 = 500_000;

fn plan(plan: &mut Planner<'_>) {
    for relay in RELAYS {
        for cut in CUTS {
            let name = format!("{relay}-{cut}");
            let mut steps = request(relay, plan, &name, cut).exchange();
            // The next request, on a new connection.
            steps.push(super::once(relay, plan, &name, "await"));
            plan.ask(name, exchange(endpoint(relay), steps)).deadline(4_000);
        }
        let name = format!("{relay}-whole");
        let steps = request(relay, plan, &name, "plain").exchange();
        plan.ask(name, exchange(endpoint(relay), steps));
    }
}

fn judge(case: &mut Case<'_>) {
    for relay in RELAYS {
        let whole = case.exchange(&format!("{relay}-whole"));
        case.control(whole.ended == Ended::Complete, format!("{relay}: a whole response arrives whole"));
        for cut in CUTS {
            let name = format!("{relay}-{cut}");
            let hits = case.requests(&name, relay).len();
            case.control(hits == 1, format!("{name}: the request reached its origin once ({hits})"));
            let answer = case.exchange(&name);
            let described = crate::describe::exchange(&answer);
            let abnormal = match answer.ended {
                Ended::Truncated | Ended::Reset | Ended::Closed => true,
                Ended::Complete => answer.status.is_some_and(|status| status >= 500),
                Ended::Open | Ended::Malformed => false,
            };
            case.require(abnormal, format!("{name}: {described}"));
            case.require(answer.stopped.is_none(), format!("{name}: the next request did not work: {described}"));
            let read = answer.steps_done.saturating_sub(2) as usize;
            let micros = answer.step_micros.get(read).copied().unwrap_or(u64::MAX);
            let before = read.checked_sub(1).and_then(|step| answer.step_micros.get(step)).copied().unwrap_or(0);
            case.require(micros.saturating_sub(before) < LIMIT_MICROS, format!("{name}: the end took {micros} us"));
        }
    }
}

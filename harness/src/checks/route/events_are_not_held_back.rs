//! ROUTE-6: server-sent events arrive one by one. The provider sends the next only when the probe has read the last.

use watertight_probe::{observation::Ended, plan::Step};
use watertight_reports::results::{ControlKind, Subject};

use crate::{
    case::Case,
    check::{Capability, Check},
    planner::{Planner, exchange, provider},
    request::Request,
};

pub static CHECK: Check = Check::facts("ROUTE-6", "route::events_are_not_held_back", ControlKind::Twin, plan, judge)
    .about(Subject::Relay)
    .waived_by(&[Capability::Provider])
    .caught_on(&["collect-response"])
    .spared(&[("whole", "a control of the check")]);

fn plan(plan: &mut Planner<'_>) {
    let nonce = plan.nonce("events");
    let mut steps = Request::chat().mode(nonce, "stream 3").send();
    // The fixture's events are numbered; each further one needs a release.
    for event in 1..3 {
        steps.push(Step::ReadUntil(format!("event-{event}")));
        steps.push(Step::Await(Request::models().mode(plan.side_nonce("events"), format!("release {nonce}")).send()));
    }
    steps.push(Step::ReadResponse);
    plan.ask("events", exchange(provider(), steps));
    let whole = Request::models().mode(plan.nonce("whole"), "plain").exchange();
    plan.ask("whole", exchange(provider(), whole));
}

fn judge(case: &mut Case<'_>) {
    let whole = case.exchange("whole");
    case.control(whole.status == Some(200), "an ordinary request through the same relay got 200");
    let events = case.exchange("events");
    let complete = events.stopped.is_none() && events.ended == Ended::Complete;
    case.require(complete, format!("the stream: {}", crate::describe::exchange(&events)));
}

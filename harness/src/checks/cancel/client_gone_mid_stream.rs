//! CANCEL-3: the client goes in the middle of a stream: upstream's connection ends (catalogue L04).

use watertight_probe::plan::Step;
use watertight_reports::results::{ControlKind, Subject};

use super::{cancelled, each_way, once, request};
use crate::{
    check::{Capability, Check},
    planner::{Planner, exchange},
};

pub static CHECK: Check =
    Check::facts("CANCEL-3", "cancel::client_gone_mid_stream", ControlKind::KnownPositive, plan, cancelled)
        .about(Subject::Relay)
        .waived_by(Capability::ROUTES)
        .caught_on(&["keep-upstream-on-hangup", "mistake-close-for-half-close", "collect-response"])
        .spared(&[("*", "both relays share the code, and the forms of one kind share a rule")]);

fn plan(plan: &mut Planner<'_>) {
    for (route, name, end) in each_way(plan.routes()) {
        let mut steps = request(route, plan, &name, "stream").send();
        steps.extend([Step::ReadUntil("event-1".into()), end, once(route, plan, &name, "await-gone")]);
        plan.ask(name, exchange(plan.endpoint(route), steps)).deadline(4_000);
    }
}

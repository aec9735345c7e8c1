//! CANCEL-1: the client goes while the response is pending: upstream's connection ends (catalogue C6, D7).

use watertight_reports::results::{ControlKind, Subject};

use super::{cancelled, each_way, once, request};
use crate::{
    check::{Capability, Check},
    planner::{Planner, exchange},
};

pub static CHECK: Check =
    Check::facts("CANCEL-1", "cancel::client_gone_while_pending", ControlKind::KnownPositive, plan, cancelled)
        .about(Subject::Relay)
        .waived_by(Capability::ROUTES)
        .caught_on(&["keep-upstream-on-hangup", "mistake-close-for-half-close"])
        .spared(&[("*", "both relays share the code, and the forms of one kind share a rule")]);

fn plan(plan: &mut Planner<'_>) {
    for (route, name, end) in each_way(plan.routes()) {
        let mut steps = request(route, plan, &name, "pending").send();
        steps.extend([once(route, plan, &name, "await"), end, once(route, plan, &name, "await-gone")]);
        plan.ask(name, exchange(plan.endpoint(route), steps)).deadline(4_000);
    }
}

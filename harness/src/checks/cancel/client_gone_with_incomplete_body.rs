//! CANCEL-2: the client goes in the middle of its own body: upstream's connection ends (catalogue D8).

use watertight_probe::plan::{BearerForm, Step};
use watertight_reports::results::{ControlKind, Subject};

use super::{cancelled, each_way, once};
use crate::{
    check::{Capability, Check},
    planner::{Planner, exchange},
    request::{CHAT, Request},
};

pub static CHECK: Check =
    Check::facts("CANCEL-2", "cancel::client_gone_with_incomplete_body", ControlKind::KnownPositive, plan, cancelled)
        .about(Subject::Relay)
        .waived_by(Capability::ROUTES)
        .caught_on(&["mistake-close-for-half-close"])
        .spared(&[("*", "both relays share the code, and the forms of one kind share a rule")]);

fn plan(plan: &mut Planner<'_>) {
    for (route, name, end) in each_way(plan.routes()) {
        let request = match route {
            Capability::Provider | Capability::Relay => Request::new("POST", CHAT).bearer(BearerForm::Right),
            Capability::Instance => Request::new("POST", "/api/v1/messages"),
        };
        let mut steps = request.mode(plan.nonce(&name), "pending").missing_body(1000).send();
        steps.push(Step::Send("the first of a thousand bytes".into()));
        steps.extend([once(route, plan, &name, "await"), end, once(route, plan, &name, "await-gone")]);
        plan.ask(name, exchange(plan.endpoint(route), steps)).deadline(4_000);
    }
}

//! CANCEL-2: the client goes in the middle of its own body: upstream's connection ends (catalogue D8).

use watertight_probe::plan::Step;
use watertight_reports::results::{ControlKind, Subject};

use super::{RELAYS, WAYS, cancelled, endpoint, once};
use crate::{
    case::Case,
    check::{Capability, Check},
    planner::{Planner, exchange},
    request::{CHAT, Request},
};

pub static CHECK: Check =
    Check::facts("CANCEL-2", "cancel::client_gone_with_incomplete_body", ControlKind::KnownPositive, plan, judge)
        .about(Subject::Relay)
        .waived_by(Capability::Provider)
        .caught_on(&["keep-upstream-on-cut-body"]);

fn plan(plan: &mut Planner<'_>) {
    for relay in RELAYS {
        for (way, end) in WAYS {
            let name = format!("{relay}-{way}");
            let request = match relay {
                "provider" => Request::new("POST", CHAT).bearer(watertight_probe::plan::BearerForm::Right),
                _ => Request::new("POST", "/api/v1/messages"),
            };
            let mut steps = request.mode(plan.nonce(&name), "pending").missing_body(1000).send();
            steps.push(Step::Send("the first of a thousand bytes".into()));
            steps.extend([once(relay, plan, &name, "await"), end, once(relay, plan, &name, "await-gone")]);
            plan.ask(name, exchange(endpoint(relay), steps)).deadline(4_000);
        }
    }
}

fn judge(case: &mut Case<'_>) {
    for relay in RELAYS {
        for (way, _) in WAYS {
            let name = format!("{relay}-{way}");
            let steps = case.steps(&name);
            cancelled(case, &name, steps - 1);
        }
    }
}

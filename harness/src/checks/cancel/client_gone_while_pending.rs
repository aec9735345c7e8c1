//! CANCEL-1: the client goes while the response is pending: upstream's connection ends (catalogue C6, D7).

use watertight_reports::results::{ControlKind, Subject};

use super::{RELAYS, WAYS, cancelled, endpoint, once, request};
use crate::{
    case::Case,
    check::{Capability, Check},
    planner::{Planner, exchange},
};

pub static CHECK: Check =
    Check::facts("CANCEL-1", "cancel::client_gone_while_pending", ControlKind::KnownPositive, plan, judge)
        .about(Subject::Relay)
        .waived_by(Capability::Provider)
        .caught_on(&["keep-upstream-on-hangup"]);

fn plan(plan: &mut Planner<'_>) {
    for relay in RELAYS {
        for (way, end) in WAYS {
            let name = format!("{relay}-{way}");
            let mut steps = request(relay, plan, &name, "pending").send();
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

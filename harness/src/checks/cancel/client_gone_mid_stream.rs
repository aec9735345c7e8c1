//! CANCEL-3: the client goes in the middle of a stream: upstream's connection ends (catalogue L04).

use watertight_probe::plan::Step;
use watertight_reports::results::{ControlKind, Subject};

use super::{RELAYS, WAYS, cancelled, endpoint, once, request};
use crate::{
    case::Case,
    check::{Capability, Check},
    planner::{Planner, exchange},
};

pub static CHECK: Check =
    Check::facts("CANCEL-3", "cancel::client_gone_mid_stream", ControlKind::KnownPositive, plan, judge)
        .about(Subject::Relay)
        .waived_by(Capability::Provider)
        .caught_on(&["keep-upstream-mid-stream", "drain-response"]);

fn plan(plan: &mut Planner<'_>) {
    for relay in RELAYS {
        for (way, end) in WAYS {
            let name = format!("{relay}-{way}");
            let mut steps = request(relay, plan, &name, "stream").send();
            steps.extend([Step::ReadUntil("event-1".into()), end, once(relay, plan, &name, "await-gone")]);
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

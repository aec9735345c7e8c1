//! PRIV-3: the workload cannot make a user namespace, where it would hold every capability again.

use watertight_probe::{
    observation::{Facts, Outcome},
    plan::Attempt,
};
use watertight_reports::{evidence::LaunchKind, results::ControlKind};

use crate::{case::Case, check::Check, planner::Planner};

pub static CHECK: Check = Check::facts("PRIV-3", "priv::no_user_namespace", ControlKind::Unconfined, plan, judge)
    .should()
    .caught_on(&["allow-unshare", "allow-clone3"]);

const WAYS: [(&str, bool); 2] = [("unshare", false), ("clone3", true)];

fn plan(plan: &mut Planner<'_>) {
    for (name, by_clone3) in WAYS {
        let reach = plan.internet_v4(443);
        let attempt = Attempt::NewNamespaces { user: true, network: false, mount: false, by_clone3, reach };
        plan.ask(name, attempt).also_in(LaunchKind::ControlBefore);
    }
}

fn judge(case: &mut Case<'_>) {
    for (name, _) in WAYS {
        case.facts_in(LaunchKind::ControlBefore, name);
        match case.outcome(name) {
            Some(Outcome::Found { facts: Facts::Namespaces { .. } }) => {
                case.breach(format!("{name}: a user namespace was made"));
            }
            Some(Outcome::Refused { .. } | Outcome::Killed { signal: libc::SIGSYS }) => {}
            Some(Outcome::Broken { message }) => case.missing(format!("{name}: the probe failed: {message}")),
            Some(other) => case.control(false, format!("{name}: {}", crate::describe::outcome(other))),
            None => {}
        }
    }
}

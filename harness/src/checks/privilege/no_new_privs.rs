//! PRIV-2: `no_new_privs` is set on every thread and descendant of the workload.

use watertight_probe::{observation::Facts, plan::Attempt};
use watertight_reports::{evidence::LaunchKind, results::ControlKind};

use crate::{case::Case, check::Check, planner::Planner};

pub static CHECK: Check = Check::facts("PRIV-2", "priv::no_new_privs", ControlKind::KnownPositive, plan, judge)
    .witnessed()
    .caught_on(&["allow-new-privs"])
    .spared(&[("*", "the same bit from inside and from outside, so that neither side is believed alone")]);

fn plan(plan: &mut Planner<'_>) {
    plan.ask("inside", Attempt::Privileges).also_in(LaunchKind::ControlBefore);
}

fn judge(case: &mut Case<'_>) {
    if let Some(Facts::Privileges { of }) = case.facts_in(LaunchKind::ControlBefore, "inside") {
        case.control(of.iter().all(|one| !one.no_new_privs), "the unconfined probe sees that it is not set");
    }
    if let Some(Facts::Privileges { of }) = case.facts_in(LaunchKind::Target, "inside") {
        for one in of.iter().filter(|one| !one.no_new_privs) {
            case.breach(format!("inside, not set for {}", one.of));
        }
    }
    for process in case.witnessed() {
        for thread in process.threads.iter().filter(|thread| !thread.no_new_privs) {
            case.breach(format!("from outside, not set for thread {} of {}", thread.tid, process.comm));
        }
    }
}

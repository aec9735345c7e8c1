//! LAUNCH-1: with a prerequisite missing, the launch fails and the workload never runs (catalogue B5, P01).
//!
//! The kernel's features are hidden in turn by a filter that the harness installs before the launch. What the manifest
//! does not name as a prerequisite may be missing, if the workload is as far from the host's network as ever.

use watertight_reports::{
    evidence::{Exit, LaunchKind},
    results::{ControlKind, Subject},
};

use super::in_hosts_network;
use crate::{
    case::{Case, is_unseen},
    check::Check,
    planner::Planner,
    scenario::{Prerequisite, Scenario},
};

pub static CHECK: Check = Check::facts("LAUNCH-1", "launch::fails_closed", ControlKind::Twin, plan, judge)
    .about(Subject::Launcher)
    .launching(crate::scenario::ALL_PREREQUISITES)
    .caught_on(&["go-on-after-failure", "always-exit-zero"])
    .spared(&[("*", "what goes on without one prerequisite goes on without any")]);

fn plan(_: &mut Planner<'_>) {}

fn judge(case: &mut Case<'_>) {
    let control = case.evidence().of_kind(LaunchKind::ControlBefore).next();
    for prerequisite in Prerequisite::ALL {
        let id = Scenario::Hides(prerequisite).id();
        let Some(launch) = case.launch_named(&id) else { continue };
        if launch.hello.is_none() {
            if launch.succeeded() {
                case.breach(format!("{id}: nothing ran, and the launch reported success"));
            }
            // Closed, but whoever started it still waits.
            case.require(launch.exit != Some(Exit::Deadline), format!("{id}: the launch ends by itself"));
            continue;
        }
        if launch.outside.get("needed").is_some_and(|needed| needed == "yes") {
            case.breach(format!("{id}: the workload ran"));
        } else if in_hosts_network(launch, control) {
            case.breach(format!("{id}: the workload ran in the host's network"));
        } else if is_unseen(launch) {
            let known = launch.hello.as_ref().is_some_and(|hello| hello.netns.is_some());
            case.control(known, format!("{id}: the workload ran, and can say whether it is in the host's network"));
        } else if launch.processes.is_empty() {
            case.missing(format!("{id}: the workload ran, and no process of it was found from outside"));
        }
    }
}

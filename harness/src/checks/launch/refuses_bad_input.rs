//! LAUNCH-2: what would open the sandbox, or leaves out what it needs, is refused before anything starts (catalogue A5, A9, P03, P04).

use watertight_reports::{
    evidence::{Exit, LaunchKind},
    results::{ControlKind, Subject},
};

use super::in_hosts_network;
use crate::{
    case::Case,
    check::Check,
    planner::Planner,
    scenario::{BadInput, Scenario},
};

pub static CHECK: Check = Check::facts("LAUNCH-2", "launch::refuses_bad_input", ControlKind::Twin, plan, judge)
    .about(Subject::Launcher)
    .launching(crate::scenario::ALL_BAD_INPUT)
    .caught_on(&[
        "start-without-provider",
        "honour-shared-network",
        "accept-provider-query",
        "accept-provider-credentials",
        "accept-instance-path",
        "accept-open-key-file",
        "accept-linked-key-file",
        "accept-key-in-workspace",
        "choose-a-user",
        "pass-over-unknown-options",
        "go-on-without-a-key-file",
        "replace-malformed-provider",
        "always-exit-zero",
    ]);

fn plan(_: &mut Planner<'_>) {}

fn judge(case: &mut Case<'_>) {
    let mut declared = 0;
    let control = case.evidence().of_kind(LaunchKind::ControlBefore).next();
    for input in BadInput::ALL {
        let id = Scenario::Refuses(input).id();
        let Some(launch) = case.launch_named(&id) else { continue };
        match launch.outside.get("declared").map(String::as_str) {
            Some("yes") => declared += 1,
            Some(_) => {
                case.note(format!("{id}: the target has no such input"));
                continue;
            }
            None => {
                case.missing(format!("{id}: whether the target has such an input is not recorded"));
                continue;
            }
        }
        if in_hosts_network(launch, control) {
            case.breach(format!("{id}: the workload ran in the host's network"));
        } else if launch.hello.is_some() {
            case.breach(format!("{id}: the workload ran"));
        } else if launch.succeeded() {
            case.breach(format!("{id}: nothing ran, and the launch reported success"));
        } else {
            case.require(launch.exit != Some(Exit::Deadline), format!("{id}: the launch ends by itself"));
        }
    }
    case.control(declared > 0, "the manifest says how at least one bad input is given to the target");
}

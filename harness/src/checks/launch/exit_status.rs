//! LAUNCH-5: the workload's own exit status comes out (catalogue O18).

use watertight_reports::{
    evidence::Exit,
    results::{ControlKind, Subject},
};

use crate::{case::Case, check::Check, planner::Planner, scenario::Scenario};

pub static CHECK: Check = Check::facts("LAUNCH-5", "launch::exit_status", ControlKind::Twin, plan, judge)
    .should()
    .about(Subject::Launcher)
    .launching(&STATUSES)
    .caught_on(&["always-exit-zero"])
    .spared(&[("status-0", "a control of the check")]);

const STATUSES: [Scenario; 2] = [Scenario::Status(0), Scenario::Status(7)];

fn plan(_: &mut Planner<'_>) {}

fn judge(case: &mut Case<'_>) {
    for (scenario, expected) in STATUSES.into_iter().zip([0, 7]) {
        let Some(launch) = case.launch_named(&scenario.id()) else { continue };
        case.control(launch.done, format!("{}: the workload ran to its end", scenario.id()));
        let came = launch.exit == Some(Exit::Status(expected));
        case.require(came, format!("the workload exited {expected}, the launch ended as {:?}", launch.exit));
    }
}

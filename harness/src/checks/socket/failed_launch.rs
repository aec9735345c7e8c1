//! SOCKET-2: a launch that fails when its relays listen already leaves no listener and no socket behind (catalogue D11, O11).

use watertight_reports::results::{ControlKind, Subject};

use crate::{
    case::Case,
    check::{Capability, Check},
    planner::Planner,
    scenario::Scenario,
};

pub static CHECK: Check = Check::facts("SOCKET-2", "socket::failed_launch", ControlKind::KnownPositive, plan, judge)
    .about(Subject::Launcher)
    .waived_by(Capability::ROUTES)
    .of_relays()
    .launching(&[Scenario::FailsLate])
    .caught_on(&["keep-listening-after-failure", "orphans-survive", "no-cleanup", "leave-a-link", "always-exit-zero"]);

fn plan(_: &mut Planner<'_>) {}

fn judge(case: &mut Case<'_>) {
    let Some(launch) = case.launch_named(&Scenario::FailsLate.id()) else { return };
    case.control(launch.outside.contains_key("settled"), "what is left was counted");
    case.require(!launch.succeeded(), "the launch of a program that cannot start reported success");
    for left in &launch.left {
        case.breach(left.clone());
    }
}

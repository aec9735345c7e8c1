//! TEARDOWN-4: a launcher that is killed in its first milliseconds leaves nothing (catalogue O05).

use watertight_reports::results::{ControlKind, Subject};

use crate::{case::Case, check::Check, planner::Planner, scenario::Scenario};

pub static CHECK: Check = Check::facts("TEARDOWN-4", "teardown::killed_early", ControlKind::KnownPositive, plan, judge)
    .about(Subject::Launcher)
    .launching(&[Scenario::KilledEarly])
    .caught_on(&["orphans-survive", "watch-launcher-late", "leave-a-link", "cleanup-at-exit-only"]);

fn plan(_: &mut Planner<'_>) {}

fn judge(case: &mut Case<'_>) {
    let Some(launch) = case.launch_named(&Scenario::KilledEarly.id()) else { return };
    let alive = launch.number("kills_alive").is_some_and(|kills| kills > 0);
    case.control(alive, "launchers were killed that were alive and had started something");
    case.control(launch.outside.contains_key("settled"), "what is left was counted");
    for left in &launch.left {
        case.breach(left.clone());
    }
}

//! TEARDOWN-1: no process of the sandbox is left, not even one that left its session, ignores signals and has no parent (catalogue O01 to O04).

use watertight_reports::{
    evidence::Exit,
    results::{ControlKind, Subject},
};

use super::nothing_left;
use crate::{
    case::Case,
    check::Check,
    planner::Planner,
    scenario::{Ending, Scenario},
};

pub static CHECK: Check = Check::facts("TEARDOWN-1", "teardown::no_processes", ControlKind::KnownPositive, plan, judge)
    .about(Subject::Launcher)
    .launching(crate::scenario::ALL_ENDINGS)
    .caught_on(&["orphans-survive", "outlive-launcher", "share-pid", "swallow-signals"])
    .spared(&[("*", "the reference ends in one way, whatever ended it: the kernel takes everything with init")]);

fn plan(_: &mut Planner<'_>) {}

fn judge(case: &mut Case<'_>) {
    nothing_left(case, &["process "]);
    let id = Scenario::Ends(Ending::Terminate).id();
    if let Some(launch) = case.launch_named(&id) {
        case.require(launch.exit != Some(Exit::Deadline), format!("{id}: SIGTERM does not end the launch"));
    }
}

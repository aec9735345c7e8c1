//! CANCEL-4: when the launcher ends, in whatever way, no upstream connection of its relays stays (catalogue C6, D7, D8, D13).
//!
//! At that moment the workload has one request pending, one with an incomplete body and one in the middle of a stream.

use watertight_reports::results::{ControlKind, Subject};

use crate::{
    case::Case,
    check::{Capability, Check},
    planner::Planner,
    scenario::{Ending, Scenario},
};

pub static CHECK: Check = Check::facts("CANCEL-4", "cancel::relay_shut_down", ControlKind::KnownPositive, plan, judge)
    .about(Subject::Relay)
    .waived_by(Capability::ROUTES)
    .launching(crate::scenario::ALL_ENDINGS)
    .caught_on(&["relays-outlive-launcher"])
    .spared(&[("*", "the reference ends in one way, whatever ended it: the kernel takes everything with init")]);

fn plan(_: &mut Planner<'_>) {}

/// Requests that are open at each relay: pending, with an incomplete body, in mid-stream.
const OPEN: u64 = 3;

fn judge(case: &mut Case<'_>) {
    case.look_outside();
    let open = OPEN * case.routes().len() as u64;
    for ending in Ending::ALL {
        let id = Scenario::Ends(ending).id();
        let Some(launch) = case.launch_named(&id) else { continue };
        let before = launch.number("upstream_before");
        let after = launch.number("upstream_after");
        case.control(before == Some(open), format!("{id}: {open} requests were open before ({before:?})"));
        match after {
            Some(0) => {}
            Some(open) => case.breach(format!("{id}: {open} upstream connections stayed")),
            None => case.missing(format!("{id}: upstream connections were not counted")),
        }
    }
}

//! PRIV-1: all five capability sets of every thread and descendant of the workload are empty.

use watertight_probe::{observation::Facts, plan::Attempt};
use watertight_reports::{evidence::LaunchKind, results::ControlKind};

use crate::{case::Case, check::Check, planner::Planner};

pub static CHECK: Check = Check::facts("PRIV-1", "priv::capability_sets", ControlKind::KnownPositive, plan, judge)
    .witnessed()
    .caught_on(&["keep-bounding-set", "keep-inheritable-set", "keep-bounding-and-inheritable-sets", "keep-ambient-set"])
    .spared(&[("*", "the same sets from inside and from outside, so that neither side is believed alone")]);

fn plan(plan: &mut Planner<'_>) {
    plan.ask("inside", Attempt::Privileges).also_in(LaunchKind::RootBefore);
}

fn judge(case: &mut Case<'_>) {
    if let Some(Facts::Privileges { of }) = case.facts_in(LaunchKind::RootBefore, "inside") {
        let seen = of.iter().any(|one| one.effective != 0) && of.iter().any(|one| one.bounding != 0);
        case.control(seen, "the probe sees the capabilities of the world's root");
    }
    if let Some(Facts::Privileges { of }) = case.facts_in(LaunchKind::Target, "inside") {
        for one in of {
            for (set, mask) in sets([one.inheritable, one.permitted, one.effective, one.bounding, one.ambient]) {
                case.breach(format!("inside, {} has {set} {mask:#x}", one.of));
            }
        }
    }
    for process in case.witnessed() {
        for thread in &process.threads {
            let masks = [thread.inheritable, thread.permitted, thread.effective, thread.bounding, thread.ambient];
            for (set, mask) in sets(masks) {
                case.breach(format!("from outside, thread {} of {} has {set} {mask:#x}", thread.tid, process.comm));
            }
        }
    }
}

/// The sets that are not empty, by the kernel's names.
fn sets(masks: [u64; 5]) -> impl Iterator<Item = (&'static str, u64)> {
    ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"].into_iter().zip(masks).filter(|(_, mask)| *mask != 0)
}

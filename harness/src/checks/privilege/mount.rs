//! PRIV-5: the workload cannot mount anything, by the old calls or the new ones (catalogue F06).

use watertight_probe::plan::Attempt;

use crate::{check::Check, planner::Planner};

pub static CHECK: Check = Check::denied_as_root("PRIV-5", "priv::mount", plan)
    .caught_on(&["keep-ambient-set-and-mounts"])
    .spared(&[("*", "one capability allows both; a filter can forget one")]);

fn plan(plan: &mut Planner<'_>) {
    for (name, new_api) in [("mount", false), ("fsmount", true)] {
        plan.deny(name, Attempt::Mount { over: "/tmp".into(), new_api }).as_root().alone();
    }
}

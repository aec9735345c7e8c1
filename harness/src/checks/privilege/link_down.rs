//! PRIV-6: the workload cannot take loopback down.

use watertight_probe::plan::{Attempt, NetworkChange};

use crate::{check::Check, planner::Planner};

pub static CHECK: Check = Check::denied_as_root("PRIV-6", "priv::link_down", plan).caught_on(&["keep-ambient-set"]);

fn plan(plan: &mut Planner<'_>) {
    plan.deny("loopback", Attempt::ChangeNetwork { change: NetworkChange::LinkDown }).as_root().alone();
}

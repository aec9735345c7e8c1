//! PROCESS-1: a process of the host is neither seen nor signalled nor traced (catalogue D12, D13, G14).
//!
//! The process is one of the launching user's own, under a number that no sandbox's own processes come to.

use watertight_fixtures::world::DECOY_PID;
use watertight_probe::plan::{Access, Attempt};

use crate::{check::Check, planner::Planner};

pub static CHECK: Check = Check::denied("PROCESS-1", "process::outside", plan)
    .caught_on(&["share-pid"])
    .spared(&[("*", "one pid namespace hides all; without one, each call has a rule of its own")]);

fn plan(plan: &mut Planner<'_>) {
    for (name, access) in
        [("signal", Access::Signal), ("descriptor", Access::Descriptor), ("arguments", Access::Arguments)]
    {
        plan.deny(name, Attempt::Process { pid: DECOY_PID, access });
    }
    // Without a user namespace that both are in, the kernel asks for a capability.
    for (name, access) in [("environment", Access::Environment), ("trace", Access::Trace)] {
        plan.deny(name, Attempt::Process { pid: DECOY_PID, access }).as_root();
    }
}

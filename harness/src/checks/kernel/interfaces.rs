//! KERNEL-2: kernel interfaces with a history are not offered (catalogue F).

use watertight_probe::plan::{Attempt, KernelCall};

use crate::{check::Check, planner::Planner};

pub static CHECK: Check = Check::denied_as_root("KERNEL-2", "kernel::interfaces", plan)
    .should()
    .caught_on(&["allow-io-uring", "allow-kernel-interfaces", "allow-keyrings"])
    .spared(&[("*", "most stand in one list of the filter, and some the kernel gives to no ordinary user")]);

fn plan(plan: &mut Planner<'_>) {
    for call in KernelCall::ALL {
        plan.deny_granted(call.name(), Attempt::Kernel { call });
    }
}

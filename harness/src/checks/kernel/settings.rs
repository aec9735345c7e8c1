//! KERNEL-1: no file opens for writing that sets something of the host's kernel (catalogue G07, G08, G10, G16).
//!
//! They are opened and closed: a byte in one of them would act on the whole machine.

use watertight_probe::plan::Attempt;

use crate::{check::Check, planner::Planner, site::KERNEL_FILES};

pub static CHECK: Check = Check::denied("KERNEL-1", "kernel::settings", plan).caught_on(&["share-sys"]).spared(&[(
    "/*",
    "root's alone, which no workload of the reference is; a launcher that stays root gives them away",
)]);

/// A setting of the world's own link, which is the launching user's as a delegated cgroup would be.
const OWN: &str = "/sys/class/net/host0/tx_queue_len";

fn plan(plan: &mut Planner<'_>) {
    let attempt = plan.given(OWN);
    plan.deny("a setting of the user's", attempt);
    for path in KERNEL_FILES {
        plan.deny_granted(path, Attempt::Open { path: path.into(), read: false });
    }
}

//! IPC-3: no shared memory of the host's that has a name in /dev/shm is read (shm_overview(7)).

use crate::{check::Check, planner::Planner};

pub static CHECK: Check = Check::denied("IPC-3", "ipc::shared_memory_files", plan).caught_on(&["share-dev"]);

fn plan(plan: &mut Planner<'_>) {
    let attempt = plan.secret("/dev/shm/watertight");
    plan.deny("file", attempt);
}

//! IPC-1: no object of the host's inter-process communication is opened (catalogue D14).
//!
//! The world has one of each kind that everybody may use, so that what stops the workload is the sandbox.

use watertight_probe::plan::{Attempt, IpcObject};

use crate::{check::Check, planner::Planner};

pub static CHECK: Check = Check::denied("IPC-1", "ipc::objects", plan)
    .caught_on(&["share-ipc"])
    .spared(&[("*", "one namespace holds all kinds; a filter of system calls can forget one")]);

fn plan(plan: &mut Planner<'_>) {
    let (key, name) = plan.ipc();
    let objects = [
        ("shared memory", IpcObject::SharedMemory(key)),
        ("semaphores", IpcObject::Semaphores(key)),
        ("message queue", IpcObject::Messages(key)),
        ("POSIX message queue", IpcObject::PosixMessages(name)),
    ];
    for (name, object) in objects {
        // Either family is an option of the kernel.
        plan.deny(name, Attempt::Ipc { object }).where_supported();
    }
}

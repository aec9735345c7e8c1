//! HOST-1: the workload shares no namespace with its launcher, beside that of the network (EGRESS-1).

use watertight_reports::{evidence::LaunchKind, results::ControlKind};

use crate::{case::Case, check::Check, planner::Planner};

pub static CHECK: Check = Check::facts("HOST-1", "host::namespaces", ControlKind::KnownPositive, plan, judge)
    .should()
    .witnessed()
    .caught_on(&["share-ipc", "share-uts", "share-cgroup", "share-pid"]);

const KINDS: [&str; 5] = ["mnt", "pid", "ipc", "uts", "cgroup"];

fn plan(_: &mut Planner<'_>) {}

fn judge(case: &mut Case<'_>) {
    let control = case.launch(LaunchKind::ControlBefore).and_then(|control| control.processes.first());
    for kind in KINDS {
        let shared = control.is_some_and(|one| {
            one.namespaces.contains_key(kind) && one.namespaces.get(kind) == one.world_namespaces.get(kind)
        });
        case.control(shared, format!("the witness finds the unconfined probe in the launcher's {kind} namespace"));
    }
    for process in case.witnessed() {
        for kind in KINDS {
            match (process.namespaces.get(kind), process.world_namespaces.get(kind)) {
                (Some(own), Some(host)) if own == host => {
                    case.breach(format!("{} is in the launcher's {kind} namespace", process.comm));
                }
                (Some(_), Some(_)) => {}
                (None, _) | (_, None) => case.missing(format!("the {kind} namespace of {} is unknown", process.comm)),
            }
        }
    }
}

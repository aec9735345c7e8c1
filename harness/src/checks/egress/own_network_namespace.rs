//! EGRESS-1: the workload's network namespace is its own.

use watertight_reports::{evidence::LaunchKind, results::ControlKind};

use crate::{case::Case, check::Check, planner::Planner};

pub static CHECK: Check =
    Check::facts("EGRESS-1", "egress::own_network_namespace", ControlKind::KnownPositive, plan, judge)
        .witnessed()
        .caught_on(&["share-network"]);

fn plan(_: &mut Planner<'_>) {}

fn judge(case: &mut Case<'_>) {
    // The witness is shown to work by finding the unconfined probe where it was put.
    if let Some(control) = case.launch(LaunchKind::ControlBefore) {
        let found = !control.processes.is_empty()
            && control.processes.iter().all(|one| one.namespaces.get("net") == one.world_namespaces.get("net"));
        case.control(found, "the witness finds the unconfined probe in the world's network namespace");
    }
    for process in case.witnessed() {
        match process.namespaces.get("net") {
            Some(own) if process.world_namespaces.get("net") == Some(own) => {
                case.breach(format!("process {} shares the world's network namespace {own}", process.comm));
            }
            Some(own) => case.note(format!("network namespace {own} is not the world's")),
            None => case.missing(format!("the network namespace of process {} could not be read", process.pid)),
        }
    }
}

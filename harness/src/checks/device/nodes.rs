//! DEVICE-1: no device of the host's is opened that a program does not need (catalogue G06).

use watertight_probe::plan::Attempt;

use crate::{check::Check, planner::Planner, site::NODES};

pub static CHECK: Check = Check::denied("DEVICE-1", "device::nodes", plan).caught_on(&["share-devices"]).spared(&[
    ("/dev/*", "the host's /dev is in view or not; a sandbox can give one of its devices in"),
    ("a device of the host", "there on every machine, as no other is; with it in view, tun is in view as well"),
]);

fn plan(plan: &mut Planner<'_>) {
    // Every machine has this one: in truth it is the null device under another name.
    let attempt = plan.device("/dev/watertight");
    plan.deny("a device of the host", attempt);
    for path in NODES {
        plan.deny_granted(path, Attempt::Open { path: path.into(), read: true });
    }
}

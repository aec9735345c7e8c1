//! EGRESS-8: no raw packet and no frame leaves by any link.

use watertight_probe::plan::Attempt;

use crate::{check::Check, planner::Planner};

pub static CHECK: Check = Check::denied_as_root("EGRESS-8", "egress::raw_packets", plan).caught_on(&["leak-raw"]).spared(&[("*", "nothing leads out of the reference's network namespace, whatever the address, the port or the call; mutants open one way of each kind, and a sandbox with rules has a rule for each")]);

fn plan(plan: &mut Planner<'_>) {
    // 253 is set aside for experiments (RFC 3692).
    let to = plan.internet_v4(0).ip();
    plan.deny("raw-v4", Attempt::RawIp { to, protocol: 253 }).as_root();
    let to = plan.internet_v6(0).ip();
    plan.deny("raw-v6", Attempt::RawIp { to, protocol: 253 }).as_root();
    plan.deny("frame", Attempt::Frame).as_root();
}

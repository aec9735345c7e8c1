//! EGRESS-16: the walls stand before the workload's first instruction.
//!
//! These attempts are made at the probe's very start, in every launch of the target. `--soak N` repeats the launch to look for a race.

use crate::{
    check::Check,
    planner::{Planner, tcp, udp},
};

pub static CHECK: Check = Check::denied("EGRESS-16", "egress::first_instruction", plan).caught_on(&[
    "share-network",
    "leak-first-packets",
    "leak-https",
    "leak-tcp-v6",
    "leak-quic",
]);

fn plan(plan: &mut Planner<'_>) {
    let to = plan.internet_v4(443);
    plan.deny("tcp-v4", tcp(to)).first();
    let to = plan.internet_v6(443);
    plan.deny("tcp-v6", tcp(to)).first();
    let to = plan.internet_v4(443);
    plan.deny("udp-v4", udp(to)).first();
}

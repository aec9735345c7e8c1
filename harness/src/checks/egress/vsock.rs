//! EGRESS-14: no socket to the hypervisor can be made. Network namespaces do not confine AF_VSOCK.
//!
//! The socket is made and closed; a connection would leave the machine (catalogue D20).

use watertight_probe::plan::Attempt;

use crate::{check::Check, planner::Planner};

pub static CHECK: Check =
    Check::denied("EGRESS-14", "egress::vsock", plan).caught_on(&["allow-vsock", "compare-family-as-64-bits"]);

fn plan(plan: &mut Planner<'_>) {
    let family = i64::from(libc::AF_VSOCK);
    // The kernel reads the family's low 32 bits; a filter that compares all 64 lets this one through (catalogue F14).
    let high = family | 1 << 32;
    for (name, family) in [("plain", family), ("high-bits", high)] {
        for (kind_name, kind) in [("stream", libc::SOCK_STREAM), ("seqpacket", libc::SOCK_SEQPACKET)] {
            plan.deny(format!("{name}-{kind_name}"), Attempt::Socket { family, kind, protocol: 0 });
        }
    }
}

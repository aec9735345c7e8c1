//! EGRESS-14: no socket can be made of a family that network namespaces do not confine, or that is seldom thought of.
//!
//! The socket is made and closed; a connection would leave the machine (catalogue D20).

use watertight_probe::plan::Attempt;

use crate::{check::Check, planner::Planner};

pub static CHECK: Check = Check::denied("EGRESS-14", "egress::vsock", plan)
    .caught_on(&["allow-all-families", "compare-family-as-64-bits"])
    .spared(&[(
        "*",
        "all families stand in one rule of the filter; kernels differ in the types of socket that a family has",
    )]);

/// Families beside AF_VSOCK, each with a type of socket that it has.
const OTHERS: [(&str, i32, i32); 4] = [
    ("tipc", libc::AF_TIPC, libc::SOCK_SEQPACKET),
    ("qipcrtr", AF_QIPCRTR, libc::SOCK_DGRAM),
    ("alg", libc::AF_ALG, libc::SOCK_SEQPACKET),
    ("rds", libc::AF_RDS, libc::SOCK_SEQPACKET),
];
const AF_QIPCRTR: i32 = 42;

fn plan(plan: &mut Planner<'_>) {
    let family = i64::from(libc::AF_VSOCK);
    // The kernel reads the family's low 32 bits; a filter that compares all 64 lets this one through (catalogue F14).
    let high = family | 1 << 32;
    for (name, family) in [("plain", family), ("high-bits", high)] {
        for (kind_name, kind) in [("stream", libc::SOCK_STREAM), ("seqpacket", libc::SOCK_SEQPACKET)] {
            let attempt = Attempt::Socket { family, kind, protocol: 0 };
            plan.deny(format!("{name}-{kind_name}"), attempt).where_supported();
        }
    }
    for (name, family, kind) in OTHERS {
        plan.deny(name, Attempt::Socket { family: family.into(), kind, protocol: 0 }).where_supported();
    }
    // Only a privileged user makes this one.
    let family = libc::AF_XDP.into();
    plan.deny("xdp", Attempt::Socket { family, kind: libc::SOCK_RAW, protocol: 0 }).as_root().where_supported();
}

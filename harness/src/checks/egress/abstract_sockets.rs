//! EGRESS-11: no abstract Unix socket of the host is reached: their names belong to a network namespace.

use watertight_probe::plan::UnixKind;

use crate::{check::Check, planner::Planner};

pub static CHECK: Check = Check::denied("EGRESS-11", "egress::abstract_sockets", plan)
    .caught_on(&["share-network", "forward-abstract-sockets"])
    .spared(&[("*", "abstract names belong to the network namespace, whatever the type of socket")]);

fn plan(plan: &mut Planner<'_>) {
    for (name, kind) in
        [("stream", UnixKind::Stream), ("datagram", UnixKind::Datagram), ("seqpacket", UnixKind::Seqpacket)]
    {
        let attempt = plan.abstract_socket(kind);
        plan.deny(name, attempt);
    }
}

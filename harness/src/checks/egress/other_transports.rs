//! EGRESS-7: no other transport that an ordinary user has reaches anything.

use watertight_probe::plan::{Attempt, Datagram, Stream};

use crate::{
    check::Check,
    planner::{Planner, datagram, stream},
};

pub static CHECK: Check = Check::denied("EGRESS-7", "egress::other_transports", plan).caught_on(&[
    "share-network",
    "leak-mptcp",
    "leak-ping-v4",
    "leak-ping-v6",
    "leak-raw",
]).spared(&[("*", "nothing leads out of the reference's network namespace, whatever the address, the port or the call; mutants open one way of each kind, and a sandbox with rules has a rule for each")]);

fn plan(plan: &mut Planner<'_>) {
    for (name, transport) in [("mptcp", Stream::Mptcp), ("sctp", Stream::Sctp), ("dccp", Stream::Dccp)] {
        let to = plan.internet_v4(443);
        plan.deny(format!("{name}-v4"), stream(transport, to)).where_supported();
        let to = plan.internet_v6(443);
        plan.deny(format!("{name}-v6"), stream(transport, to)).where_supported();
    }
    let to = plan.internet_v4(443);
    plan.deny("udplite-v4", datagram(Datagram::UdpLite, to)).where_supported();
    let to = plan.internet_v6(443);
    plan.deny("udplite-v6", datagram(Datagram::UdpLite, to)).where_supported();
    for (family, to) in [("v4", plan.internet_v4(0).ip()), ("v6", plan.internet_v6(0).ip())] {
        plan.deny(format!("ping-{family}"), Attempt::Ping { to, raw: true }).as_root();
    }
    // The world's sysctl lets every group make ping sockets.
    for (family, to) in [("v4", plan.internet_v4(0).ip()), ("v6", plan.internet_v6(0).ip())] {
        plan.deny(format!("ping-socket-{family}"), Attempt::Ping { to, raw: false });
    }
}

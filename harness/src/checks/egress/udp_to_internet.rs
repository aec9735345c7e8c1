//! EGRESS-6: no UDP reaches the internet, whatever the source port, by any of the calls that send a datagram.

use watertight_probe::plan::{Attempt, Datagram, SendCall};

use crate::{
    check::Check,
    planner::{Planner, udp},
};

pub static CHECK: Check = Check::denied("EGRESS-6", "egress::udp_to_internet", plan).caught_on(&[
    "share-network",
    "leak-ntp",
    "leak-quic",
    "leak-udp-v6",
]).spared(&[("*", "nothing leads out of the reference's network namespace, whatever the address, the port or the call; mutants open one way of each kind, and a sandbox with rules has a rule for each")]);

fn plan(plan: &mut Planner<'_>) {
    for port in [123, 443] {
        let to = plan.internet_v4(port);
        plan.deny(format!("v4-{port}"), udp(to));
        let to = plan.internet_v6(port);
        plan.deny(format!("v6-{port}"), udp(to));
    }
    for (name, call) in [("sendmsg", SendCall::SendMsg), ("sendmmsg", SendCall::SendMmsg), ("write", SendCall::Write)] {
        let to = plan.internet_v4(443);
        plan.deny(name, Attempt::Send { transport: Datagram::Udp, to, call, source_port: None, dns: None });
    }
    // As EGRESS-5 tries from port 53, which stub resolvers of the world hold for UDP.
    let (to, call) = (plan.internet_v4(443), SendCall::SendTo);
    let attempt = Attempt::Send { transport: Datagram::Udp, to, call, source_port: Some(123), dns: None };
    plan.deny("from-port-123", attempt).as_root();
}

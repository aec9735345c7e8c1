//! DNS-4: no query of the name services of a local network leaves: mDNS, LLMNR, SSDP, NBNS (RFC 6762, RFC 4795, RFC 1002;
//! catalogue C06).

use std::net::SocketAddr;

use crate::{
    check::Check,
    planner::{Planner, udp},
};

pub static CHECK: Check =
    Check::denied("DNS-4", "dns::multicast_names", plan).caught_on(&["share-network", "leak-multicast", "leak-nbns"]).spared(&[("*", "nothing leads out of the reference's network namespace, whatever the address, the port or the call; mutants open one way of each kind, and a sandbox with rules has a rule for each")]);

const GROUPS: [(&str, &str); 5] = [
    ("mdns-v4", "224.0.0.251:5353"),
    ("mdns-v6", "[ff02::fb]:5353"),
    ("llmnr-v4", "224.0.0.252:5355"),
    ("llmnr-v6", "[ff02::1:3]:5355"),
    ("ssdp", "239.255.255.250:1900"),
];

fn plan(plan: &mut Planner<'_>) {
    for (name, group) in GROUPS {
        if let Ok(mut to) = group.parse::<SocketAddr>() {
            if let SocketAddr::V6(v6) = &mut to {
                v6.set_scope_id(plan.layout.link);
            }
            plan.deny(name, udp(to));
        }
    }
    // To a server's address: a broadcast needs an option that the probe does not set.
    let to = plan.internet_v4(137);
    plan.deny("nbns", udp(to));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_is_an_address() {
        for (name, group) in GROUPS {
            assert!(group.parse::<SocketAddr>().is_ok_and(|to| to.ip().is_multicast()), "{name}");
        }
    }
}

//! EGRESS-17: no special-purpose address is an exception.
//!
//! One address of each block of the IANA special-purpose registries that can be dialled at all, and one just beside
//! the blocks that rules are most often written for (catalogue B17).

use std::net::IpAddr;

use crate::{
    check::Check,
    planner::{Planner, tcp},
};

pub static CHECK: Check = Check::denied("EGRESS-17", "egress::special_addresses", plan).caught_on(&[
    "share-network",
    "leak-private-v4",
    "leak-shared-v4",
    "leak-unique-local-v6",
]).spared(&[("*", "nothing leads out of the reference's network namespace, whatever the address, the port or the call; mutants open one way of each kind, and a sandbox with rules has a rule for each")]);

const ADDRESSES: [&str; 38] = [
    "10.0.0.1",
    "10.255.255.254",
    "11.0.0.1",
    "100.64.0.1",
    "100.127.255.254",
    "169.254.1.1",
    "172.16.0.1",
    "172.31.255.254",
    "172.32.0.1",
    "192.0.0.1",
    "192.0.0.8",
    "192.0.0.9",
    "192.0.0.170",
    "192.0.2.1",
    "192.31.196.1",
    "192.52.193.1",
    "192.88.99.1",
    "192.168.0.1",
    "192.168.255.254",
    "192.175.48.1",
    "198.18.0.1",
    "198.19.255.254",
    "203.0.113.1",
    "240.0.0.1",
    "64:ff9b::a00:1",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:1::1",
    "2001:2::1",
    "2001:4:112::1",
    "2001:20::1",
    "2001:db8::99",
    "2002:a00:1::1",
    "2620:4f:8000::1",
    "3fff::1",
    "5f00::1",
    "fd00::1",
];

/// Those that a proxy is asked for: one of each kind of private network.
const BY_PROXY: [&str; 5] = ["10.0.0.1", "100.64.0.1", "172.16.0.1", "192.168.0.1", "fd00::1"];

fn plan(plan: &mut Planner<'_>) {
    for text in ADDRESSES {
        if let Ok(address) = text.parse::<IpAddr>() {
            let to = plan.at(address);
            plan.deny(text, tcp(to));
            if BY_PROXY.contains(&text) {
                plan.deny_address_by_proxy(text, |plan| plan.at(address));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_of_the_list_is_one() {
        for text in ADDRESSES {
            assert!(text.parse::<IpAddr>().is_ok(), "{text}");
        }
    }
}

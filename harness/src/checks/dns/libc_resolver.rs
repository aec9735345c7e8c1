//! DNS-1: a name that the C library is asked for does not get out.

use watertight_probe::plan::Attempt;

use crate::{check::Check, planner::Planner};

pub static CHECK: Check = Check::denied("DNS-1", "dns::libc_resolver", plan).caught_on(&["share-network", "share-run"]);

fn plan(plan: &mut Planner<'_>) {
    // The library retries for as long as resolv.conf says; the world's says one second, once.
    plan.deny("getaddrinfo", Attempt::Resolve { zone: "canary.test".into() }).deadline(6_000);
}

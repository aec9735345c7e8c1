//! EGRESS-13: the workload inherits no descriptor but standard input, output and error.
//!
//! A socket made before the network namespace keeps the old one (catalogue A14, D08).

use std::net::Ipv4Addr;

use watertight_probe::plan::Attempt;

use crate::{check::Check, planner::Planner};

pub static CHECK: Check =
    Check::denied("EGRESS-13", "egress::inherited_descriptors", plan).caught_on(&["inherit-descriptors"]);

fn plan(plan: &mut Planner<'_>) {
    let reach = plan.host_tcp(Ipv4Addr::LOCALHOST.into());
    plan.deny("descriptors", Attempt::Descriptors { reach });
}

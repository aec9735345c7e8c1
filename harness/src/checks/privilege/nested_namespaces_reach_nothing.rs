//! PRIV-4: whatever namespaces the workload makes, nothing done in them reaches the outside (catalogue G04).

use watertight_probe::plan::Attempt;

use crate::{check::Check, planner::Planner};

pub static CHECK: Check = Check::denied("PRIV-4", "priv::nested_namespaces_reach_nothing", plan)
    .caught_on(&["share-network-and-user-namespaces"])
    .spared(&[("*", "ways to make the same namespace")]);

fn plan(plan: &mut Planner<'_>) {
    for (name, mount, by_clone3) in
        [("user", false, false), ("user-and-mount", true, false), ("user-by-clone3", false, true)]
    {
        let reach = plan.internet_v4(443);
        plan.deny(name, Attempt::NewNamespaces { user: true, network: false, mount, by_clone3, reach });
    }
}

//! LAUNCH-3: a secret in the launcher's environment does not reach the workload, nor any process it can see (catalogue X9, N01, N02).

use watertight_probe::{observation::Facts, plan::Attempt};
use watertight_reports::{
    evidence::LaunchKind,
    results::{ControlKind, Subject},
};

use crate::{case::Case, check::Check, planner::Planner};

pub static CHECK: Check = Check::facts("LAUNCH-3", "launch::environment", ControlKind::Unconfined, plan, judge)
    .about(Subject::Launcher)
    .caught_on(&["keep-environment"]);

fn plan(plan: &mut Planner<'_>) {
    // No roots: the environment and arguments of every visible process are always searched.
    let needles = plan.layout.planted.clone();
    let attempt = Attempt::Scan { needles, roots: vec![] };
    plan.ask("search", attempt).deadline(10_000).also_in(LaunchKind::ControlBefore);
}

fn judge(case: &mut Case<'_>) {
    for kind in [LaunchKind::ControlBefore, LaunchKind::Target] {
        let Some(Facts::Scanned { found, complete, .. }) = case.facts_in(kind, "search") else { continue };
        case.control(*complete, "the search came to its end");
        if kind == LaunchKind::ControlBefore {
            case.control(!found.is_empty(), "unconfined, the search finds the planted secrets");
        } else {
            for (needle, place) in found {
                case.breach(format!("{needle} was found in {place}"));
            }
        }
    }
}

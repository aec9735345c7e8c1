//! PROCESS-2: the sandbox's own first process does not show its memory, which may hold what the launcher knew (catalogue
//! D12, N07).

use watertight_probe::{
    observation::{Facts, Outcome},
    plan::{Access, Attempt},
};
use watertight_reports::{evidence::LaunchKind, results::ControlKind};

use crate::{case::Case, check::Check, describe, planner::Planner};

pub static CHECK: Check = Check::facts("PROCESS-2", "process::inner_helpers", ControlKind::UnconfinedRoot, plan, judge)
    .should()
    .caught_on(&["traceable-init"]);

fn plan(plan: &mut Planner<'_>) {
    let attempt = Attempt::Process { pid: 1, access: Access::Environment };
    plan.ask("first process", attempt).also_in(LaunchKind::RootBefore);
}

fn judge(case: &mut Case<'_>) {
    let seen = case.facts_in(LaunchKind::RootBefore, "first process").is_some();
    case.control(seen, "the world's root opens the environment of the world's first process");
    let own = case.launch(LaunchKind::Target).and_then(|launch| launch.hello.as_ref()).is_some_and(|one| one.pid == 1);
    match case.outcome("first process") {
        Some(Outcome::Found { facts: Facts::Granted }) if own => case.note("the workload is the first process itself"),
        Some(Outcome::Found { facts: Facts::Granted }) => case.breach("the environment of pid 1 can be opened inside"),
        Some(Outcome::Refused { .. } | Outcome::Killed { signal: libc::SIGSYS }) => {}
        Some(Outcome::Broken { message }) => case.missing(format!("the probe failed: {message}")),
        Some(other) => case.control(false, describe::outcome(other)),
        None => {}
    }
}

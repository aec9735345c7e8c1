//! LAUNCH-4: HOME and TMPDIR belong to the spawn and are not the workspace, where the workload could plant configuration
//! for a later spawn (catalogue E3).

use watertight_reports::{
    evidence::LaunchKind,
    results::{ControlKind, Subject},
};

use crate::{case::Case, check::Check, planner::Planner};

pub static CHECK: Check =
    Check::facts("LAUNCH-4", "launch::home_and_temporary", ControlKind::KnownPositive, plan, judge)
        .about(Subject::Launcher)
        .witnessed()
        .caught_on(&["home-is-workspace", "shared-temporary"]);

fn plan(_: &mut Planner<'_>) {}

fn judge(case: &mut Case<'_>) {
    let Some(launch) = case.launch(LaunchKind::Target) else { return };
    let workspace = launch.outside.get("workspace").cloned().unwrap_or_default();
    case.control(!workspace.is_empty(), "the workspace is known");
    for variable in ["HOME", "TMPDIR"] {
        let Some(value) = launch.outside.get(variable) else {
            // Without the variable, programs use the passwd entry's home and /tmp.
            case.note(format!("{variable} is not set"));
            continue;
        };
        let inside = value == &workspace || value.starts_with(&format!("{workspace}/"));
        if inside {
            case.breach(format!("{variable} is {value}, in the workspace"));
        }
        let left = launch.outside.get(&format!("{variable}_shared")).is_some_and(|shared| shared == "yes");
        if left {
            case.breach(format!("{variable} is {value}, and what one spawn wrote there the next one saw"));
        }
    }
}

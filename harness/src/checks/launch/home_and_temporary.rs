//! LAUNCH-4: HOME and TMPDIR belong to the spawn and are not the workspace, where the workload could plant configuration
//! for a later spawn (catalogue E3).
//!
//! The second spawn, which is up before the first one's attempts, leaves a file in each place that is known beforehand;
//! the first one looks for it there.

use watertight_probe::{
    observation::{Facts, Outcome},
    plan::Attempt,
};
use watertight_reports::{
    evidence::LaunchKind,
    results::{ControlKind, Subject},
};

use crate::{
    case::{Case, is_unseen},
    check::Check,
    planner::Planner,
};

pub static CHECK: Check =
    Check::facts("LAUNCH-4", "launch::home_and_temporary", ControlKind::KnownPositive, plan, judge)
        .about(Subject::Launcher)
        .witnessed()
        .caught_on(&["home-is-workspace", "keep-home", "keep-temporary"])
        .spared(&[("*", "a place is shared or not: one spawn writes, the next one looks")]);

/// What programs use: the variable, and the directory where the variable is not set.
const PLACES: [(&str, &str); 2] = [("HOME", "home"), ("TMPDIR", "tmp")];
const LEFT: &str = "watertight-left-by-another-spawn";

fn plan(plan: &mut Planner<'_>) {
    let home = plan.layout.home.display().to_string();
    for (directory, place) in [(home.as_str(), "home"), ("/tmp", "tmp")] {
        let path = format!("{directory}/{LEFT}");
        plan.ask(format!("leave in {place}"), Attempt::Write { path: path.clone() }).only_in(LaunchKind::Second);
        plan.ask(format!("look in {place}"), Attempt::Read { path });
    }
}

fn judge(case: &mut Case<'_>) {
    let Some(launch) = case.launch(LaunchKind::Target) else { return };
    let workspace = launch.outside.get("workspace").cloned().unwrap_or_default();
    case.control(!workspace.is_empty(), "the workspace is known");
    for (variable, place) in PLACES {
        let value = match is_unseen(launch) {
            true => launch.hello.as_ref().and_then(|hello| hello.variables.get(variable)),
            false => launch.outside.get(variable),
        };
        if let Some(value) = value
            && (value == &workspace || value.starts_with(&format!("{workspace}/")))
        {
            case.breach(format!("{variable} is {value}, in the workspace"));
        }
        let directory = shared(case, place);
        if let (Some(value), Some(directory)) = (value, directory)
            && *value != directory
        {
            case.note(format!(
                "{variable} is {value}: what another spawn leaves there was not tried, only in {directory}"
            ));
        }
    }
}

/// Judges what another spawn left in this place; the directory that was tried.
fn shared(case: &mut Case<'_>, place: &str) -> Option<String> {
    let record = case.attempt_in(LaunchKind::Second, &format!("leave in {place}"))?;
    let Attempt::Write { path } = &record.attempt else { return None };
    let directory = path.strip_suffix(LEFT)?.trim_end_matches('/').to_owned();
    match record.observation.as_ref().map(|observation| &observation.outcome)? {
        Outcome::Found { facts: Facts::Written } => {}
        Outcome::Broken { message } => case.missing(format!("leave in {place}: the probe failed: {message}")),
        other => case.note(format!("no spawn can leave a file in {directory}: {}", crate::describe::outcome(other))),
    }
    let look = format!("look in {place}");
    match case.outcome(&look)? {
        Outcome::Found { .. } => case.breach(format!("{look}: what one spawn wrote in {directory} the next one saw")),
        Outcome::Refused { errno: libc::ENOENT | libc::ENOTDIR | libc::EACCES, .. } => {}
        other => case.control(false, format!("{look}: {}", crate::describe::outcome(other))),
    }
    Some(directory)
}

//! AUTH-3: the provider's real key is nowhere inside: environment, arguments, files, `/proc` of any visible process.
//!
//! The probe searches by length and digest, so that it never carries what it looks for (catalogue C3, N01, N02).

use watertight_probe::{observation::Facts, plan::Attempt};
use watertight_reports::{evidence::LaunchKind, results::ControlKind};

use crate::{case::Case, check::Check, planner::Planner};

pub static CHECK: Check = Check::facts("AUTH-3", "auth::key_stays_outside", ControlKind::KnownPositive, plan, judge)
    .caught_on(&["key-in-environment", "key-in-argument", "key-in-config", "key-file-in-view"]);

const ROOTS: [&str; 9] = ["/home", "/root", "/tmp", "/run", "/var/tmp", "/dev/shm", "/etc", "/srv", "/opt"];

fn plan(plan: &mut Planner<'_>) {
    let needles = plan.layout.needles.clone();
    let mut roots = ROOTS.map(str::to_owned).to_vec();
    let workspace = plan.layout.workspace.display().to_string();
    if !roots.iter().any(|root| workspace.starts_with(&format!("{root}/"))) {
        roots.push(workspace);
    }
    plan.ask("search", Attempt::Scan { needles, roots }).deadline(10_000).also_in(LaunchKind::ControlBefore);
}

fn judge(case: &mut Case<'_>) {
    let outside = found(case, LaunchKind::ControlBefore).unwrap_or_default();
    case.control(outside.iter().any(|(needle, _)| needle == "key"), "unconfined, the search finds the key's file");
    let Some(inside) = found(case, LaunchKind::Target) else { return };
    for planted in ["marker-file", "marker-environment"] {
        let seen = inside.iter().any(|(needle, _)| needle == planted);
        case.control(seen, format!("inside, the search finds the planted {planted}"));
    }
    for (needle, place) in inside.iter().filter(|(needle, _)| needle.starts_with("key")) {
        case.breach(format!("{needle} was found in {place}"));
    }
}

fn found(case: &mut Case<'_>, kind: LaunchKind) -> Option<Vec<(String, String)>> {
    match case.facts_in(kind, "search")? {
        Facts::Scanned { found, complete, .. } => {
            case.control(*complete, "the search came to its end");
            Some(found.clone())
        }
        _ => None,
    }
}

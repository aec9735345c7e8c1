//! TEARDOWN: after any kind of end, nothing of the sandbox is left.

mod killed_early;
mod no_files;
mod no_namespaces;
mod no_processes;

use crate::{
    case::Case,
    check::Check,
    scenario::{Ending, Scenario},
};

pub static CHECKS: &[&Check] = &[&no_processes::CHECK, &no_namespaces::CHECK, &no_files::CHECK, &killed_early::CHECK];

/// Reports everything of this kind that was left after each ending, by its prefix in `Launch::left`.
fn nothing_left(case: &mut Case<'_>, prefixes: &[&str]) {
    for ending in Ending::ALL {
        let id = Scenario::Ends(ending).id();
        let Some(launch) = case.launch_named(&id) else { continue };
        case.control(launch.hello.is_some(), format!("{id}: the workload had run"));
        let lingering = launch.number("lingering_before");
        case.control(lingering.is_some_and(|count| count > 0), format!("{id}: a process tried to outlive it"));
        case.control(launch.outside.contains_key("settled"), format!("{id}: what is left was counted"));
        for left in launch.left.iter().filter(|left| prefixes.iter().any(|prefix| left.starts_with(prefix))) {
            case.breach(format!("{id}: {left}"));
        }
    }
}

//! PRIV-7: outside, the workload is the ordinary user that it was launched for, in every thread, and its maps say so.

use watertight_reports::{evidence::LaunchKind, results::ControlKind};

use crate::{case::Case, check::Check, planner::Planner, run::HELD_AS};

pub static CHECK: Check = Check::facts("PRIV-7", "priv::outer_identity", ControlKind::KnownPositive, plan, judge)
    .witnessed()
    .caught_on(&["become-another-user"]);

fn plan(_: &mut Planner<'_>) {}

fn judge(case: &mut Case<'_>) {
    let Some(user) = case.launch(LaunchKind::ControlBefore).and_then(|control| {
        let process = control.processes.first()?;
        Some((process.threads.first()?.uid[0], process.threads.first()?.gid[0]))
    }) else {
        case.control(false, "the witness sees whom the unconfined probe runs as");
        return;
    };
    if let Some(root) = case.launch(LaunchKind::RootBefore) {
        let seen = root.processes.iter().flat_map(|one| &one.threads).all(|thread| thread.uid == [0; 4]);
        case.control(seen && !root.processes.is_empty(), "the witness sees the world's root as uid 0");
    }
    for process in case.witnessed() {
        for thread in &process.threads {
            if thread.uid != [user.0; 4] || thread.gid != [user.1; 4] {
                case.breach(format!(
                    "thread {} has uids {:?} and gids {:?} outside",
                    thread.tid, thread.uid, thread.gid
                ));
            }
        }
        for (map, own) in [(&process.uid_map, user.0), (&process.gid_map, user.1)] {
            // A process in a user namespace of its own must have one line that maps the user alone.
            let own_namespace = process.namespaces.get("user") != process.world_namespaces.get("user");
            let alone = matches!(map.as_slice(), [[_, outside, 1]] if *outside == u64::from(own));
            if own_namespace && !alone {
                case.breach(format!("the map of {} is {map:?}", process.comm));
            }
        }
    }
    for launch in case.unseen() {
        // One of those that hold its streams runs it: where all are the user's, it is.
        let held = launch.outside.get(HELD_AS).map_or("", String::as_str);
        case.control(held == user.0.to_string(), format!("whoever may run it is the launching user, of: {held}"));
    }
}

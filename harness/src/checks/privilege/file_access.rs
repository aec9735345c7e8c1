//! PRIV-8: the workload opens and gains what its user alone could outside, and nothing more.
//!
//! Not by being root somewhere, not by a group that its launcher was in, not by a set-user-id program in view
//! (catalogue B4, F11, G02).

use watertight_probe::plan::Attempt;

use crate::{check::Check, planner::Planner};

pub static CHECK: Check =
    Check::denied("PRIV-8", "priv::file_access", plan).caught_on_by_root(&["share-run"]).spared(&[
        ("closed file", "no mutant has a capability over files outside of its user namespace"),
        ("set-user-id program", "no_new_privs, the user namespace and nosuid each stand alone"),
    ]);

fn plan(plan: &mut Planner<'_>) {
    // Mode 0000: only a capability opens it, in an ordinary user's world as well.
    let path = plan.layout.closed_file.display().to_string();
    plan.deny("closed file", Attempt::Read { path }).as_root();
    match plan.layout.group_file.clone() {
        Some(path) => {
            plan.deny("launcher's group", Attempt::Read { path: path.display().to_string() }).where_supported();
        }
        None => plan.untestable("launcher's group", "an ordinary user cannot give itself a group"),
    }
    match plan.set_user_id() {
        Some(path) => {
            let attempt = Attempt::SetUserId { path: path.display().to_string() };
            plan.deny("set-user-id program", attempt).where_supported();
        }
        None => plan.untestable("set-user-id program", "an ordinary user cannot make a program of root's"),
    }
}

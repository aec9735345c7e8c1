//! IPC-2: no key of the launcher's session is found or read (catalogue D15). Keyrings are in no namespace.

use watertight_probe::plan::Attempt;

use crate::{check::Check, planner::Planner};

pub static CHECK: Check = Check::denied("IPC-2", "ipc::session_keyring", plan).caught_on(&["keep-session-keyring"]);

fn plan(plan: &mut Planner<'_>) {
    plan.deny("key", Attempt::Key { description: "watertight".into() });
}

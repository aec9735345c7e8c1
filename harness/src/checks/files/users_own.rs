//! FILES-2: no file of the launching user's is changed outside of the workspace: one that a shell or a program reads at its
//! next start would run what the workload wrote (catalogue E2).
//!
//! What a write came to is read outside: a file system of the sandbox's own takes one that the host never sees.

use crate::{check::Check, planner::Planner};

pub static CHECK: Check = Check::denied("FILES-2", "files::users_own", plan)
    .caught_on(&["keep-home"])
    .spared(&[("*", "all are in one home; a list of files to protect can forget one")]);

/// In the launching user's home: what is read at a next start.
const USUAL: [&str; 6] =
    [".bashrc", ".profile", ".gitconfig", ".ssh/authorized_keys", ".config/systemd/user/agent.service", ".vimrc"];

fn plan(plan: &mut Planner<'_>) {
    let home = plan.layout.home.display().to_string();
    for name in USUAL {
        let attempt = plan.watched(&format!("{home}/{name}"));
        plan.deny(format!("~/{name}"), attempt);
    }
}

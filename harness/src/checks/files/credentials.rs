//! FILES-1: no credential of the launching user's is read from the usual places (catalogue N08, N09).

use crate::{check::Check, planner::Planner};

pub static CHECK: Check = Check::denied("FILES-1", "files::credentials", plan)
    .caught_on(&["share-home"])
    .spared(&[("*", "all are in one home; a list of files to hide can forget one")]);

/// In the launching user's home: where programs keep what they sign in with.
const USUAL: [&str; 9] = [
    ".ssh/id_ed25519",
    ".aws/credentials",
    ".config/gcloud/application_default_credentials.json",
    ".config/gh/hosts.yml",
    ".docker/config.json",
    ".git-credentials",
    ".kube/config",
    ".netrc",
    ".npmrc",
];

fn plan(plan: &mut Planner<'_>) {
    let home = plan.layout.home.display().to_string();
    for name in USUAL {
        let attempt = plan.secret(&format!("{home}/{name}"));
        plan.deny(format!("~/{name}"), attempt);
    }
}

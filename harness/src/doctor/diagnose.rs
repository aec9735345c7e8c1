//! All of it together.

use std::path::Path;

use nix::{sys::utsname::uname, unistd::geteuid};
use watertight_reports::{
    doctor::{Diagnosis, Group, State},
    sanitise,
};

use super::{
    attempts, kernel, namespaces, programs,
    world::{self, Looked},
};

/// Tries everything. Call it before the program has a second thread; afterwards it may be in a user namespace.
pub fn diagnose(program: &Path) -> Diagnosis {
    let root = geteuid().is_root();
    let identity = match root {
        true => "root; targets are launched as an ordinary user".into(),
        false => format!("uid {}; worlds are made in a user namespace", geteuid()),
    };
    let kernel_name = uname().map_or_else(
        |error| error.to_string(),
        |name| format!("{} {}", name.release().to_string_lossy(), name.machine().to_string_lossy()),
    );
    let mut findings = namespaces::findings();
    findings.push(kernel::needed());
    let mut optional = kernel::findings();
    optional.push(namespaces::overlay());
    let untestable = attempts::untestable(root);
    // The last, as it leaves the process with threads and in another user namespace.
    let Looked { findings: of_world, versions } = world::look(program);
    let (needed, more): (Vec<_>, Vec<_>) = of_world.into_iter().partition(|finding| finding.group == Group::Needed);
    findings.extend(needed);
    findings.extend(optional);
    findings.extend(more);
    findings.extend(programs::findings(&versions));
    for finding in &mut findings {
        finding.detail = sanitise::text(&finding.detail, sanitise::LIMIT);
    }
    let can_check = findings.iter().all(|finding| finding.group != Group::Needed || finding.state == State::Ok);
    Diagnosis { can_check, identity, kernel: kernel_name, findings, untestable }
}

//! LAUNCH: what starts a sandbox fails closed, and hands in nothing that was not asked for.

mod environment;
mod exit_status;
mod fails_closed;
mod home_and_temporary;
mod refuses_bad_input;

use watertight_reports::evidence::{Launch, Process};

use crate::{case::is_unseen, check::Check};

pub static CHECKS: &[&Check] = &[
    &fails_closed::CHECK,
    &refuses_bad_input::CHECK,
    &environment::CHECK,
    &home_and_temporary::CHECK,
    &exit_status::CHECK,
];

/// A process of the workload was seen in the network namespace of the world, or says that it is there.
fn in_hosts_network(launch: &Launch, control: Option<&Launch>) -> bool {
    let cookie = |launch: &Launch| launch.hello.as_ref()?.netns;
    if is_unseen(launch) {
        return cookie(launch).is_some_and(|own| control.and_then(cookie) == Some(own));
    }
    let net = |process: &Process| {
        let own = process.namespaces.get("net")?;
        Some(own == process.world_namespaces.get("net")?)
    };
    launch.processes.iter().any(|process| net(process) == Some(true))
}

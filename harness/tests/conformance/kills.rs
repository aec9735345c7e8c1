//! However suddenly `watertight check` ends, nothing of it is left on the machine.

use std::{
    hash::{BuildHasher, RandomState},
    process::Stdio,
    time::Duration,
};

use libtest_mimic::Failed;

use crate::{
    machine::{self, Machine},
    place::{self, Who},
    sys,
};

/// Kills in the first moments, when everything comes to be, and kills in the rest of a run.
const EARLY: u64 = 20;
const LATE: u64 = 6;
const FIRST_MOMENTS: Duration = Duration::from_millis(600);
const WHOLE_RUN: Duration = Duration::from_secs(8);

/// Kills a run at moments that differ each time.
pub fn any_moment(who: Who) -> Result<(), Failed> {
    let random = RandomState::new();
    for round in 0..EARLY + LATE {
        let within = if round < EARLY { FIRST_MOMENTS } else { WHOLE_RUN };
        let moment = Duration::from_micros(random.hash_one(round) % within.as_micros() as u64);
        killed_at(moment, who).map_err(|left| format!("killed after {moment:?}, it left:\n{left}"))?;
    }
    Ok(())
}

fn killed_at(moment: Duration, who: Who) -> Result<(), String> {
    let directory = place::directory();
    let before = Machine::look();
    let program = place::program();
    let mut command = who.command(&program, &directory);
    command.args(["check", "reference", "--quiet"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let ended = sys::pidfd(child.id()).map_err(|error| error.to_string())?;
    sys::readable(&ended, moment);
    let worlds = machine::pid_namespaces(&program);
    child.kill().map_err(|error| error.to_string())?;
    child.wait().map_err(|error| error.to_string())?;
    machine::wait_until_none_is_left(&program, &worlds)?;
    let left = before.left_by(child.id(), &program, &directory);
    if left.is_empty() { Ok(()) } else { Err(left.join("\n")) }
}

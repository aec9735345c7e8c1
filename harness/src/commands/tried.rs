//! `watertight try`: what the attempts of one requirement come to through a command line, inside and outside. A person who
//! doubts a verdict sees what it rests on, by one command and without a manifest.

mod seen;

use std::process::ExitCode;

use watertight_reports::{
    evidence::{Evidence, Exit, Launch, LaunchKind},
    tried::{Launched, Tried, render},
};

use super::{HARNESS_ERROR, INCOMPLETE, USAGE, catalogue, enter::enter, explain, line, output, refuse, show};
use crate::{
    catalogue::Catalogue,
    check::Check,
    checks, describe,
    run::{Options, Session},
    target::Target,
};

pub fn run(line: line::Try) -> ExitCode {
    let catalogue = match catalogue() {
        Ok(catalogue) => catalogue,
        Err(words) => return refuse(&words, HARNESS_ERROR),
    };
    let check = match chosen(&line.id, &catalogue) {
        Ok(check) => check,
        Err(words) => return refuse(&words, USAGE),
    };
    let title = format!("{} ({}) is tried through", check.id, check.slug);
    let target = match Target::of_command(line.command.clone(), line.adapter.as_deref()) {
        Ok(target) => Target {
            init_in_cgroup: line.init_in_cgroup,
            unseen: line.unseen.then(|| "the command line says so".into()),
            ..target
        },
        Err(error) => return refuse(&error, USAGE),
    };
    match tried(&target, check, line.as_root) {
        Ok(evidence) => show(&render(&title, &line.command, &launches(&evidence), &output::style(false)), 0),
        Err(words) => refuse(&words, INCOMPLETE),
    }
}

fn chosen(id: &str, catalogue: &Catalogue) -> Result<&'static Check, String> {
    let checks = checks::all();
    match explain::find(id, catalogue, &checks) {
        Some((_, Some(check))) => Ok(check),
        Some((requirement, None)) => Err(format!("no check tests {}", requirement.id)),
        None => Err(explain::unknown(id, catalogue, &checks)),
    }
}

fn tried(target: &Target, check: &'static Check, as_root: bool) -> Result<Evidence, String> {
    let program = enter()?.program;
    let options = Options { program, as_root, soak: 1, beside: vec![], challenge: vec![], salt: None };
    Session::uncontrolled(target, &[check], &options).map_err(|error| error.to_string())
}

fn launches(evidence: &Evidence) -> Vec<Launched> {
    // A second spawn is there for the first one's sake.
    let made = evidence.launches.iter().filter(|launch| launch.exit.is_some() && launch.kind != LaunchKind::Second);
    made.map(launched).collect()
}

fn launched(launch: &Launch) -> Launched {
    let attempts = launch.attempts.iter().map(|(id, record)| Tried {
        id: id.clone(),
        inside: match &record.observation {
            Some(observation) => describe::outcome(&observation.outcome),
            None if record.began => "it began, and no report came".into(),
            None => "it did not begin".into(),
        },
        outside: describe::sightings(&record.sightings),
    });
    let end = match launch.exit {
        Some(Exit::Status(status)) => format!("status {status}"),
        Some(Exit::Signal(signal)) => format!("signal {signal}"),
        Some(Exit::Deadline) => "it was ended at its deadline".into(),
        None => "it was not started".into(),
    };
    let said = launch.stderr.trim();
    let left = launch.left.iter().map(|what| format!("left: {what}"));
    let facts = launch.outside.iter().map(|(what, how)| format!("{what}: {how}"));
    Launched {
        id: launch.id.clone(),
        attempts: attempts.collect(),
        outside: seen::processes(&launch.processes).into_iter().chain(left).chain(facts).collect(),
        end: if said.is_empty() { end } else { format!("{end}; its standard error ends: {said}") },
        trouble: launch.problem().into_iter().collect(),
    }
}

//! `watertight target smoke`: the probe answers from inside, an allowed path works, a forbidden one is reachable without the
//! sandbox. No verdict comes of it.

use std::{collections::BTreeSet, process::ExitCode};

use watertight_probe::observation::{Facts, Outcome};
use watertight_reports::{
    evidence::{AttemptRecord, Evidence, Launch, LaunchKind},
    sanitise,
    smoke::{Step, render},
};

use super::{
    super::{
        INCOMPLETE, USAGE,
        check::{self, all_there},
        enter::{Entered, enter},
        line, output, refuse, show,
    },
    adapter,
};
use crate::{
    check::{Capability, Check},
    checks, describe, outcome,
    profile::Profile,
    run::{Nobody, Options},
    target::{Route, Target},
};

/// What is tried: one allowed path, the view of the network, and one forbidden path with its control.
const TRIED: [&str; 3] = ["ROUTE-1", "EGRESS-2", "EGRESS-3"];
/// Where there is no relay of ours, in the place of the first.
const TRIED_WITHOUT_RELAY: [&str; 3] = ["ROUTE-7", "EGRESS-2", "EGRESS-3"];

/// Exit status where a step did not work.
const BROKEN: u8 = 1;

pub fn run(options: &line::Smoke) -> ExitCode {
    let target = match check::target(&options.target) {
        Ok(target) => target,
        Err(words) => return refuse(&words, USAGE),
    };
    if let Err(words) = all_there(&target) {
        return refuse(&words, INCOMPLETE);
    }
    match tried(&adapter::asked_twice(&target), options.as_root) {
        Ok(evidence) => {
            let steps = steps(&evidence, &target);
            let code = if steps.iter().all(|step| step.holds) { 0 } else { BROKEN };
            show(&render(&target.name, &steps, &output::style(false)), code)
        }
        Err(words) => refuse(&words, INCOMPLETE),
    }
}

fn tried(target: &Target, as_root: bool) -> Result<Evidence, String> {
    let ids = if target.absent.contains_key(&Capability::Relay) { TRIED_WITHOUT_RELAY } else { TRIED };
    let checks: Vec<&'static Check> = checks::all().into_iter().filter(|check| ids.contains(&check.id)).collect();
    let Entered { by_root, identity, program } = enter()?;
    check::by_user(target, by_root)?;
    let options = Options { program, as_root, soak: 1, beside: vec![], challenge: vec![], salt: None };
    let run = outcome::Run {
        target,
        profile: Profile::Core,
        checks: &checks,
        complete: false,
        options: &options,
        with_mutants: false,
        by_root,
        identity: &identity,
        filter: None,
    };
    Ok(outcome::of(&run, &Nobody).map_err(|error| error.to_string())?.evidence)
}

fn steps(evidence: &Evidence, target: &Target) -> Vec<Step> {
    let Some(launch) = evidence.of_kind(LaunchKind::Target).next() else { return vec![] };
    let mut steps = vec![answered(launch)];
    if launch.hello.is_some() {
        steps.push(seen(launch, target));
        if target.adapter.is_some() {
            steps.push(adapter::told(launch));
        }
        steps.push(inside(launch));
        if target.route != Route::None {
            steps.push(allowed(launch));
        }
    }
    steps.push(forbidden(evidence));
    steps
}

fn answered(launch: &Launch) -> Step {
    let what = "the probe answers from inside";
    match launch.problem() {
        None => Step::holds(what, format!("launched as: {}", command(launch))),
        Some(problem) => {
            let stderr = match launch.stderr.trim() {
                "" => "its standard error is empty".to_owned(),
                text => format!("its standard error ends: {text}"),
            };
            Step::broken(what, format!("{problem}; {stderr}; launched as: {}", command(launch)))
        }
    }
}

/// The words of the launch, without the plan: nobody reads it.
fn command(launch: &Launch) -> String {
    let plan = launch.argv.iter().position(|word| word == "--plan").map_or(launch.argv.len(), |at| at + 1);
    let rest = if plan < launch.argv.len() { " …" } else { "" };
    format!("{}{rest}", launch.argv[..plan].join(" "))
}

/// The witness finds it.
fn seen(launch: &Launch, target: &Target) -> Step {
    let what = "its processes are seen from outside";
    let number = launch.processes.len();
    match &target.unseen {
        Some(why) => Step::holds(what, format!("the manifest says that they cannot be: {why}")),
        None if number == 0 => {
            Step::broken(what, "none was found: say `unseen` in the manifest where that must be so".into())
        }
        None => Step::holds(what, format!("{number} of them")),
    }
}

/// What it finds around it.
fn inside(launch: &Launch) -> Step {
    let links = launch.attempts.values().find_map(|record| match &record.observation.as_ref()?.outcome {
        Outcome::Found { facts: Facts::Network { links, .. } } => Some(
            links.iter().map(|link| sanitise::text(&link.name, sanitise::NAME_LIMIT)).collect::<Vec<_>>().join(", "),
        ),
        _ => None,
    });
    let (mut own, mut shared) = (BTreeSet::new(), BTreeSet::new());
    for process in &launch.processes {
        for (kind, inode) in &process.namespaces {
            let world = process.world_namespaces.get(kind);
            if world == Some(inode) {
                shared.insert(kind.as_str())
            } else {
                own.insert(kind.as_str())
            };
        }
    }
    let list = |kinds: &BTreeSet<&str>| {
        if kinds.is_empty() { "none".to_owned() } else { kinds.iter().copied().collect::<Vec<_>>().join(", ") }
    };
    let links = links.unwrap_or_else(|| "not told".into());
    let text =
        format!("interfaces: {links}; namespaces of its own: {}; shared with the host: {}", list(&own), list(&shared));
    Step::holds("where it is", text)
}

fn allowed(launch: &Launch) -> Step {
    let what = "an allowed path works";
    let mut exchanges = launch.attempts.iter().filter(|(id, _)| id.starts_with("route::"));
    let told = |record: &AttemptRecord| {
        record.observation.as_ref().map_or("no report".into(), |observation| describe::outcome(&observation.outcome))
    };
    let works = |record: &AttemptRecord| {
        matches!(record.observation.as_ref().map(|one| &one.outcome),
            Some(Outcome::Found { facts: Facts::Exchange { exchange } }) if exchange.status == Some(200))
    };
    match exchanges.clone().find(|(_, record)| works(record)).or_else(|| exchanges.next()) {
        Some((id, record)) if works(record) => Step::holds(what, format!("{id}: {}", told(record))),
        Some((id, record)) => Step::broken(what, format!("{id}: {}", told(record))),
        None => Step::broken(what, "none was tried".into()),
    }
}

/// The control: what must be denied inside can be done outside.
fn forbidden(evidence: &Evidence) -> Step {
    let what = "a forbidden path is reachable without the sandbox";
    let control = evidence.of_kind(LaunchKind::ControlBefore).flat_map(|launch| &launch.attempts);
    let mut reached = control.filter(|(_, record)| !record.sightings.is_empty());
    match reached.next() {
        Some((id, record)) => Step::holds(what, format!("{id}: outside, {}", describe::sightings(&record.sightings))),
        None => Step::broken(
            what,
            "nothing that was sent without the sandbox arrived: `watertight doctor` looks for the cause".into(),
        ),
    }
}

//! `watertight check`: runs targets and prints what was found.

mod choose;
mod expect;
mod jobs;
mod out;
mod programs;
mod reports;
mod show;
mod stages;

use std::{process::ExitCode, sync::Arc};

use super::{
    Refusal,
    enter::{Entered, enter},
    file::Output,
    line::Check,
    output::{self, say},
};
use crate::{profile::Profile, run::Options, target::Target};

/// The target with this name, or why there is none.
pub fn target(name: &str) -> Result<Target, String> {
    choose::target(name).map_err(|refusal| refusal.words)
}

/// Why programs that the target needs are not there, if they are not.
pub fn all_there(target: &Target) -> Result<(), String> {
    programs::all_there(std::slice::from_ref(target)).map_err(|refusal| refusal.words)
}

/// Why the target cannot be launched by an ordinary user, where one runs this.
pub fn by_user(target: &Target, by_root: bool) -> Result<(), String> {
    programs::all_by_user(std::slice::from_ref(target), by_root).map_err(|refusal| refusal.words)
}

/// What all jobs share.
struct Plan {
    chosen: Vec<Chosen>,
    /// The text that checks were chosen by. A run with one is never conformant.
    filter: Option<String>,
    options: Options,
    with_mutants: bool,
    /// The harness is the machine's root.
    by_root: bool,
    identity: String,
    out: Option<out::Out>,
}

/// What a target is held to.
type Held = (Profile, Vec<&'static crate::check::Check>);

/// One target, and what it is held to.
struct Chosen {
    target: Target,
    profile: Profile,
    checks: Vec<&'static crate::check::Check>,
}

/// Runs the targets; the exit status is that of the worst.
pub fn run(line: &Check) -> ExitCode {
    match checked(line) {
        Ok(code) => ExitCode::from(code),
        Err(Refusal { words, code }) => super::refuse(&words, code),
    }
}

fn checked(line: &Check) -> Result<u8, Refusal> {
    let targets = if line.all_installed {
        let (targets, left_out) = choose::installed(nix::unistd::geteuid().is_root())?;
        if !left_out.is_empty() {
            say(&format!("left out: {}; `watertight doctor` says how to get what is missing", left_out.join("; ")));
        }
        targets
    } else {
        line.targets.iter().map(|name| choose::target(name)).collect::<Result<_, _>>()?
    };
    let catalogue = super::catalogue().map_err(Refusal::harness)?;
    if line.with_mutants {
        choose::have_mutants(&targets)?;
    }
    if line.expect {
        expect::in_date(&targets, &catalogue)?;
    }
    reports::one_at_most(line.format, &targets)?;
    let evidence = line.seen.as_deref().map(Output::open).transpose().map_err(Refusal::usage)?;
    let reports = reports::Reports::open(&line.report, &targets, line.seen.as_deref())?;
    let out = out::Out::of(line, &targets, &catalogue)?;
    programs::all_there(&targets)?;
    let held = held(&targets, line)?;
    let Entered { by_root, identity, program } = enter().map_err(Refusal::incomplete)?;
    programs::all_by_user(&targets, by_root)?;
    let plan = Arc::new(Plan {
        chosen: targets
            .into_iter()
            .zip(held)
            .map(|(target, (profile, checks))| Chosen { target, profile, checks })
            .collect(),
        filter: line.filter.clone(),
        options: Options {
            program,
            as_root: line.as_root,
            soak: line.soak.get(),
            beside: vec![],
            challenge: line.evidence.nonce.map(Vec::from).unwrap_or_default(),
            salt: None,
        },
        with_mutants: line.with_mutants,
        by_root,
        identity,
        out,
    });
    let mut show = show::Show::new(line, &catalogue, plan.chosen.len(), evidence, reports);
    let one_each = if line.all_installed { std::thread::available_parallelism().map_or(1, usize::from) } else { 1 };
    let ended = jobs::run(&plan, line.jobs.map_or(one_each, usize::from), &mut show).map_err(|error| {
        Refusal::incomplete(format!(
            "cannot start the run: {error}; is the limit of processes or of open files reached?"
        ))
    })?;
    match ended {
        jobs::Ended::All => Ok(show.finish()),
        jobs::Ended::Interrupted => {
            let words = format!("interrupted: incomplete, {} judged", show.judged(plan.chosen.len()));
            drop(show);
            say(&words);
            // The jobs are still in their worlds, which end with this process.
            std::process::exit(super::INCOMPLETE.into())
        }
    }
}

/// What each target is held to: the profile of the command line, or else the one that it claims.
fn held(targets: &[Target], line: &Check) -> Result<Vec<Held>, Refusal> {
    let one = |target: &Target| {
        let profile = line.profile.unwrap_or(target.profile);
        Ok((profile, choose::checks(profile, line.filter.as_deref())?))
    };
    targets.iter().map(one).collect()
}

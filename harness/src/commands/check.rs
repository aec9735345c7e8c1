//! `watertight check`: runs targets and prints what was found.

use std::{fs, io, path::Path, process::ExitCode};

use watertight_fixtures::world;
use watertight_reports::evidence::Evidence;

use super::line::{Check, Format};
use crate::{
    checks,
    outcome::{self, Run},
    run::Options,
    target::Target,
};

/// Runs the targets one after another; the exit status is that of the worst.
pub fn run(line: Check) -> ExitCode {
    let targets = match line.targets.iter().map(|name| Target::load(name)).collect::<Result<Vec<_>, _>>() {
        Ok(targets) => targets,
        Err(error) => return super::refuse(&error, super::USAGE),
    };
    let mut chosen = checks::all();
    if let Some(text) = &line.filter {
        chosen.retain(|check| check.id.contains(text.as_str()) || check.slug.contains(text.as_str()));
    }
    if chosen.is_empty() {
        let filter = line.filter.unwrap_or_default();
        return super::refuse(&format!("no check has `{filter}` in its id or slug"), super::USAGE);
    }
    // Before any thread: an ordinary user's run enters a user namespace of its own.
    if let Err(error) = world::enter() {
        return super::refuse(&error, super::INCOMPLETE);
    }
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => {
            return super::refuse(&format!("cannot find this program's own file: {error}"), super::INCOMPLETE);
        }
    };
    let options = Options { program, as_root: line.as_root, soak: line.soak };
    let mut worst = 0;
    for target in &targets {
        let mut progress = |stage: &str| {
            if !line.quiet {
                eprintln!("watertight: {}: {stage}", target.name);
            }
        };
        let run = Run { target, checks: &chosen, complete: line.filter.is_none(), options: &options };
        let (results, evidence) = match outcome::of(&run, &mut progress) {
            Ok(found) => found,
            Err(error) => return super::refuse(&error, super::INCOMPLETE),
        };
        if let Some(path) = &line.evidence
            && let Err(error) = write(path, &evidence)
        {
            return super::refuse(&format!("cannot write {}: {error}", path.display()), super::INCOMPLETE);
        }
        match line.format {
            Format::Json => println!("{}", serde_json::to_string_pretty(&results).unwrap_or_default()),
            Format::Text => {
                println!("{}", results.status_line());
                for check in &results.checks {
                    println!("{:14} {:?} {}", check.id, check.verdict, check.reason.join("; "));
                    if line.verbose {
                        for one in &check.observations {
                            println!(
                                "      {} | {} | {} | {} | {}",
                                one.attempt, one.outcome, one.inside, one.outside, one.control
                            );
                        }
                    }
                }
            }
        }
        worst = severity(worst, results.exit_code());
    }
    ExitCode::from(worst)
}

fn write(path: &Path, evidence: &Evidence) -> io::Result<()> {
    serde_json::to_writer(io::BufWriter::new(fs::File::create(path)?), evidence).map_err(io::Error::from)
}

/// Of two exit codes the one that says more: a failed MUST, a harness error, incomplete, conformant.
fn severity(first: u8, second: u8) -> u8 {
    let rank = |code: u8| match code {
        1 => 3,
        4 => 2,
        0 => 0,
        _ => 1,
    };
    if rank(second) > rank(first) { second } else { first }
}

//! `watertight selftest`: runs the mutants and prints the kill matrix.

mod show;

use std::{path::PathBuf, process::ExitCode};

use watertight_reports::json;

use super::{
    HARNESS_ERROR, INCOMPLETE, USAGE,
    enter::{Entered, enter},
    line,
    output::{self, say},
};
use crate::{
    checks,
    run::MUTANTS as PROGRAM,
    selftest::{Ablation, MUTANTS, Mutant, Selftest, matches},
};

/// Exit status of a matrix with a survivor, or with anything else that is not exactly right.
const NOT_EXACT: u8 = 1;

pub fn run(options: &line::Selftest) -> ExitCode {
    match tested(options) {
        Ok(code) => ExitCode::from(code),
        Err((words, code)) => super::refuse(&words, code),
    }
}

fn tested(options: &line::Selftest) -> Result<u8, (String, u8)> {
    super::catalogue().map_err(|words| (words, HARNESS_ERROR))?;
    let chosen = chosen(options.mutant.as_deref())?;
    let incomplete = |words: String| (words, INCOMPLETE);
    let Entered { by_root, identity, program } = enter().map_err(incomplete)?;
    let mutants = beside(&program).ok_or_else(|| {
        incomplete(format!(
            "the program `{PROGRAM}` is not beside {}; build it with `cargo build --release -p {PROGRAM}`",
            program.display()
        ))
    })?;
    let chosen: Vec<&'static Mutant> = chosen.into_iter().filter(|mutant| mutant.runs(by_root)).collect();
    let checks = checks::all();
    let selftest =
        Selftest { checks: &checks, program, mutants, identity, by_root, full: options.full, jobs: options.jobs.get() };
    let done = show::Done::new(options.quiet);
    let matrix = selftest
        .run(&chosen, &|name, what, right| done.one(name, what, right))
        .map_err(|error| incomplete(error.to_string()))?;
    drop(done);
    let style = output::style(options.verbose);
    let document = if options.json { json::render(&matrix) } else { show::text(&matrix, &style) };
    output::print(&document).map_err(|error| (format!("cannot write to standard output: {error}"), HARNESS_ERROR))?;
    let explained = matrix.ablation.as_ref().is_none_or(Ablation::is_explained);
    Ok(if matrix.summary.is_exact() && explained { 0 } else { NOT_EXACT })
}

/// The mutants that the glob leaves: `*` stands for any characters.
fn chosen(glob: Option<&str>) -> Result<Vec<&'static Mutant>, (String, u8)> {
    let all = MUTANTS.iter();
    let Some(glob) = glob else { return Ok(all.collect()) };
    let chosen: Vec<_> = all.filter(|mutant| matches(glob, mutant.slug)).collect();
    if chosen.is_empty() {
        return Err((format!("no mutant is called {glob:?}; `watertight list --json` names them all"), USAGE));
    }
    Ok(chosen)
}

/// The mutants' program where it is built or installed: beside this one, or beside the directory of test programs.
fn beside(program: &std::path::Path) -> Option<PathBuf> {
    let places = program.ancestors().skip(1).take(2).map(|directory| directory.join(PROGRAM));
    let found = places.into_iter().find(|path| path.is_file());
    if found.is_none() {
        say(&format!("looked for `{PROGRAM}` beside {}", program.display()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_that_no_mutant_fits_is_refused() {
        assert!(chosen(Some("no-such-*")).is_err_and(|(_, code)| code == 2));
        assert_eq!(chosen(Some("share-network")).map(|all| all.len()), Ok(1));
    }
}

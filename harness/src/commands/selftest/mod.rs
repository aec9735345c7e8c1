//! `watertight selftest`: runs the mutants and prints the kill matrix.

mod show;

use std::{
    num::NonZeroUsize,
    path::{Path, PathBuf},
    process::ExitCode,
};

use watertight_reports::{json, matrix::Harness};

use super::{
    HARNESS_ERROR, INCOMPLETE, USAGE,
    enter::{Entered, enter},
    file::Output,
    line,
    output::{self, say},
};
use crate::{
    build_info, checks,
    run::MUTANTS as PROGRAM,
    selftest::{MUTANTS, Mutant, Selftest, matches},
};

/// Exit status of a matrix with a survivor, or with anything else that is not exactly right.
const NOT_EXACT: u8 = 1;

/// Mutants at once: as many as an ordinary user's keys last for, since most wait most of the time.
const JOBS: usize = 16;
/// In a full selftest they work: more than a few only get in each other's way.
const JOBS_OF_FULL: usize = 8;

pub fn run(options: &line::Selftest) -> ExitCode {
    match tested(options) {
        Ok(code) => ExitCode::from(code),
        Err((words, code)) => super::refuse(&words, code),
    }
}

fn tested(options: &line::Selftest) -> Result<u8, (String, u8)> {
    let spec = super::catalogue().map_err(|words| (words, HARNESS_ERROR))?.version;
    let chosen = chosen(options.mutant.as_deref())?;
    let out = options.out.as_deref().map(Output::open).transpose().map_err(|words| (words, USAGE))?;
    let incomplete = |words: String| (words, INCOMPLETE);
    let Entered { by_root, identity, program } = enter().map_err(incomplete)?;
    let chosen = runnable(chosen, by_root).map_err(incomplete)?;
    let mutants = beside(&program).ok_or_else(|| {
        incomplete(format!(
            "the program `{PROGRAM}` is not beside {}; build it with `cargo build --release -p {PROGRAM}`",
            program.display()
        ))
    })?;
    let (checks, full) = (checks::all(), options.full);
    let jobs = options.jobs.map_or(if full { JOBS_OF_FULL } else { JOBS }, NonZeroUsize::get);
    let harness = harness(&mutants).map_err(incomplete)?;
    let selftest = Selftest { checks: &checks, program, mutants, harness, spec, identity, by_root, full, jobs };
    let done = show::Done::new(options.quiet);
    let matrix = selftest
        .run(&chosen, &|name, what, right| done.one(name, what, right))
        .map_err(|error| incomplete(error.to_string()))?;
    drop(done);
    let style = output::style(options.verbose);
    let document = if options.json { json::render(&matrix) } else { show::text(&matrix, &style) };
    // Neither is lost with the other.
    let kept = out.map_or(Ok(()), |out| out.json(&matrix));
    output::print(&document).map_err(|error| (format!("cannot write to standard output: {error}"), HARNESS_ERROR))?;
    kept.map_err(|words| (words, HARNESS_ERROR))?;
    Ok(if matrix.is_exact() { 0 } else { NOT_EXACT })
}

/// Both programs, by the digests of their files.
fn harness(mutants: &Path) -> Result<Harness, String> {
    let mutants_sha256 =
        build_info::digest(mutants).map_err(|error| format!("cannot read {}: {error}", mutants.display()))?;
    Ok(Harness { version: env!("CARGO_PKG_VERSION").into(), sha256: build_info::sha256()?, mutants_sha256 })
}

/// Those that can be run as whoever this is: at least one.
fn runnable(chosen: Vec<&'static Mutant>, by_root: bool) -> Result<Vec<&'static Mutant>, String> {
    let (here, others): (Vec<_>, Vec<&Mutant>) = chosen.into_iter().partition(|mutant| mutant.runs(by_root));
    if here.is_empty() {
        let slugs: Vec<_> = others.iter().map(|mutant| mutant.slug).collect();
        return Err(format!(
            "{} can be run by root alone, since an ordinary user cannot become anybody else: nothing was run",
            slugs.join(", ")
        ));
    }
    Ok(here)
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
fn beside(program: &Path) -> Option<PathBuf> {
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

    #[test]
    fn mutants_that_root_alone_can_run_are_named_to_whoever_is_not() {
        let mutants = || chosen(Some("*-a-*")).expect("mutants");
        let (roots, all) = (mutants().iter().filter(|mutant| mutant.roots_only).count(), mutants().len());
        assert!(roots > 0 && roots < all);
        assert_eq!(runnable(mutants(), true).map(|here| here.len()), Ok(all));
        assert_eq!(runnable(mutants(), false).map(|here| here.len()), Ok(all - roots));
        let refused = runnable(chosen(Some("leave-a-link")).expect("a mutant"), false).err();
        assert!(refused.is_some_and(|words| words.starts_with("leave-a-link can be run by root alone")));
    }
}

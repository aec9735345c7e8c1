//! Trials about mutants: exactly the checks that name one fail on it. One selftest of each user serves them all.

use std::{collections::BTreeMap, path::Path, sync::Mutex};

use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use watertight::{
    run::MUTANTS as PROGRAM,
    selftest::{MUTANTS, doubles::DOUBLES},
};
use watertight_reports::matrix::{MATRIX_SCHEMA, Matrix};

use crate::{
    place::{self, Who},
    runs, trial,
};

pub fn trials(who: Who) -> Vec<Trial> {
    let here = MUTANTS.iter().filter(|mutant| mutant.runs(who == Who::Root));
    let mut trials: Vec<Trial> = here
        .map(|mutant| {
            let name = format!("mutants::{}", mutant.slug);
            trial(who, name, move || row(who, "mutants", "slug", mutant.slug, |row| row["status"] == "killed"))
        })
        .collect();
    trials.extend(DOUBLES.iter().map(|(name, ..)| {
        let right = move || row(who, "doubles", "name", name, |row| row["right"] == true);
        trial(who, format!("doubles::{name}_is_no_sandbox"), right)
    }));
    trials.push(trial(who, "mutants::the_selftest_leaves_nothing_on_the_machine".into(), move || leaves_nothing(who)));
    trials.push(trial(who, "mutants::the_matrix_is_that_of_these_programs".into(), move || is_of_these(who)));
    trials
}

/// What a selftest said, and what it left on the machine.
struct Said {
    matrix: Value,
    /// On standard output.
    shown: String,
    /// Of its two programs.
    digests: [String; 2],
    left: Vec<String>,
}

fn with<T>(who: Who, look: impl FnOnce(&Said) -> Result<T, Failed>) -> Result<T, Failed> {
    static SAID: Mutex<BTreeMap<Who, Result<Said, String>>> = Mutex::new(BTreeMap::new());
    let mut said = SAID.lock().expect("no trial panics with it");
    match said.entry(who).or_insert_with(|| make(who)) {
        Ok(said) => look(said),
        Err(error) => Err(error.as_str().into()),
    }
}

fn make(who: Who) -> Result<Said, String> {
    let (directory, outputs) = (place::directory(), place::directory());
    let program = place::program_of_its_own();
    // It lies beside that of the suite, wherever Cargo builds.
    let mutants = place::built().with_file_name(PROGRAM);
    if !mutants.is_file() {
        return Err(format!("{} is not there: test the whole workspace, or build {PROGRAM}", mutants.display()));
    }
    place::copy(&mutants, &program.with_file_name(PROGRAM));
    let mut command = who.command(&program, &directory);
    // What lies in its own directory afterwards counts as left.
    let file = outputs.join("matrix.json");
    command.args(["selftest", "--quiet", "--out"]).arg(&file);
    let before = crate::machine::Machine::look();
    let ended = runs::to_the_end(command, &outputs)?;
    let left = before.left_by(ended.pid, &program, &directory);
    let matrix = std::fs::read(&file).map_err(|error| error.to_string());
    let matrix = matrix.and_then(|bytes| serde_json::from_slice(&bytes).map_err(|error| error.to_string()));
    let matrix =
        matrix.map_err(|error| format!("`selftest` gave no matrix: {error}: {}: {}", ended.exit, ended.stderr))?;
    let digest = |program: &Path| watertight::build_info::digest(program).map_err(|error| error.to_string());
    let digests = [digest(&program)?, digest(&program.with_file_name(PROGRAM))?];
    Ok(Said { matrix, shown: ended.stdout, digests, left })
}

fn row(who: Who, list: &str, key: &str, name: &str, right: fn(&Value) -> bool) -> Result<(), Failed> {
    with(who, |said| {
        let rows = said.matrix[list].as_array().ok_or("the matrix has no such list")?;
        let row = rows.iter().find(|row| row[key] == name).ok_or("the matrix does not have it")?;
        if right(row) { Ok(()) } else { Err(format!("{row:#}").into()) }
    })
}

/// The document holds to its schema and names what made it, and the same was shown to whoever looked on.
fn is_of_these(who: Who) -> Result<(), Failed> {
    with(who, |said| {
        let schema: Value = serde_json::from_str(MATRIX_SCHEMA)?;
        let validator = jsonschema::draft202012::options().should_validate_formats(true).build(&schema)?;
        let errors: Vec<_> = validator.iter_errors(&said.matrix).map(|error| error.to_string()).collect();
        let matrix: Matrix = serde_json::from_value(said.matrix.clone())?;
        let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease")?;
        let digests = [&matrix.harness.sha256, &matrix.harness.mutants_sha256];
        let shown = format!("{} of {} mutants killed", matrix.summary.killed, matrix.summary.mutants);
        let whole = matrix.kernel == kernel.trim() && matrix.spec == "1.0" && said.shown.contains(&shown);
        if errors.is_empty() && digests == said.digests.each_ref() && whole {
            return Ok(());
        }
        Err(format!("{errors:#?}\n{:#?}\n{}", matrix.harness, said.shown).into())
    })
}

fn leaves_nothing(who: Who) -> Result<(), Failed> {
    with(who, |said| if said.left.is_empty() { Ok(()) } else { Err(said.left.join("\n").into()) })
}

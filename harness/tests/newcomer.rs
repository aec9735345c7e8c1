//! A newcomer's path: the recipe of CONTRIBUTING.md and its example, followed to the letter on a copy of the repository.
//!
//! The example's blocks are read from the document. Before each stands the file that it is about; a `diff` changes that
//! file, anything else is the whole of a new one.

#[path = "newcomer/copy.rs"]
mod copy;
#[path = "newcomer/recipe.rs"]
mod recipe;

use std::{fs, path::Path};

use copy::Copy;
use recipe::{Block, Recipe};
use serde_json::Value;

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn recipe() -> Recipe {
    let text = fs::read_to_string(Path::new(REPOSITORY).join("CONTRIBUTING.md")).expect("CONTRIBUTING.md");
    Recipe::read(&text)
}

/// One of each kind of file that the recipe names.
#[test]
fn the_recipe_names_files_that_there_are() {
    let recipe = recipe();
    let here = |path: &str| {
        ["", "harness/src", "reference-impl/mutants/src", "reference-impl/mutants/src/way"]
            .iter()
            .any(|directory| Path::new(REPOSITORY).join(directory).join(path).exists())
    };
    let missing: Vec<_> = recipe.paths.iter().filter(|path| !here(path)).collect();
    assert!(missing.is_empty(), "CONTRIBUTING.md names files that are not there: {missing:?}");
    assert!(recipe.paths.len() > 10, "{:?}", recipe.paths);
}

#[test]
fn the_recipe_gives_a_check_that_alone_catches_its_mutant_and_nothing_starts_without_its_sentence() {
    let recipe = recipe();
    let (text, code): (Vec<&Block>, Vec<&Block>) =
        recipe.blocks.iter().partition(|block| block.path == "CONFORMANCE.md");
    let id = recipe.new_requirement();
    let copy = Copy::of(Path::new(REPOSITORY));

    code.iter().for_each(|block| block.apply(copy.directory()));
    copy.build();
    for arguments in [&["check", "reference", "--quiet"][..], &["selftest", "--quiet"]] {
        let (exit, stdout, stderr) = copy.run(arguments);
        assert_eq!((exit, stdout.as_str()), (Some(4), ""), "{arguments:?} starts without the sentence: {stderr}");
        assert!(stderr.contains(&format!("{id} ")) && stderr.contains("is not in CONFORMANCE.md"), "{stderr}");
    }

    text.iter().for_each(|block| block.apply(copy.directory()));
    copy.build();
    let mutant = recipe.new_mutant();
    let (exit, stdout, stderr) = copy.run(&["selftest", "--mutant", &mutant, "--full", "--quiet", "--json"]);
    let matrix: Value = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}"));
    let rows = matrix["mutants"].as_array().expect("a matrix has mutants");
    assert_eq!(rows.len(), 1, "{matrix:#}");
    assert_eq!((&rows[0]["slug"], &rows[0]["status"]), (&mutant.into(), &"killed".into()), "{matrix:#}");
    assert_eq!(rows[0]["kills"], serde_json::json!([id]), "{matrix:#}");
    assert_eq!(exit, Some(0), "{stderr}");

    let profile = ["check", "reference", "--profile", "isolation"];
    let arguments = [&profile[..], &["--filter", &id, "--quiet", "--format", "json"]].concat();
    let (exit, stdout, stderr) = copy.run(&arguments);
    let results: Value = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}"));
    assert_eq!(results["checks"][0]["verdict"], "pass", "{exit:?}: {results:#}");
}

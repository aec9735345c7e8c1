//! The plain program holds no switch: what takes a defence down is in the program of the mutants alone.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// What only code of wrong variants has: a text of each file of it.
const WRONG: [&str; 6] = [
    // guards.rs, around.rs, line.rs, and the ways out.
    "Bearer the-relays-own",
    "watertight-mutants: cannot name a network namespace",
    "usage: watertight-mutants SLUG",
    "/home/other",
    "provider.json",
    "watertight-way",
];

/// Builds both in one invocation, in which Cargo would unify whatever features they had.
fn built() -> [PathBuf; 2] {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--quiet", "-p", "watertight", "-p", "watertight-mutants"])
        .current_dir(workspace)
        .status()
        .expect("cargo starts");
    assert!(status.success(), "both programs are built");
    let mutants = PathBuf::from(env!("CARGO_BIN_EXE_watertight-mutants"));
    [mutants.with_file_name("watertight"), mutants]
}

fn holds(program: &Path, text: &str) -> bool {
    let bytes = std::fs::read(program).expect("a program that was built");
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn the_code_of_no_wrong_variant_is_in_the_plain_program() {
    let [plain, mutants] = built();
    for text in WRONG {
        assert!(holds(&mutants, text), "{text:?} tells nothing: the mutants do not have it either");
        assert!(!holds(&plain, text), "{text:?} is in the plain program");
    }
}

#[test]
fn no_argument_and_no_variable_makes_the_plain_program_a_mutant() {
    let [plain, mutants] = built();
    let start = |program: &Path, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).env("WATERTIGHT_MUTANT", "share-network").output();
        let output = output.expect("the program starts");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    // Both refuse this launch, the mutant after it said what it leaves out.
    let launch = ["honour-shared-network", "run", "--network", "shared", "--", "true"];
    assert!(start(&mutants, &launch).contains("applied honour-shared-network"));
    for arguments in [&launch[..], &launch[1..]] {
        let said = start(&plain, arguments);
        assert!(!said.contains("applied"), "{said}");
        assert!(said.contains("unexpected argument") || said.contains("unrecognized subcommand"), "{said}");
    }
}

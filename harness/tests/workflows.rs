//! The workflows: nothing that could hide a failure, no more permissions than are needed, and the key apart from the target.

#[path = "workflows/action.rs"]
mod action;
#[path = "workflows/paths.rs"]
mod paths;
#[path = "workflows/rules.rs"]
mod rules;
#[path = "workflows/workflow.rs"]
mod workflow;

use std::{fs, path::Path};

use rstest::rstest;
use workflow::Workflow;

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn text(name: &str) -> String {
    let path = Path::new(REPOSITORY).join(".github/workflows").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_workflow_keeps_every_rule() {
    let entries = fs::read_dir(Path::new(REPOSITORY).join(".github/workflows")).expect("workflows");
    let names: Vec<_> = entries.map(|entry| entry.expect("a file").file_name().into_string().expect("UTF-8")).collect();
    assert!(names.len() >= 3, "{names:?}");
    for name in names {
        let problems = rules::problems(&Workflow::read(&text(&name)));
        assert!(problems.is_empty(), "{name}: {problems:#?}");
    }
}

#[test]
fn the_key_is_in_the_job_that_signs_and_the_target_in_another() {
    let workflow = Workflow::read(&text("conformance.yml"));
    let with = |word: &str| workflow.jobs_with(word);
    assert_eq!(with("secrets."), ["sign"]);
    assert_eq!(with("./.github/actions/check"), ["run"]);
    assert_eq!(with("security-events"), ["verify"]);
    // What the signing job executes: the program that was built before, and tools of the machine.
    let words = workflow.programs("sign");
    assert_eq!(words, ["base64", "cd", "chmod", "programs/watertight", "sha256sum"], "{words:?}");
    let sign = workflow.job("sign").to_string();
    assert!(sign.contains("programs/watertight sign bundle --allow-env-key"), "{sign}");
    assert!(!sign.contains("actions/checkout"), "no file of a change gets near the key: {sign}");
}

#[test]
fn every_job_takes_only_the_programs_whose_digests_the_first_job_told() {
    let workflow = Workflow::read(&text("conformance.yml"));
    for job in ["run", "sign", "verify"] {
        let steps = workflow.runs(job);
        let checked = steps.iter().position(|run| run.contains("sha256sum --check --strict"));
        let used = steps.iter().position(|run| run.lines().any(|line| line.contains("programs/watertight ")));
        assert!(checked.is_some() && used.is_none_or(|used| checked < Some(used)), "{job}: {steps:#?}");
    }
    assert!(workflow.job("build").to_string().contains("steps.build.outputs.digests"));
}

#[test]
fn the_projects_own_workflow_uses_the_step_that_others_use() {
    assert_eq!(Workflow::read(&text("ci.yml")).jobs_with("./.github/actions/check"), ["evidence"]);
}

/// Each rule sees its own breach.
#[rstest]
#[case("ci.yml", "  pull_request:\n", "  pull_request:\n    paths: ['harness/**']\n", "is not covered")]
#[case("ci.yml", "  pull_request:\n", "  pull_request:\n    paths-ignore: ['**.md']\n", "CONFORMANCE.md")]
#[case("ci.yml", "  pull_request:\n", "  pull_request_target:\n", "pull_request_target")]
#[case("ci.yml", "permissions:\n  contents: read\n", "", "permissions")]
#[case("ci.yml", "  contents: read\n", "  contents: write\n", "contents: write")]
#[case("conformance.yml", "permissions: {}\n", "permissions: write-all\n", "permissions")]
#[case("conformance.yml", "    environment: ${{ inputs.environment }}\n", "", "no environment")]
#[case(
    "conformance.yml",
    "          target: ${{ inputs.target }}\n",
    "          target: ${{ secrets.OTHER }}\n",
    "no environment"
)]
#[case("conformance.yml", "github/codeql-action/upload-sarif@v4", "someone/upload-sarif@v4", "someone/upload-sarif@v4")]
#[case("ci.yml", "actions/checkout@v5", "actions/checkout@main", "actions/checkout@main")]
#[case("ci.yml", "./.github/actions/check", "./.github/actions/other", "./.github/actions/other")]
#[case("ci.yml", "          persist-credentials: false\n", "", "keeps its credential")]
#[case("ci.yml", "    timeout-minutes: 120\n", "", "no time limit")]
#[case("ci.yml", "test \"$STATUS\" = conformant", "test ${{ github.head_ref }} = x", "github.head_ref")]
#[case(
    "conformance.yml",
    "    timeout-minutes: 10\n",
    "    timeout-minutes: 10\n    continue-on-error: true\n",
    "continue-on-error"
)]
fn a_breach_is_seen(#[case] name: &str, #[case] from: &str, #[case] to: &str, #[case] said: &str) {
    let (before, workflow) = (text(name), text(name).replacen(from, to, 1));
    assert_ne!(before, workflow, "{name} has no {from:?}");
    let problems = rules::problems(&Workflow::read(&workflow));
    assert!(problems.iter().any(|problem| problem.contains(said)), "{said}: {problems:#?}");
}

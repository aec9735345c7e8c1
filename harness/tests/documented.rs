//! The commands of the documents, executed as they stand.

use std::{
    env, fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use tempfile::TempDir;

/// All commands of a document, in its order, as one script.
fn commands(document: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(document);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let blocks: Vec<&str> =
        text.split("\n```sh\n").skip(1).map(|rest| rest.split("\n```").next().unwrap_or_default()).collect();
    assert!(blocks.len() > 7, "{blocks:?}");
    blocks.join("\n")
}

/// Executes them in an empty directory; what they said, standard output first.
fn followed(document: &str) -> [String; 2] {
    let directory = TempDir::new().expect("a directory");
    let program = Path::new(env!("CARGO_BIN_EXE_watertight")).parent().expect("a directory");
    let path = format!("{}:{}", program.display(), env::var("PATH").expect("a path"));
    let output = Command::new("timeout")
        .args(["300", "bash", "-euo", "pipefail", "-c", &commands(document)])
        .current_dir(directory.path())
        .env("PATH", path)
        .env_remove("WATERTIGHT_SIGNING_KEY_FILE")
        .output()
        .expect("bash");
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success(), "{}: {}{}", output.status, said[0], said[1]);
    said
}

#[test]
fn who_follows_the_document_has_a_bundle_that_every_tool_accepts() {
    let [stdout, stderr] = followed("EVIDENCE.md");
    for said in [
        "accepted: reference is conformant",
        "Signature Verified Successfully",
        "Good \"watertight-evidence@v1\" signature for runner@example.org",
        "the artifact and the files are those of the statement",
    ] {
        assert!(stdout.contains(said), "{said}: {stdout}{stderr}");
    }
}

#[test]
fn who_follows_the_page_has_checked_a_sandbox_of_their_own_in_ten_minutes() {
    let began = Instant::now();
    let [stdout, stderr] = followed("CHECK-YOUR-OWN.md");
    for said in [
        "ready: `watertight check` can run here",
        "BROKEN  an allowed path works",
        "no bearer in the environment variable OPENAI_API_KEY",
        "mine works: this is no verdict",
        "FAIL  EGRESS-13",
        "PRIV-3  priv::no_user_namespace",
        "- KILLED `bind-tmp`: `The host's /tmp is shown.`; failed on it: `EGRESS-12`\n",
        "mine-too works: this is no verdict",
        "ok      its adapter says of it what is so",
        "1 requirement does not hold on mine-too: EGRESS-14.",
    ] {
        assert!(stdout.contains(said), "{said}: {stdout}{stderr}");
    }
    assert!(stderr.contains("mine: as expected, with 0 known failures"), "{stderr}");
    assert!(began.elapsed() < Duration::from_secs(600));
}

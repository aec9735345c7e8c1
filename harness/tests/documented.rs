//! The commands of docs/EVIDENCE.md, executed as they stand.

use std::{env, fs, path::Path, process::Command};

use tempfile::TempDir;

/// All commands of the document, in its order, as one script.
fn commands() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/EVIDENCE.md");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let blocks: Vec<&str> =
        text.split("\n```sh\n").skip(1).map(|rest| rest.split("\n```").next().unwrap_or_default()).collect();
    assert!(blocks.len() > 7, "{blocks:?}");
    blocks.join("\n")
}

#[test]
fn who_follows_the_document_has_a_bundle_that_every_tool_accepts() {
    let directory = TempDir::new().expect("a directory");
    let program = Path::new(env!("CARGO_BIN_EXE_watertight")).parent().expect("a directory");
    let path = format!("{}:{}", program.display(), env::var("PATH").expect("a path"));
    let output = Command::new("timeout")
        .args(["300", "bash", "-euo", "pipefail", "-c", &commands()])
        .current_dir(directory.path())
        .env("PATH", path)
        .env_remove("WATERTIGHT_SIGNING_KEY_FILE")
        .output()
        .expect("bash");
    let [stdout, stderr] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success(), "{}: {stdout}{stderr}", output.status);
    for said in [
        "accepted: reference is conformant",
        "Signature Verified Successfully",
        "Good \"watertight-evidence@v1\" signature for runner@example.org",
        "the artifact and the files are those of the statement",
    ] {
        assert!(stdout.contains(said), "{said}: {stdout}{stderr}");
    }
}

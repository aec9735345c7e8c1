//! The corpus as directories, so that any verifier can be tried on it. `corpus.md` tells their layout and the protocol.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::Command,
};

use libtest_mimic::Trial;
use serde_json::json;

use crate::{
    cases::{self, By},
    controls,
    honest::program,
    scene::Scene,
    trial,
};

pub fn trials() -> Vec<Trial> {
    vec![trial("corpus::this_program_does_with_all_of_it_as_expected", this_program)]
}

/// Writes the corpus into a directory that is not there yet.
pub fn write(root: &Path) {
    fs::create_dir(root).expect("a new directory");
    // A bundle with a hard link or a FIFO in it is moved, not copied.
    let root = root.canonicalize().expect("a directory");
    tempfile::env::override_temp_dir(&root).expect("no scene was made before");
    fs::copy(program(), root.join("artifact")).expect("copied");
    fs::write(root.join("README.md"), include_str!("corpus.md")).expect("written");
    for case in cases::all() {
        let by = match case.by {
            By::Attacker => "someone without a trusted key",
            By::Signer => "the holder of a trusted key",
            By::Context => "nobody: it is shown to the wrong verifier",
        };
        let about = format!("{}\n\nDone by: {by}.\n", case.about);
        place(case.scene(), &root.join(format!("{}_fail", case.name)), &about, case.code.name());
    }
    for (name, about, scene) in controls::presented() {
        place(scene, &root.join(name), &format!("{about}\n"), "accepted");
    }
}

fn place(scene: Scene, directory: &Path, about: &str, expected: &str) {
    let asked = &scene.asked;
    let own = scene.bundle().parent().expect("a directory").to_owned();
    let file = |name: &str, bytes: &[u8]| fs::write(own.join(name), bytes).expect("written");
    let mut arguments = vec!["--policy", "policy.toml"];
    if asked.artifact {
        arguments.extend(["--artifact", "artifact"]);
        match &asked.other_artifact {
            Some(bytes) => file("artifact", bytes),
            None => symlink("../artifact", own.join("artifact")).expect("a link"),
        }
    }
    for (option, value) in [("--commit", &asked.commit), ("--nonce", &asked.nonce)] {
        arguments.extend(value.iter().flat_map(|value| [option, value]));
    }
    if !asked.seen.is_empty() {
        arguments.extend(["--seen", "seen"]);
        file("seen", (asked.seen.join("\n") + "\n").as_bytes());
    }
    if let Some((entries, checkpoint)) = &asked.log {
        arguments.extend(["--log", "runs.jsonl"]);
        file("runs.jsonl", entries.as_bytes());
        file("runs.checkpoint", checkpoint.as_bytes());
    }
    if let Some(remembered) = &asked.remembered {
        arguments.extend(["--remembered", "remembered.checkpoint"]);
        file("remembered.checkpoint", remembered.as_bytes());
    }
    let request = json!({
        "artifact": asked.artifact.then_some("artifact"),
        "commit": asked.commit,
        "nonce": asked.nonce,
        "seen": asked.seen,
        "log": asked.log.as_ref().map(|_| "runs.jsonl"),
        "checkpoint": asked.log.as_ref().map(|_| "runs.checkpoint"),
        "remembered": asked.remembered.as_ref().map(|_| "remembered.checkpoint"),
    });
    file("request.json", format!("{request:#}\n").as_bytes());
    file("arguments", (arguments.join("\n") + "\n").as_bytes());
    file("policy.toml", scene.policy.to_string().as_bytes());
    file("README", about.as_bytes());
    file("expect", format!("{expected}\n").as_bytes());
    let kept = scene.keep();
    fs::set_permissions(&kept, fs::Permissions::from_mode(0o755)).expect("mode set");
    fs::rename(kept, directory).expect("moved");
}

fn this_program() -> Result<(), String> {
    let directory = tempfile::tempdir().expect("a directory");
    let root = directory.path().join("corpus");
    // In a process of its own, since it decides where temporary files lie.
    let written = Command::new(std::env::current_exe().expect("a path")).arg("--write").arg(&root).output();
    let written = written.expect("this program starts");
    if !written.status.success() {
        return Err(String::from_utf8_lossy(&written.stderr).into_owned());
    }
    let runner = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../scripts/corpus-run");
    let output = Command::new(runner).arg(&root).args([program(), "verify"]).output().expect("the runner starts");
    let words = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let all = cases::all().len() + controls::presented().len();
    let closing = format!("{all} passed, 0 failed");
    if output.status.success() && words.contains(&closing) { Ok(()) } else { Err(words) }
}

//! What evidence costs: `sign` and `verify` of a bundle of the core profile, judging again included.
//!
//! `cargo bench -p watertight --bench evidence`. Medians of wall time from spawn to collected and, since a busy machine makes
//! others wait, of the processor time that the program itself took.

#[path = "start/stopwatch.rs"]
mod stopwatch;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use nix::sys::{
    resource::{UsageWho, getrusage},
    time::TimeValLike,
};
use watertight_reports::signing::key::SigningKey;

/// Times of each.
const TIMES: usize = 31;

fn main() {
    let directory = tempfile::tempdir().expect("a directory");
    let place = |name: &str| directory.path().join(name);
    let bundle = place("bundle");
    stopwatch::time(watertight("check").arg("reference").arg("--quiet").arg("--out").arg(&bundle));
    let key = SigningKey::generate().expect("a key");
    let policy = place("policy.toml");
    fs::write(&policy, trusting(&key)).expect("written");
    let bytes: u64 = files(&bundle).iter().map(|path| path.metadata().expect("a file").len()).sum();
    println!("a bundle of {} files, {} KiB", files(&bundle).len(), bytes >> 10);

    let sign = || {
        let mut sign = watertight("sign");
        sign.arg(&bundle).arg("--allow-env-key").env("WATERTIGHT_SIGNING_KEY", key.to_pem().expect("PEM").as_str());
        sign
    };
    measure("sign", || {
        // What is signed already is not signed again.
        let _ = fs::remove_file(bundle.join("attestations.intoto.jsonl"));
        sign()
    });
    measure("verify", || {
        let mut verify = watertight("verify");
        verify.arg(&bundle).arg("--policy").arg(&policy);
        verify
    });
}

fn watertight(command: &str) -> Command {
    let mut watertight = Command::new(env!("CARGO_BIN_EXE_watertight"));
    watertight.arg(command);
    watertight
}

fn measure(what: &str, command: impl Fn() -> Command) {
    let (mut wall, mut own) = (vec![], vec![]);
    for _ in 0..TIMES {
        let before = processor_time();
        wall.push(stopwatch::time(&mut command()));
        own.push(processor_time() - before);
    }
    stopwatch::print(what, &wall);
    stopwatch::print(&format!("{what}, processor time"), &own);
}

/// What all commands so far took of the processors.
fn processor_time() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("own children");
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Duration::from_micros(micros.unsigned_abs())
}

fn trusting(key: &SigningKey) -> String {
    use base64::{Engine, prelude::BASE64_STANDARD};
    format!(
        r#"
        accept = ["conformant"]
        max_age_days = 30
        min_profile = "1.0"
        [[key]]
        keyid = "{id}"
        spki = "{spki}"
        organisation = "bench"
        role = "runner"
        not_before = "2020-01-01T00:00:00Z"
        not_after = "2099-01-01T00:00:00Z"
        targets = ["reference"]
        profiles = ["core"]
        "#,
        id = key.public().id(),
        spki = BASE64_STANDARD.encode(key.public().spki()),
    )
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

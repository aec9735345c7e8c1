//! The example of docs/ADAPTERS.md with the conversation recorded: every line of it is as the schema says.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Command, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;
use watertight::adapter::SCHEMA;

use super::support::{Ended, adapted};

/// bubblewrap over the machine's own programs.
const BOX: &[&str] =
    &["--unshare-all", "--die-with-parent", "--proc", "/proc", "--dev", "/dev", "--ro-bind", "/usr", "/usr"];
const LINKS: &[&str] =
    &["--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64"];

/// Runs `workload` through the example; the two files record both directions.
fn recorded(directory: &Path, workload: &[&str]) -> Ended {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("targets/bubblewrap-exec.py");
    let [program, place] = [&program, directory].map(|path| path.display().to_string());
    let record = "tee requests | python3 \"$@\" | tee answers";
    let head =
        ["--route", "none", "--program", "/usr/bin/env", "--workspace", &place, "--run-dir", &place, "--down-twice"];
    let shell = ["--environment", "LANG", "--", "sh", "-c", record, "sh", &program];
    adapted(directory, &[&head[..], &shell, BOX, LINKS, &["--exec"], workload].concat())
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("recorded");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn what_is_really_said_is_what_the_schema_says() {
    let directory = TempDir::new().expect("a directory");
    let ended = recorded(directory.path(), &["sh", "-c", "echo out; echo err >&2; exit 7"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (7, "out\n"), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("err\n") && ended.stderr.contains("watertight-adapted: inspected: {"),
        "{}",
        ended.stderr
    );
    let schema = serde_json::from_str(SCHEMA).expect("JSON");
    let validator = jsonschema::draft202012::options().build(&schema).expect("a schema");
    let (requests, answers) = (lines(&directory.path().join("requests")), lines(&directory.path().join("answers")));
    for line in requests.iter().chain(&answers) {
        let errors: Vec<_> = validator.iter_errors(line).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{line}: {errors:?}");
    }
    let verbs: Vec<_> = requests.iter().filter_map(|line| line["verb"].as_str()).collect();
    assert_eq!(verbs, ["hello", "up", "inspect", "exec", "down", "down"], "the second `down` is answered as the first");
    assert!(answers.iter().all(|line| line["ok"].is_object()) && answers.len() == requests.len(), "{answers:#?}");
    let left: Vec<_> =
        fs::read_dir(directory.path()).expect("there").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left.len(), 2, "nothing is left in the run directory but the records: {left:?}");
}

#[test]
fn a_launch_that_is_asked_to_end_takes_its_sandbox_down() {
    let directory = TempDir::new().expect("a directory");
    let place = directory.path().display().to_string();
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("targets/bubblewrap-exec.py").display().to_string();
    let head = ["adapted", "--route", "none", "--program", "/usr/bin/env", "--workspace", &place, "--run-dir", &place];
    let workload = ["--exec", "sh", "-c", "trap '' TERM; echo ready; sleep 600"];
    let words = [&head[..], &["--", "python3", &program], BOX, LINKS, &workload].concat();
    let mut command = Command::new(env!("CARGO_BIN_EXE_watertight"));
    let mut launch =
        command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("started");
    let mut said = BufReader::new(launch.stdout.take().expect("a pipe"));
    let mut line = String::new();
    said.read_line(&mut line).expect("its first line");
    assert_eq!((line.as_str(), fs::read_dir(directory.path()).expect("there").count()), ("ready\n", 1));
    let pid = nix::unistd::Pid::from_raw(launch.id() as i32);
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).expect("sent");
    assert_eq!(launch.wait().expect("its end").code(), Some(128 + 15));
    assert_eq!(fs::read_dir(directory.path()).expect("there").count(), 0, "`down` was asked and answered");
    // Ends with the last process that could still write: the workload, which heeds no signal.
    said.read_to_string(&mut line).expect("the end");
    assert_eq!(line, "ready\n");
}

#[test]
fn a_sandbox_that_cannot_be_started_is_a_refusal_and_no_trouble() {
    let directory = TempDir::new().expect("a directory");
    let place = directory.path().display().to_string();
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("targets/bubblewrap-exec.py").display().to_string();
    let head = ["--route", "none", "--program", "/usr/bin/env", "--workspace", &place, "--run-dir", &place];
    let words = ["--", "python3", &program, "--bind", "/no/such/directory", "/x", "--exec", "true"];
    let ended = adapted(directory.path(), &[&head[..], &words].concat());
    assert_eq!((ended.code, ended.stdout.as_str()), (125, ""), "{}", ended.stderr);
    assert!(ended.stderr.contains("watertight: the adapter refuses `up`: RuntimeError: bubblewrap did not start"));
    assert!(!ended.stderr.contains("trouble"), "{}", ended.stderr);
    assert_eq!(fs::read_dir(directory.path()).expect("there").count(), 0);
}

//! The action's script, with stand-ins for the program and for sudo: what it makes of exit statuses and output.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command};

use tempfile::TempDir;

use crate::REPOSITORY;

struct Ended {
    code: Option<i32>,
    stdout: String,
    stderr: String,
    /// What it told the runner.
    outputs: String,
}

/// Runs it with a program that prints its arguments and this, and exits so.
fn act(prints: &str, exits: i32, variables: &[(&str, &str)]) -> Ended {
    let directory = TempDir::new().expect("a directory");
    let place = |name: &str| directory.path().join(name);
    let script = |name: &str, text: &str| {
        fs::write(place(name), format!("#!/bin/sh\n{text}\n")).expect("a file");
        fs::set_permissions(place(name), fs::Permissions::from_mode(0o755)).expect("a mode");
    };
    script("program", &format!("echo \"$@\"\ncat <<'END'\n{prints}\nEND\nexit {exits}"));
    // Drops its own option, and does the rest as whoever this is.
    script("sudo", "shift; exec \"$@\"");
    script("sysctl", "exit 0");
    let output = Command::new(Path::new(REPOSITORY).join(".github/actions/check/run"))
        .env("PATH", format!("{}:{}", directory.path().display(), std::env::var("PATH").expect("a path")))
        .env("PROGRAM", place("program"))
        .env("TARGET", "reference")
        .env("GITHUB_OUTPUT", place("outputs"))
        .env_remove("WATERTIGHT_SIGNING_KEY")
        .env_remove("WATERTIGHT_SIGNING_KEY_FILE")
        .envs(variables.iter().copied())
        .output()
        .expect("the script starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    Ended {
        code: output.status.code(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
        outputs: fs::read_to_string(place("outputs")).unwrap_or_default(),
    }
}

#[test]
fn a_verdict_is_an_output_and_no_failure_of_the_step() {
    for (exits, status) in [(0, "conformant"), (1, "nonconformant"), (3, "incomplete")] {
        let ended = act("", exits, &[]);
        assert_eq!((ended.code, ended.outputs), (Some(0), format!("status={status}\n")), "{}", ended.stderr);
    }
}

#[test]
fn where_there_is_no_verdict_the_step_fails() {
    for exits in [2, 4, 101] {
        let ended = act("", exits, &[]);
        assert_eq!((ended.code, ended.outputs.as_str()), (Some(exits), ""));
    }
}

#[test]
fn what_the_program_prints_is_no_command_to_the_runner() {
    let ended = act("::add-mask::e", 0, &[]);
    let lines: Vec<&str> = ended.stdout.lines().collect();
    let token = lines[0].strip_prefix("::stop-commands::").expect("commands are stopped first");
    assert_eq!(token.len(), 32, "{token}");
    assert_eq!(lines[lines.len() - 1], format!("::{token}::"));
    assert_ne!(act("", 0, &[]).stdout.lines().next(), Some(lines[0]), "nobody can know the word");
}

#[test]
fn an_input_is_an_argument_and_nothing_else() {
    let inputs = [("OUT", "$(id)"), ("NONCE", "00"), ("MATRIX", "m"), ("SOURCE", "s"), ("COMMIT", "c")];
    let stdout = act("", 0, &inputs).stdout;
    let words = "check reference --quiet --out $(id) --nonce 00 --matrix m --source s --commit c";
    assert_eq!(stdout.lines().nth(1), Some(words));
    assert_eq!(act("", 0, &[]).stdout.lines().nth(1), Some("check reference --quiet"));
}

#[test]
fn a_key_within_reach_stops_it() {
    for name in ["WATERTIGHT_SIGNING_KEY", "WATERTIGHT_SIGNING_KEY_FILE"] {
        let ended = act("", 0, &[(name, "x")]);
        assert_eq!((ended.code, ended.stdout.as_str(), ended.outputs.as_str()), (Some(2), "", ""), "{name}");
        assert!(ended.stderr.contains("a job that only signs"), "{}", ended.stderr);
    }
}

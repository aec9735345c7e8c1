//! Help and version.

use super::support::{As, run, run_as};

#[test]
fn alone_it_prints_help_and_fails_as_a_usage_error() {
    let ended = run(&[]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    insta::assert_snapshot!(ended.stderr);
}

#[test]
fn help_of_every_command_shows_an_example() {
    for command in [
        "doctor",
        "check",
        "render",
        "badge",
        "selftest",
        "list",
        "explain",
        "try",
        "keygen",
        "run",
        "relay",
        "sign",
        "verify",
        "log",
        "scoreboard",
        "diff",
        "target",
    ] {
        let ended = run_as(As::Self_, &[command, "--help"]);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{command}");
        assert!(ended.stdout.contains(&format!("Example: watertight {command}")), "{command}");
        insta::assert_snapshot!(format!("help_{command}"), ended.stdout);
    }
}

#[test]
fn the_version_names_the_requirements() {
    let ended = run(&["--version"]);
    assert_eq!(ended.code, Some(0));
    assert_eq!(ended.stdout, format!("watertight {} (CONFORMANCE.md 1.0)\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn what_the_command_line_does_not_know_is_a_usage_error() {
    for arguments in [
        &["chekc"][..],
        &["check", "--nonsense"],
        &["check", "--jobs", "0"],
        &["check", "--soak", "0"],
        &["check", "--profile", "everything"],
        &["check", "--format", "xml"],
        &["check", "--report", "report.html"],
        &["check", "--report", "xml=report.xml"],
        &["check", "--report", "html="],
        &["render"],
        &["badge", "results.json", "--format", "html"],
        &["explain"],
        &["keygen"],
        &["run", "--provider", "http://127.0.0.1"],
        &["run", "--provider", "http://127.0.0.1", "--"],
        &["relay", "--provider", "http://127.0.0.1", "--sockets", "/tmp"],
        &["relay", "--", "true"],
    ] {
        let ended = run(arguments);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(ended.stderr.starts_with("error: "), "{arguments:?}: {}", ended.stderr);
    }
}

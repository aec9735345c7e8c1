//! Input that cannot be used: refused with its reason before anything is started.

use std::{
    fs::{self, Permissions},
    os::unix::fs::{PermissionsExt, chown, symlink},
    path::Path,
};

use rstest::rstest;

use super::support::{As, Ended, USER, command, directory, ended, identities, run, run_as};

/// A key file of this user's, of this mode.
fn key(user: As, directory: &Path, mode: u32) -> String {
    let path = directory.join("key");
    fs::write(&path, "sk-test\n").expect("written");
    fs::set_permissions(&path, Permissions::from_mode(mode)).expect("mode set");
    if user == As::User {
        chown(&path, Some(USER), Some(USER)).expect("given away");
    }
    path.display().to_string()
}

/// `run` or `relay` with these options, in a workspace of its own. The command would leave a file there.
fn launch(user: As, how: &str, directory: &Path, options: &[&str]) -> Ended {
    let workspace = directory.join("workspace");
    let sockets = directory.join("sockets");
    for path in [&workspace, &sockets] {
        fs::create_dir_all(path).expect("made");
        if user == As::User {
            chown(path, Some(USER), Some(USER)).expect("given away");
        }
    }
    let mut arguments = vec![how];
    let sockets = sockets.display().to_string();
    if how == "relay" {
        arguments.extend(["--sockets", sockets.as_str()]);
    }
    // Root becomes nobody, unless the test says another.
    if how == "run" && user == As::Self_ && nix::unistd::geteuid().is_root() && !options.contains(&"--user") {
        arguments.push("--user");
        arguments.push("nobody");
    }
    arguments.extend(options);
    arguments.extend(["--", "sh", "-c", "echo ran > ran"]);
    let ended = ended(command(user, &arguments).current_dir(&workspace));
    assert!(!workspace.join("ran").exists(), "the command was run: {ended:?}");
    ended
}

/// Refused with a reason that holds this text, and nothing on standard output.
fn refused(ended: &Ended, code: i32, reason: &str) {
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(code), ""), "{ended:?}");
    assert!(ended.stderr.starts_with("watertight: ") && ended.stderr.contains(reason), "{ended:?}");
    assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
}

#[rstest]
fn a_missing_provider_is_refused(#[values("run", "relay")] how: &str) {
    for user in identities() {
        let directory = directory();
        let key = key(user, directory.path(), 0o600);
        let ended = launch(user, how, directory.path(), &["--provider-key-file", &key]);
        refused(&ended, 125, "no provider: give its base URL with --provider");
    }
}

#[rstest]
#[case("--provider", "ftp://127.0.0.1/")]
#[case("--provider", "http://user:password@127.0.0.1/v1")]
#[case("--provider", "http://127.0.0.1/v1?key=1")]
#[case("--provider", "http://127.0.0.1/v1#part")]
#[case("--instance", "http://127.0.0.1/path")]
#[case("--instance", "http://127.0.0.1?query")]
#[case("--instance", "http://user@127.0.0.1")]
#[case("--instance", "127.0.0.1:80")]
fn an_origin_with_more_than_an_origin_is_refused(
    #[values("run", "relay")] how: &str,
    #[case] option: &str,
    #[case] url: &str,
) {
    for user in identities() {
        let directory = directory();
        let key = key(user, directory.path(), 0o600);
        let mut options = vec!["--provider-key-file", &key, option, url];
        if option == "--instance" {
            options.extend(["--provider", "http://127.0.0.1/v1"]);
        }
        refused(&launch(user, how, directory.path(), &options), 125, option);
    }
}

#[rstest]
fn a_key_file_that_is_not_private_is_refused(#[values("run", "relay")] how: &str) {
    for user in identities() {
        let directory = directory();
        let open = key(user, directory.path(), 0o644);
        let with = |key: &str| {
            let provider = ["--provider", "http://127.0.0.1/v1", "--provider-key-file", key];
            launch(user, how, directory.path(), &provider)
        };
        refused(&with(&open), 125, "its mode is 0644; run chmod 600 on it");
        let key = key(user, directory.path(), 0o600);
        let link = directory.path().join("link");
        symlink(&key, &link).expect("linked");
        refused(&with(&link.display().to_string()), 125, "it is a symbolic link; name the file itself");
        refused(&with("/nonexistent/key"), 125, "No such file");
        refused(&with("/dev/null"), 125, "it is not a regular file");
    }
}

#[test]
fn a_key_file_in_the_workspace_is_refused() {
    for user in identities() {
        let directory = directory();
        let inside = directory.path().join("workspace");
        fs::create_dir_all(&inside).expect("made");
        // Root's own key would be unreadable to the user that it becomes, which is another reason.
        let key = key(if nix::unistd::geteuid().is_root() { As::User } else { user }, &inside, 0o600);
        let become_user = USER.to_string();
        let mut options = vec!["--provider", "http://127.0.0.1/v1", "--provider-key-file", &key];
        if nix::unistd::geteuid().is_root() && user == As::Self_ {
            options.extend(["--user", become_user.as_str()]);
        }
        let ended = launch(user, "run", directory.path(), &options);
        refused(&ended, 125, "which the command is given; keep it elsewhere");
    }
}

#[test]
fn root_without_an_ordinary_user_to_become_is_refused() {
    if !nix::unistd::geteuid().is_root() {
        // Nothing but root can try it; the launcher's own tests cover the choice of a user.
        assert_eq!(identities(), [As::Self_]);
        return;
    }
    let directory = directory();
    let key = key(As::Self_, directory.path(), 0o600);
    let arguments = ["run", "--provider", "http://127.0.0.1/v1", "--provider-key-file", &key, "--", "true"];
    let ended = ended(command(As::Self_, &arguments).current_dir(directory.path()));
    refused(&ended, 125, "started as root with no ordinary user to become: name one with --user");
}

#[test]
fn a_command_that_is_not_there_has_the_shells_status() {
    for user in identities() {
        let directory = directory();
        let key = key(user, directory.path(), 0o600);
        let workspace = directory.path().join("workspace");
        fs::create_dir_all(&workspace).expect("made");
        fs::set_permissions(&workspace, Permissions::from_mode(0o777)).expect("mode set");
        for (program, status) in [("no-such-program", 127), ("/etc/passwd", 126)] {
            let uid = USER.to_string();
            let mut arguments = vec!["run", "--provider", "http://127.0.0.1/v1", "--provider-key-file", &key];
            if user == As::Self_ && nix::unistd::geteuid().is_root() {
                arguments.extend(["--user", &uid]);
            }
            arguments.extend(["--", program]);
            let ended = ended(command(user, &arguments).current_dir(&workspace));
            refused(&ended, status, program);
        }
    }
}

#[test]
fn an_unknown_target_is_answered_with_the_nearest_and_all() {
    let ended = run(&["check", "refrence"]);
    refused(&ended, 2, "there is no target \"refrence\"; did you mean reference? There are: reference, bubblewrap, ");
    let ended = run(&["check", "reference", "virtualbox"]);
    assert_eq!(ended.code, Some(2));
    assert!(!ended.stderr.contains("did you mean"), "{}", ended.stderr);
}

#[test]
fn a_filter_that_matches_nothing_is_a_usage_error() {
    for filter in ["", "nonsense", "EGRESS-999"] {
        let ended = run(&["check", "--filter", filter]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{filter:?}");
        assert!(ended.stderr.contains("no check has"), "{}", ended.stderr);
    }
}

#[test]
fn mutants_are_refused_where_none_are_declared_or_not_all_is_checked() {
    let ended = run(&["check", "--with-mutants"]);
    refused(&ended, 2, "target reference declares no mutants; those of the reference are run by `watertight selftest`");
    let ended = run(&["check", "bubblewrap", "--with-mutants", "--filter", "dns"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(ended.stderr.contains("'--with-mutants' cannot be used with '--filter <TEXT>'"), "{}", ended.stderr);
}

#[test]
fn evidence_that_cannot_be_written_stops_the_run_before_it_starts() {
    let ended = run(&["check", "--evidence", "/nonexistent/evidence.json"]);
    refused(&ended, 2, "cannot write /nonexistent/evidence.json: No such file");
}

#[test]
fn a_selftest_that_could_keep_or_run_nothing_is_refused_before_it_starts() {
    let ended = run(&["selftest", "--out", "/nonexistent/matrix.json"]);
    refused(&ended, 2, "cannot write /nonexistent/matrix.json: No such file");
    let ended = run(&["selftest", "--mutant", "no-such-*"]);
    refused(&ended, 2, "no mutant is called \"no-such-*\"");
    // Root runs the tests as an ordinary user as well; who is none already is refused as such.
    if let Some(user) = identities().into_iter().rfind(|user| *user == As::User || !nix::unistd::geteuid().is_root()) {
        let ended = run_as(user, &["selftest", "--mutant", "leave-a-link"]);
        refused(&ended, 3, "leave-a-link can be run by root alone");
    }
}

#[rstest]
fn with_all_that_it_needs_a_command_runs_and_its_status_comes_out(#[values("run", "relay")] how: &str) {
    for user in identities() {
        let directory = directory();
        let key = key(user, directory.path(), 0o600);
        let (workspace, sockets) = (directory.path().join("workspace"), directory.path().join("sockets"));
        for path in [&workspace, &sockets] {
            fs::create_dir(path).expect("made");
            fs::set_permissions(path, Permissions::from_mode(0o777)).expect("mode set");
        }
        let sockets = sockets.display().to_string();
        let mut arguments = vec![how, "--provider", "http://127.0.0.1:9/v1", "--provider-key-file", &key];
        if how == "relay" {
            arguments.extend(["--sockets", sockets.as_str()]);
        } else if user == As::Self_ && nix::unistd::geteuid().is_root() {
            arguments.extend(["--user", "1777"]);
        }
        arguments.extend(["--", "sh", "-c", "echo \"$OPENAI_BASE_URL\"; exit 7"]);
        let ended = ended(command(user, &arguments).current_dir(&workspace));
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(7), ""), "{ended:?}");
        assert_eq!(ended.stdout, "http://127.0.0.1:8765/v1\n");
    }
}

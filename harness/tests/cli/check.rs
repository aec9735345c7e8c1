//! `check` with real runs: documents, exit statuses, parallel jobs.

use std::{fs, path::Path, process::Stdio};

use rstest::rstest;
use watertight::target::Target;
use watertight_reports::{evidence::Evidence, json::RESULTS_SCHEMA};

use super::support::{As, Ended, command, directory, ended, identities, json, run, run_as};

fn valid(document: &serde_json::Value) {
    let schema = serde_json::from_str(RESULTS_SCHEMA).expect("JSON");
    let validator = jsonschema::draft202012::options().build(&schema).expect("a schema");
    let errors: Vec<_> = validator.iter_errors(document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn json_is_one_document_for_one_target_and_an_array_for_several() {
    for user in identities() {
        let one = run_as(user, &["check", "reference", "--filter", "EGRESS-5", "--format", "json"]);
        let document = json(&one.stdout);
        valid(&document);
        assert_eq!((one.code, document["status"].as_str()), (Some(3), Some("incomplete")), "{}", one.stderr);
        assert_eq!(document["checks"][0]["verdict"], "pass", "{document:#}");
        assert!(document["environment"]["kernel"]["known"].is_string());
        let identity = document["environment"]["identity"]["known"].as_str().expect("an identity");
        assert_eq!(identity.contains("in a user namespace"), user == As::User || !nix::unistd::geteuid().is_root());

        let arguments = ["check", "dead", "reference", "--jobs", "2", "--filter", "EGRESS-14", "--format", "json"];
        let several = run_as(user, &arguments);
        let documents = json(&several.stdout);
        let names: Vec<_> = documents.as_array().expect("an array").iter().map(|one| &one["target"]["name"]).collect();
        assert_eq!(names, ["dead", "reference"], "in the order in which they were named");
        documents.as_array().expect("an array").iter().for_each(valid);
        assert_eq!(several.code, Some(4), "a harness error outweighs an incomplete run: {}", several.stderr);
    }
}

#[test]
fn all_that_is_installed_is_checked_in_each_configuration_and_what_is_not_is_named() {
    let directory = directory();
    let out = directory.path().join("bundles").display().to_string();
    let ended = run(&["check", "--all-installed", "--filter", "EGRESS-14", "--format", "json", "--out", &out]);
    if nix::unistd::geteuid().is_root() {
        let by_user = run_as(As::User, &["check", "--all-installed", "--filter", "EGRESS-14", "--format", "json"]);
        let documents = json(&by_user.stdout);
        for one in documents.as_array().expect("several") {
            let target = Target::load(one["target"]["name"].as_str().expect("a name")).expect("a manifest");
            assert_eq!(target.only_by_root, None, "{}", target.name);
        }
    }
    let documents = json(&ended.stdout);
    let names: Vec<_> = documents.as_array().expect("several").iter().map(|one| &one["target"]["name"]).collect();
    assert!(names.contains(&&"reference".into()) && !names.contains(&&"open".into()), "{names:?}");
    for (program, target, variant) in [("bwrap", "bubblewrap", Some("bubblewrap:hardened")), ("proot", "proot", None)] {
        let installed = ["/usr/bin", "/usr/local/bin"].iter().any(|at| Path::new(at).join(program).exists());
        for name in [Some(target), variant].into_iter().flatten() {
            assert_eq!(names.contains(&&name.into()), installed, "{name}: {names:?}");
            let bundle = Path::new(&out).join(name.replace(':', ".")).join("payload/plan.json");
            assert_eq!(bundle.exists(), installed, "{}", bundle.display());
        }
        let said = format!("{target} (not installed: {program})");
        assert_eq!(ended.stderr.contains(&said), !installed, "{}", ended.stderr);
    }
    let both = run(&["check", "reference", "--all-installed"]);
    assert!(both.code == Some(2) && both.stderr.contains("--all-installed"), "{both:?}");
}

#[rstest]
#[case(&["reference", "--filter", "EGRESS-14"], 3, "incomplete")]
#[case(&["dead", "--filter", "EGRESS-14"], 4, "incomplete")]
fn a_run_that_is_not_conformant_says_so_first(#[case] arguments: &[&str], #[case] code: i32, #[case] status: &str) {
    let ended = run(&[&["check"], arguments].concat());
    assert_eq!(ended.code, Some(code), "{}", ended.stderr);
    assert!(ended.stdout.starts_with(&format!("{status} (core 1.0, route ")), "{}", ended.stdout);
    assert!(ended.stdout.contains("such a run is never conformant"), "{}", ended.stdout);
    assert!(ended.stdout.lines().skip(1).all(|line| line.chars().count() <= 80), "{}", ended.stdout);
}

#[test]
fn a_failed_must_decides_the_status_and_is_no_surprise_only_where_it_is_known() {
    if !Path::new("/usr/bin/bwrap").exists() {
        let ended = run(&["check", "bubblewrap"]);
        assert_eq!(ended.code, Some(3));
        assert!(ended.stderr.contains("install bubblewrap") && ended.stderr.contains("nothing was run"));
        return;
    }
    let ended = run(&["check", "dead", "bubblewrap", "reference", "--filter", "EGRESS-14"]);
    assert_eq!(ended.code, Some(1), "1 outweighs 4 and 3: {}", ended.stderr);
    let texts: Vec<_> = ended.stdout.match_indices("(core 1.0, route").collect();
    assert_eq!(texts.len(), 3, "{}", ended.stdout);
    assert!(ended.stdout.contains("\nFAIL  EGRESS-14"), "{}", ended.stdout);
    let known = run(&["check", "bubblewrap", "--filter", "EGRESS-14", "--expect"]);
    assert_eq!(known.code, Some(0), "{}", known.stderr);
    assert!(known.stdout.starts_with("nonconformant "), "the status stays what it is: {}", known.stdout);
    let unknown = run(&["check", "open", "--filter", "EGRESS-14", "--expect"]);
    assert_eq!(unknown.code, Some(1));
    assert!(
        unknown.stderr.contains("not as expected: EGRESS-14 failed, and is no known failure"),
        "{}",
        unknown.stderr
    );
}

#[test]
fn what_passes_as_expected_succeeds() {
    let ended = run(&["check", "reference", "--filter", "EGRESS-14", "--expect"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.starts_with("incomplete "), "the status stays what it is: {}", ended.stdout);
    assert!(ended.stderr.contains("as expected, with 0 known failures"), "{}", ended.stderr);
}

#[test]
fn progress_is_on_standard_error_and_quiet_is_silent() {
    let arguments = ["check", "reference", "--filter", "EGRESS-14"];
    let loud = run(&arguments);
    assert!(loud.stderr.contains("reference: making the world (after "), "{}", loud.stderr);
    assert!(!loud.stderr.contains('\r'), "no terminal, no line that is rewritten");
    let quiet = run(&[&arguments[..], &["--quiet"]].concat());
    assert_eq!((quiet.code, quiet.stderr.as_str()), (Some(3), ""));
    assert!(quiet.stdout.starts_with("incomplete "));
}

#[test]
fn verbose_lists_every_check() {
    let ended = run(&["check", "reference", "--filter", "egress::vsock", "--verbose"]);
    let line = ended.stdout.lines().find(|line| line.trim_start().starts_with("PASS")).expect("a line for the check");
    assert!(line.contains("EGRESS-14") && line.contains("egress::vsock"), "{line}");
}

#[test]
fn evidence_is_written_for_one_target_and_for_several() {
    let directory = directory();
    let path = directory.path().join("evidence.json");
    let path = path.to_str().expect("text");
    run(&["check", "reference", "--filter", "EGRESS-14", "--evidence", path]);
    let one: Evidence = serde_json::from_str(&fs::read_to_string(path).expect("written")).expect("evidence");
    assert!(one.launches.iter().any(|launch| launch.done));
    run(&["check", "dead", "reference", "--filter", "EGRESS-14", "--evidence", path]);
    let two: Vec<Evidence> = serde_json::from_str(&fs::read_to_string(path).expect("written")).expect("evidence");
    assert_eq!(two.len(), 2);
}

#[test]
fn a_run_whose_reader_goes_away_keeps_its_status() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let arguments = ["check", "dead", "--filter", "EGRESS-14", "--quiet"];
    let Ended { code, stderr, .. } = ended(command(As::Self_, &arguments).stdout(writer).stderr(Stdio::piped()));
    assert_eq!((code, stderr.as_str()), (Some(4), ""));
}

#[test]
fn without_user_namespaces_nothing_is_run_and_the_reason_is_given() {
    if !nix::unistd::geteuid().is_root() {
        // Only root can take them away for a test; that they are there is what the other tests show.
        assert_eq!(identities(), [As::Self_]);
        return;
    }
    // In a user namespace of its own, whose limit of further ones is 0, the ordinary user has none.
    let own = |program: &[&str]| {
        let mut command = std::process::Command::new("unshare");
        command.args(["--user", "--map-root-user", "sh", "-c"]);
        command.arg("echo 0 > /proc/sys/user/max_user_namespaces; exec setpriv --bounding-set=-all \"$@\"").arg("sh");
        let program_path = super::support::command(As::Self_, &[]).get_program().to_owned();
        command.arg(program_path).args(program).env("COLUMNS", "80");
        ended(&mut command)
    };
    let check = own(&["check"]);
    assert_eq!((check.code, check.stdout.as_str()), (Some(3), ""), "{check:?}");
    assert!(check.stderr.contains("sysctl -w user.max_user_namespaces=15000"), "{check:?}");
    assert!(check.stderr.contains("nothing was run; `watertight doctor` tells what is missing"), "{check:?}");
    let doctor = own(&["doctor"]);
    assert_eq!(doctor.code, Some(3), "{doctor:?}");
    assert!(doctor.stdout.starts_with("not ready: "), "{doctor:?}");
    assert!(doctor.stdout.contains("MISSING     user namespaces"), "{doctor:?}");
}

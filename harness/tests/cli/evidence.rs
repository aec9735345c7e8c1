//! Bundles from a run to a verdict on them: kept, signed, verified, compared; and what is left where that is cut short.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use super::{
    desk::Desk,
    support::{As, command, ended, identities, json, run},
};

#[test]
fn a_run_is_kept_signed_and_accepted_and_every_byte_of_it_counts() {
    for user in identities() {
        let desk = Desk::new(user);
        let kept = desk.check("bundle", &[]);
        assert_eq!(kept.code, Some(0), "{}", kept.stderr);
        let sums = Command::new("sha256sum")
            .args(["--strict", "--quiet", "--check", "../SHA256SUMS"])
            .current_dir(desk.at("bundle/payload"))
            .output()
            .expect("coreutils");
        assert!(sums.status.success(), "{sums:?}");
        let unsigned = desk.verify("bundle", &[]);
        assert_eq!(unsigned.code, Some(5));
        assert!(unsigned.stderr.contains("rejected: E_UNSIGNED: "), "{}", unsigned.stderr);
        let signed = desk.sign("bundle");
        assert_eq!(signed.code, Some(0), "{}", signed.stderr);
        let accepted = desk.verify("bundle", &["--json"]);
        assert_eq!(accepted.code, Some(0), "{}{}", accepted.stdout, accepted.stderr);
        let document = json(&accepted.stdout);
        assert_eq!((&document["accepted"], &document["status"]), (&true.into(), &"conformant".into()));
        let twice = desk.sign("bundle");
        assert_eq!(twice.code, Some(5));
        assert!(twice.stderr.contains("is signed by"), "{}", twice.stderr);
        let log = desk.at("bundle/payload/harness.log");
        fs::write(&log, format!("{} ", fs::read_to_string(&log).expect("a log"))).expect("written");
        let edited = desk.verify("bundle", &["--json"]);
        assert_eq!((edited.code, json(&edited.stdout)["code"].as_str()), (Some(5), Some("E_FILE_DIGEST")));
    }
}

#[test]
fn a_part_of_the_checks_is_signed_as_incomplete_and_no_policy_takes_it_for_more() {
    let desk = Desk::new(As::Self_);
    assert_eq!(desk.check("bundle", &["--filter", "EGRESS-14"]).code, Some(3));
    assert_eq!(desk.sign("bundle").code, Some(0));
    let refused = desk.verify("bundle", &[]);
    assert_eq!(refused.code, Some(1), "it is in order: {}", refused.stderr);
    assert!(refused.stderr.contains("not accepted: E_RESULT: "), "{}", refused.stderr);
}

#[test]
fn a_bundle_replaces_nothing_and_nothing_is_run_then() {
    let desk = Desk::new(As::Self_);
    fs::create_dir(desk.at("bundle")).expect("made");
    fs::write(desk.at("bundle/mine"), "").expect("written");
    let refused = desk.check("bundle", &[]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
    assert!(refused.stderr.contains("a bundle never replaces anything"), "{}", refused.stderr);
    assert_eq!(fs::read_dir(desk.at("bundle")).expect("there").count(), 1);
    let nowhere = run(&["check", "--quiet", "--out", "/nonexistent/place"]);
    assert!(nowhere.stderr.contains("cannot write /nonexistent/place"), "{}", nowhere.stderr);
    assert_eq!(nowhere.code, Some(3));
}

#[test]
fn each_of_several_targets_has_a_directory_by_its_own_name_and_none_replaces_anything() {
    let desk = Desk::new(As::Self_);
    fs::write(
        desk.at("mine.toml"),
        "name = 'mine'\nsummary = 'S.'\nroute = 'none'\nversion = ['true']\n[launch]\nargv = ['false', '{probe}']\n",
    )
    .expect("written");
    fs::create_dir_all(desk.at("bundles/mine")).expect("made");
    fs::write(desk.at("bundles/mine/there"), "").expect("written");
    let arguments =
        ["check", "dead", &desk.at("mine.toml"), "--quiet", "--filter", "EGRESS-14", "--out", &desk.at("bundles")];
    let refused = run(&arguments);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
    assert!(refused.stderr.contains("bundles/mine is there already"), "{}", refused.stderr);
    fs::remove_dir_all(desk.at("bundles/mine")).expect("removed");
    assert_eq!(run(&arguments).code, Some(4));
    for name in ["dead", "mine"] {
        assert!(Path::new(&desk.at("bundles")).join(name).join("predicate.json").exists(), "{name}");
    }
}

#[test]
fn however_a_run_is_cut_short_its_bundle_says_incomplete_and_nobody_can_sign_it() {
    let desk = Desk::new(As::Self_);
    for (number, (signal, after)) in
        [(Signal::SIGKILL, 100), (Signal::SIGKILL, 400), (Signal::SIGKILL, 900), (Signal::SIGTERM, 600)]
            .into_iter()
            .enumerate()
    {
        let name = format!("bundle-{number}");
        let mut child = command(As::Self_, &["check", "reference", "--quiet", "--out", &desk.at(&name)])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("started");
        // The moment is the point of it: there is nothing to wait for.
        std::thread::sleep(Duration::from_millis(after));
        kill(Pid::from_raw(child.id() as i32), signal).expect("sent");
        child.wait().expect("ended");
        let results = PathBuf::from(desk.at(&name)).join("payload/results.json");
        if !results.exists() {
            continue;
        }
        let document = json(&fs::read_to_string(&results).expect("text"));
        if Path::new(&desk.at(&name)).join("predicate.json").exists() {
            assert_eq!(document["status"], "conformant", "it was done before it was told to end");
            continue;
        }
        assert_eq!(document["status"], "incomplete");
        let signed = desk.sign(&name);
        assert_eq!(signed.code, Some(5));
        assert!(signed.stderr.contains("the run did not come to its end"), "{}", signed.stderr);
        let shown = run(&["render", &desk.at(&name)]);
        assert!(shown.stdout.starts_with("incomplete "), "{}{}", shown.stdout, shown.stderr);
    }
}

#[test]
fn a_full_disk_loses_the_evidence_and_says_so() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let desk = Desk::new(As::Self_);
    let script = "mount -t tmpfs -o size=300k tmpfs \"$1\" && exec \"$0\" check reference --quiet --out \"$1/bundle\"";
    let program = env!("CARGO_BIN_EXE_watertight");
    let place = desk.at("small");
    fs::create_dir(&place).expect("made");
    let full = ended(Command::new("unshare").args(["--mount", "sh", "-c", script, program, &place]));
    assert_eq!(full.code, Some(3), "{}{}", full.stdout, full.stderr);
    assert!(full.stderr.contains("the evidence is lost: cannot write "), "{}", full.stderr);
    assert!(full.stderr.contains("No space left on device"), "{}", full.stderr);
}

#[test]
fn a_signing_key_in_the_environment_is_nowhere_in_what_a_run_records() {
    let desk = Desk::new(As::Self_);
    let marker = "MC4CAQAwBQYDK2VwBCIEIGhpZGRlbi1mcm9tLWV2ZXJ5LXNhbmRib3g";
    let bundle = desk.at("bundle");
    let kept = ended(
        command(As::Self_, &["check", "reference", "--quiet", "--filter", "launch::", "--out", &bundle])
            .env("WATERTIGHT_SIGNING_KEY", marker)
            .env("WATERTIGHT_SIGNING_KEY_FILE", marker),
    );
    assert_eq!(kept.code, Some(3), "{}", kept.stderr);
    let found = Command::new("grep").args(["--recursive", "--files-with-matches", "--", marker, &bundle]).output();
    let found = found.expect("grep");
    assert!(found.stdout.is_empty(), "{}", String::from_utf8_lossy(&found.stdout));
}

#[test]
fn a_run_answers_its_challenge_is_in_the_log_and_is_accepted_once() {
    let desk = Desk::new(As::Self_);
    let (log, key) = (desk.at("runs.jsonl"), desk.at("log-key"));
    let asked = "5a".repeat(32);
    assert_eq!(desk.check("bundle", &["--nonce", &asked, "--log", &log]).code, Some(0));
    let signed = desk.run(&["sign", &desk.at("bundle"), "--key-file", &desk.at("key"), "--log", &log]);
    assert_eq!(signed.code, Some(0), "{}", signed.stderr);
    assert_eq!(desk.run(&["keygen", "--out", &key]).code, Some(0));
    let noted = desk.run(&["log", &log, "--origin", "example.org/runs", "--key-file", &key]);
    let vkey = noted.stdout.split_whitespace().last().expect("a key").to_owned();
    let text = fs::read_to_string(desk.at("policy.toml")).expect("a policy");
    let text = format!(
        "require = [\"verifier-nonce\", \"log\"]\n{text}[[log]]\norigin = \"example.org/runs\"\nvkey = \"{vkey}\"\n"
    );
    fs::write(desk.at("policy.toml"), text).expect("written");
    let seen = desk.at("seen");
    let with = ["--nonce", &asked, "--log", &log, "--seen", &seen];
    let accepted = desk.verify("bundle", &with);
    assert_eq!(accepted.code, Some(0), "{}", accepted.stderr);
    let code = |arguments: &[&str]| {
        let ended = desk.verify("bundle", &[arguments, &["--json"]].concat());
        assert_eq!(ended.code, Some(5));
        json(&ended.stdout)["code"].as_str().expect("a code").to_owned()
    };
    assert_eq!(code(&with), "E_REPLAY");
    assert_eq!(code(&["--log", &log]), "E_NONCE");
    assert_eq!(code(&["--nonce", &"5b".repeat(32), "--log", &log]), "E_NONCE");
    assert_eq!(code(&["--nonce", &asked]), "E_LOG_NOT_INCLUDED");
    // One more run of the same sandbox, which nobody ever shows.
    assert_eq!(desk.check("unwanted", &["--nonce", &asked, "--log", &log]).code, Some(0));
    assert_eq!(desk.run(&["log", &log, "--origin", "example.org/runs", "--key-file", &key]).code, Some(0));
    assert_eq!(code(&["--nonce", &asked, "--log", &log]), "E_LOG_ABANDONED_RUNS");
}

#[test]
fn an_official_run_is_refused_where_it_is_less_than_whole() {
    let desk = Desk::new(As::Self_);
    let log = desk.at("runs.jsonl");
    for (more, missing) in
        [(vec![], "it answers a verifier's challenge"), (vec!["--filter", "EGRESS-14"], "it leaves no requirement out")]
    {
        let arguments = [&["--official"], &more[..]].concat();
        let refused = desk.check("bundle", &arguments);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
        assert!(refused.stderr.contains(missing), "{}", refused.stderr);
    }
    let asked = "5a".repeat(32);
    let refused = desk.check("bundle", &["--official", "--nonce", &asked, "--log", &log]);
    assert!(refused.stderr.contains("a kill matrix shows"), "{}", refused.stderr);
    assert!(!Path::new(&log).exists(), "nothing was noted of it");
}

#[test]
fn keys_that_others_can_read_sign_nothing() {
    let desk = Desk::new(As::Self_);
    assert_eq!(desk.check("bundle", &["--filter", "EGRESS-14"]).code, Some(3));
    fs::set_permissions(desk.at("key"), fs::Permissions::from_mode(0o640)).expect("mode set");
    let refused = desk.sign("bundle");
    assert_eq!(refused.code, Some(2));
    assert!(!Path::new(&desk.at("bundle/attestations.intoto.jsonl")).exists());
    let none = desk.run(&["sign", &desk.at("bundle")]);
    assert!(none.stderr.contains("--key-file"), "{}", none.stderr);
}

#[test]
fn a_run_equals_itself_and_less_of_it_is_worse() {
    let desk = Desk::new(As::Self_);
    desk.check("part", &["--filter", "dns::"]);
    desk.check("less", &["--filter", "DNS-1"]);
    let (part, less) = (desk.at("part"), desk.at("less"));
    let same = run(&["diff", &part, &part]);
    assert_eq!((same.code, same.stdout.lines().next()), (Some(0), Some("nothing became worse")));
    let worse = run(&["diff", &part, &less, "--json"]);
    assert_eq!(worse.code, Some(1));
    let kinds: Vec<_> =
        json(&worse.stdout)["regressions"].as_array().expect("some").iter().map(|one| one["kind"].clone()).collect();
    assert!(kinds.len() > 3 && kinds.iter().all(|kind| kind == "requirement-removed"), "{kinds:?}");
    let explained = run(&["explain", "DNS-1", "--bundle", &part]);
    assert!(explained.stdout.contains("\nLast run\n  PASS"), "{}", explained.stdout);
    assert_eq!(run(&["explain", "EGRESS-1", "--bundle", &part]).code, Some(2));
}

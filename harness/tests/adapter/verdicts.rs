//! What a run makes of such an adapter: never a pass, in a time that its deadlines bound.

use std::{fs, process::Command, time::Duration};

use rstest::rstest;
use tempfile::TempDir;
use watertight_reports::results::{Results, Status, Verdict};

use super::support::{beside, ended};

/// The results of these requirements on an adapter that goes wrong so, and how long that took.
fn checked(how: &str, verb: &str, filter: &str) -> (Results, Duration) {
    let directory = TempDir::new().expect("a directory");
    let manifest = directory.path().join("hostile.toml");
    let text = format!(
        "name = 'hostile'\nsummary = 'An adapter that goes wrong.'\nroute = 'none'\none_at_a_time = true\n\
         [absent]\nprovider = 'It has no route.'\ninstance = 'It has no route.'\n\
         [programs]\npython3 = 'python3'\n\
         [adapter]\nfile = 'hostile.py'\nargv = ['python3', '{{adapter}}', '{how}', '{verb}']\n"
    );
    fs::write(&manifest, text).expect("written");
    fs::copy(beside("hostile.py"), directory.path().join("hostile.py")).expect("copied");
    let mut command = Command::new(env!("CARGO_BIN_EXE_watertight"));
    command.args(["check", "./hostile.toml", "--quiet", "--format", "json", "--filter", filter]);
    command.current_dir(directory.path());
    let ended = ended(command);
    let results = serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    (results, ended.took)
}

/// No verdict but that nothing could be judged, with these words.
fn nothing_judged(results: &Results, words: &str) {
    assert_eq!(results.status, Status::Incomplete);
    for check in &results.checks {
        assert!(matches!(check.verdict, Verdict::HarnessError | Verdict::Inconclusive), "{check:#?}");
        assert!(check.reason.iter().any(|reason| reason.contains(words)), "{words}: {:#?}", check.reason);
    }
    assert!(!results.checks.is_empty());
}

#[rstest]
#[case("hang", "hello", "PRIV-2", "did not answer")]
#[case("hang", "up", "PRIV-2", "did not answer")]
#[case("garbage", "up", "PRIV-2", "did not answer")]
#[case("no-such-process", "inspect", "PRIV-2", "did not answer")]
#[case("exit", "exec", "PRIV-2", "did not answer")]
// What the workload could do before `down` is no less of a breach, but this requirement holds without a sandbox.
#[case("hang", "down", "LAUNCH-5", "the adapter did not answer `down`")]
#[case("garbage", "down", "LAUNCH-5", "the adapter wrote a line that is no answer")]
fn nothing_is_judged_through_an_adapter_that_goes_wrong(
    #[case] how: &str,
    #[case] verb: &str,
    #[case] requirement: &str,
    #[case] words: &str,
) {
    let (results, took) = checked(how, verb, requirement);
    nothing_judged(&results, words);
    assert!(took < Duration::from_secs(40), "{took:?}");
}

#[test]
fn what_an_adapter_leaves_behind_is_held_against_its_sandbox() {
    let (results, _) = checked("leave", "up", "TEARDOWN-1");
    let [check] = &results.checks[..] else { panic!("{results:#?}") };
    assert_eq!(check.verdict, Verdict::Fail, "{:#?}", check.reason);
    assert!(check.reason.iter().any(|reason| reason.contains("sleep")), "{:#?}", check.reason);
}

#[test]
fn a_hang_costs_its_deadline_once() {
    // Some twenty launches, each of which would cost four seconds.
    let (results, took) = checked("hang", "hello", "LAUNCH-");
    assert!(results.checks.iter().all(|check| check.verdict != Verdict::Pass), "{results:#?}");
    assert!(took < Duration::from_secs(50), "{took:?}");
}

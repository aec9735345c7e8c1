//! Adapters that hang, talk nonsense or lie: each costs its deadline at most, and is told in harmless words.

use std::time::Duration;

use rstest::rstest;
use tempfile::TempDir;

use super::support::{Ended, adapted, beside};

/// Deadlines of hello, up, inspect, exec, down and the end, of which one is soon over.
fn deadlines(soon: &str) -> String {
    let all = ["hello", "up", "inspect", "exec", "down", "end"];
    all.map(|verb| if verb == soon || verb == "end" { "400" } else { "20000" }).join(",")
}

fn launch(how: &str, verb: &str, soon: &str) -> Ended {
    let directory = TempDir::new().expect("a directory");
    let place = directory.path().display().to_string();
    let (program, deadlines) = (beside("hostile.py").display().to_string(), deadlines(soon));
    let head = ["--route", "none", "--program", "/bin/true", "--workspace", &place, "--run-dir", &place];
    let words =
        ["--deadlines", &deadlines, "--down-twice", "--", "python3", &program, how, verb, "--exec", "echo", "ran"];
    adapted(directory.path(), &[&head[..], &words].concat())
}

/// Told as the adapter's trouble, with these words and nothing that could do harm.
fn troubled(ended: &Ended, words: &str) {
    assert_eq!(ended.code, 125, "{ended:?}");
    let told = format!("watertight-adapted: trouble: {words}");
    assert!(ended.stderr.contains(&told), "{words}: {}", ended.stderr);
    let harmless = |byte: u8| byte == b'\n' || (b' '..=b'~').contains(&byte);
    assert!(ended.stderr.bytes().all(harmless), "{:?}", ended.stderr);
}

#[rstest]
fn one_that_hangs_costs_the_deadline_of_that_verb(#[values("hello", "up", "inspect", "exec", "down")] verb: &str) {
    let ended = launch("hang", verb, verb);
    troubled(&ended, &format!("the adapter did not answer `{verb}` within 0.4 s"));
    assert!(ended.took < Duration::from_secs(10), "{ended:?}");
    assert_eq!(ended.stdout.contains("ran"), verb == "down", "{ended:?}");
}

#[rstest]
fn one_that_exits_is_told_at_once(#[values("hello", "up", "inspect", "exec", "down")] verb: &str) {
    let ended = launch("exit", verb, "none");
    troubled(&ended, &format!("the adapter ended its output and did not answer `{verb}`"));
    assert!(ended.took < Duration::from_secs(10), "{ended:?}");
}

#[rstest]
fn what_is_no_answer_ends_the_launch(
    #[values("hello", "up", "inspect", "exec", "down")] verb: &str,
    #[values("garbage", "huge", "endless", "other-id")] how: &str,
) {
    let ended = launch(how, verb, "none");
    let words = match how {
        "garbage" => "the adapter wrote a line that is no answer (nothing else may go to its standard output): ",
        "other-id" => "the adapter answered request 10",
        _ => "the adapter wrote a line of more than 65536 bytes",
    };
    troubled(&ended, words);
    assert!(ended.took < Duration::from_secs(10), "{ended:?}");
}

#[rstest]
#[case("other-version", "hello", "the adapter speaks protocol 2, and this program 1")]
#[case("no-route", "hello", "the adapter does not support the route `none`")]
#[case("nothing", "hello", "the adapter's answer to `hello` is none: missing field `protocol`")]
#[case("twice", "up", "the adapter answered request 2, which is not open")]
#[case("long-id", "up", "the adapter's answer to `up` is none: its id of the sandbox has 1000 bytes")]
#[case("nothing", "up", "the adapter's answer to `up` is none: missing field `sandbox`")]
#[case("no-such-process", "inspect", "the adapter says that process 4000000000 is of the sandbox")]
#[case("no-such-cgroup", "inspect", "the adapter says that `/no/such/cgroup` is the sandbox's cgroup")]
#[case("other-namespace", "inspect", "the adapter's answer to `inspect` is none: none of its processes is in the net")]
#[case("nothing", "inspect", "the adapter's answer to `inspect` is none: it says neither")]
#[case("nothing", "exec", "the adapter's answer to `exec` is none")]
#[case("refuse", "hello", "the adapter refuses `hello`: no such \\x1b[2J image")]
#[case("refuse", "inspect", "the adapter refuses `inspect`")]
#[case("refuse", "down", "the adapter refuses `down`")]
#[case("hang", "end", "the adapter did not end within 0.4 s of the end of its input, and was killed")]
fn a_lie_is_told_by_name(#[case] how: &str, #[case] verb: &str, #[case] words: &str) {
    let ended = launch(how, verb, "none");
    troubled(&ended, words);
}

#[rstest]
fn a_sandbox_that_refuses_is_no_trouble(#[values("up", "exec")] verb: &str) {
    let ended = launch("refuse", verb, "none");
    assert_eq!((ended.code, ended.stdout.as_str()), (125, ""), "{ended:?}");
    assert!(ended.stderr.contains(&format!("watertight: the adapter refuses `{verb}`: no such \\x1b[2J image")));
    assert!(!ended.stderr.contains("trouble"), "{ended:?}");
}

#[test]
fn one_that_does_all_right_runs_the_workload() {
    let ended = launch("right", "never", "none");
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "ran\n"), "{ended:?}");
}

#[test]
fn an_adapter_that_is_not_there_is_named() {
    let directory = TempDir::new().expect("a directory");
    let ended = adapted(directory.path(), &["--route", "none", "--", "/no/such/adapter", "--exec", "true"]);
    troubled(&ended, "cannot start the adapter `/no/such/adapter`: No such file");
    let ended = adapted(directory.path(), &["--route", "none"]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("it names no adapter"), "{ended:?}");
}

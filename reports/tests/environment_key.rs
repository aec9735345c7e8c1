//! A key in the environment is taken out of it: no child inherits it, and `/proc` does not show it.
//!
//! Without libtest, which runs tests in threads of their own: the environment is changed while there is one thread.

use std::{
    env, fs,
    process::{Command, ExitCode},
    thread,
};

use watertight_reports::signing::{
    key::SigningKey,
    source::{KEY_VARIABLE, SourceError, Sources},
};

fn main() -> ExitCode {
    let Some(pem) = env::var_os(KEY_VARIABLE) else {
        return parent();
    };
    let pem = pem.into_string().expect("PEM");
    // A line of the key itself, which must be seen before and not after.
    let body = pem.lines().nth(1).expect("a body");
    let shown = || String::from_utf8_lossy(&fs::read("/proc/self/environ").expect("the environment")).into_owned();
    assert!(shown().contains(body), "the environment shows the key while it is there");
    with_a_second_thread(|| {
        assert!(
            matches!(Sources::take(None, true), Err(SourceError::Environment(_))),
            "another thread could be reading"
        );
    });
    let sources = Sources::take(None, true).expect("the sources");
    assert!(env::var_os(KEY_VARIABLE).is_none(), "the variable is gone");
    assert!(!shown().contains(body), "the memory of the variable is wiped");
    assert!(env::var_os("WATERTIGHT_TEST_BESIDE").is_some_and(|value| value == "stays"), "other variables stay");
    let child = Command::new("env").output().expect("env of coreutils");
    assert!(!String::from_utf8_lossy(&child.stdout).contains(body), "a child does not inherit it");
    assert!(String::from_utf8_lossy(&child.stdout).contains("WATERTIGHT_TEST_BESIDE=stays"));
    let key = sources.load().expect("the key");
    assert_eq!(key.public(), SigningKey::from_pem(&pem).expect("the key").public());
    ExitCode::SUCCESS
}

/// Starts this program with a key in its environment.
fn parent() -> ExitCode {
    let pem = SigningKey::generate().and_then(|key| key.to_pem()).expect("a key");
    let mut command = Command::new(env::current_exe().expect("this program"));
    let status =
        command.env(KEY_VARIABLE, pem.as_str()).env("WATERTIGHT_TEST_BESIDE", "stays").status().expect("a child");
    if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn with_a_second_thread(test: impl FnOnce()) {
    let (hold, held) = std::sync::mpsc::channel::<()>();
    let second = thread::spawn(move || held.recv());
    test();
    drop(hold);
    // Joined, it is gone from /proc as well.
    let _ = second.join();
}

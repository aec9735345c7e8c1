//! How the tests start a launch through an adapter.

use std::{
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// What came of a launch.
#[derive(Debug)]
pub struct Ended {
    /// The exit status; a signal's number below zero.
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
    pub took: Duration,
}

/// A file beside this one.
pub fn beside(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/adapter").join(name)
}

/// `watertight adapted` with these words and this standard input, in a directory.
pub fn adapted(directory: &Path, words: &[&str]) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_watertight"));
    command.arg("adapted").args(words).current_dir(directory);
    ended(command)
}

/// The end of this command, which is not waited for longer than a minute.
pub fn ended(command: Command) -> Ended {
    let mut limited = Command::new("timeout");
    limited.args(["--signal=KILL", "60"]).arg(command.get_program()).args(command.get_args());
    if let Some(directory) = command.get_current_dir() {
        limited.current_dir(directory);
    }
    let began = Instant::now();
    let output = limited.stdin(Stdio::null()).output().expect("timeout(1)");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let code = output.status.code().unwrap_or_else(|| -output.status.signal().unwrap_or(0));
    Ended { code, stdout: text(output.stdout), stderr: text(output.stderr), took: began.elapsed() }
}

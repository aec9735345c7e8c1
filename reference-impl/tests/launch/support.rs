//! Launches of the test binary by itself, as root and as an ordinary user.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use tempfile::TempDir;

pub const UID: u32 = 1777;
pub const KEY: &str = "sk-real-key-of-the-provider";
/// Only failures pay it.
pub const DEADLINE: Duration = Duration::from_secs(20);

/// Who starts the launcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Root,
    Ordinary,
}

impl By {
    /// The users that this process can start a launcher as.
    pub fn all() -> Vec<Self> {
        if nix::unistd::geteuid().is_root() { vec![Self::Root, Self::Ordinary] } else { vec![Self::Ordinary] }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Root => "as_root",
            Self::Ordinary => "as_ordinary_user",
        }
    }
}

static HELPER: OnceLock<PathBuf> = OnceLock::new();

/// Makes a copy of the test binary that every user can execute, until the result is dropped.
pub fn install_helper() -> TempDir {
    let directory = open_directory();
    let path = directory.path().join("helper");
    fs::copy(std::env::current_exe().expect("this binary"), &path).expect("a copy");
    HELPER.set(path).expect("installed once");
    directory
}

pub fn helper() -> &'static Path {
    HELPER.get().expect("the helper is installed")
}

fn open_directory() -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    fs::set_permissions(directory.path(), Permissions::from_mode(0o755)).expect("a mode");
    directory
}

/// A workspace, a key and the options of one launch.
pub struct Scene {
    pub by: By,
    pub directory: TempDir,
    pub command: Command,
}

impl Scene {
    /// A launch by the variant of this name; options and command are still to be added.
    pub fn new(by: By, variant: &str) -> Self {
        Self::through(by, variant, &[])
    }

    /// As [`Self::new`], but the launcher is started by another command.
    pub fn through(by: By, variant: &str, wrapper: &[&str]) -> Self {
        let directory = open_directory();
        let (workspace, key) = (directory.path().join("workspace"), directory.path().join("key"));
        fs::create_dir(&workspace).expect("a workspace");
        fs::write(&key, KEY).expect("a key");
        fs::set_permissions(&key, Permissions::from_mode(0o600)).expect("a mode");
        if nix::unistd::geteuid().is_root() {
            chown(&workspace, Some(UID), Some(UID)).expect("the user's workspace");
            chown(&key, Some(UID), Some(UID)).expect("the user's key");
        }
        let mut command = match wrapper {
            [] => Command::new(helper()),
            [program, rest @ ..] => {
                let mut command = Command::new(program);
                command.args(rest).arg(helper());
                command
            }
        };
        command.args(["helper", "run", variant]).arg("--workspace").arg(&workspace).arg("--key").arg(&key);
        command.arg("--ro").arg(helper());
        command.stdin(Stdio::null()).current_dir("/");
        match by {
            By::Root => command.args(["--user", &UID.to_string()]),
            By::Ordinary if nix::unistd::geteuid().is_root() => command.uid(UID).gid(UID),
            By::Ordinary => &mut command,
        };
        Self { by, directory, command }
    }

    pub fn option(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.arg(name).arg(value);
        self
    }

    pub fn key(&self) -> PathBuf {
        self.directory.path().join("key")
    }

    /// Runs a command to its end.
    #[track_caller]
    pub fn run<S: AsRef<OsStr>>(mut self, argv: impl IntoIterator<Item = S>) -> Output {
        self.command.arg("--").args(argv).output().expect("the launcher starts")
    }

    /// What a shell script prints.
    #[track_caller]
    pub fn shell(self, script: &str) -> String {
        stdout(&self.run(["/bin/sh", "-c", script]))
    }

    /// What the test binary prints as a workload.
    #[track_caller]
    pub fn inside(self, attempt: &str) -> String {
        let argv = [helper().to_str().expect("UTF-8"), "helper", "inside"].into_iter();
        stdout(&self.run(argv.chain(attempt.split(' '))))
    }

    /// Starts a shell script, whose first line is `ready`, and waits for that.
    #[track_caller]
    pub fn start(mut self, script: &str) -> Running {
        self.command.arg("--").args(["/bin/sh", "-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = self.command.spawn().expect("the launcher starts");
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        output.read_line(&mut line).expect("the script prints a line");
        assert_eq!(line, "ready\n", "the script starts");
        Running { child, _output: output, scene: self }
    }
}

/// A launch whose workload has said that it is ready.
pub struct Running {
    pub child: Child,
    /// Held, so that the script can go on printing.
    _output: BufReader<ChildStdout>,
    pub scene: Scene,
}

impl Running {
    pub fn launcher(&self) -> u32 {
        self.child.id()
    }

    /// Pid 1 of the sandbox, as seen from outside.
    #[track_caller]
    pub fn init(&self) -> u32 {
        *children(self.launcher()).first().expect("the launcher has a child")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

#[track_caller]
pub fn stdout(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if text.is_empty() && !output.status.success() {
        return format!("({:?}: {})", output.status.code(), String::from_utf8_lossy(&output.stderr).trim());
    }
    text
}

/// Everything that `/proc` shows of a process's start, as text.
pub fn start_strings(pid: u32) -> String {
    let read = |name: &str| fs::read(format!("/proc/{pid}/{name}")).expect("readable by root");
    String::from_utf8_lossy(&[read("cmdline"), read("environ")].concat()).replace('\0', "")
}

pub fn children(pid: u32) -> Vec<u32> {
    let list = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// A process and all its descendants.
pub fn family(pid: u32) -> Vec<u32> {
    children(pid).into_iter().flat_map(family).chain([pid]).collect()
}

/// Waits, yielding, until a fact holds.
#[track_caller]
pub fn eventually(fact: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !holds() {
        assert!(Instant::now() < deadline, "not within {DEADLINE:?}: {fact}");
        std::thread::yield_now();
    }
}

/// The uid that an ordinary user's launches have.
pub fn ordinary_uid() -> u32 {
    let uid = nix::unistd::geteuid();
    if uid.is_root() { UID } else { uid.as_raw() }
}

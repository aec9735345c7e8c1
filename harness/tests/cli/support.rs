//! How the tests start the program.

use std::{
    fs::{self, Permissions},
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use assert_cmd::assert::OutputAssertExt;

/// Uid and gid of an ordinary user that no machine has.
pub const USER: u32 = 1777;

/// As whom the program is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum As {
    /// As whoever runs the tests.
    Self_,
    /// As an ordinary user.
    User,
}

/// The identities that this machine allows the tests to take.
pub fn identities() -> Vec<As> {
    if nix::unistd::geteuid().is_root() { vec![As::Self_, As::User] } else { vec![As::Self_] }
}

/// What came out of a command that has ended.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// `watertight` with these arguments, in a plain environment.
pub fn command(user: As, arguments: &[&str]) -> Command {
    let mut command = Command::new(program());
    command.args(arguments).current_dir("/");
    for variable in ["NO_COLOR", "CLICOLOR_FORCE", "TERM", "SUDO_UID", "SUDO_USER"] {
        command.env_remove(variable);
    }
    command.env("COLUMNS", "80");
    if user == As::User {
        command.uid(USER).gid(USER);
    }
    command
}

pub fn run(arguments: &[&str]) -> Ended {
    run_as(As::Self_, arguments)
}

pub fn run_as(user: As, arguments: &[&str]) -> Ended {
    ended(&mut command(user, arguments))
}

pub fn ended(command: &mut Command) -> Ended {
    let output = command.assert().get_output().clone();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    Ended { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// The program, where an ordinary user can execute it too.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let built = PathBuf::from(env!("CARGO_BIN_EXE_watertight"));
        let open = |path: &Path| path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o001 != 0);
        assert!(
            built.ancestors().all(|path| path.as_os_str().is_empty() || open(path)),
            "{} cannot be reached by an ordinary user: set CARGO_TARGET_DIR to a directory that can",
            built.display()
        );
        built
    })
}

/// A directory that every user can enter, and that goes away.
pub fn directory() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    fs::set_permissions(directory.path(), Permissions::from_mode(0o755)).expect("mode set");
    directory
}

/// The document that a command printed.
pub fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

//! Why a launch was stopped, in words that say what to do, and the exit status that tells it from the command's own.

use std::io;
use std::path::PathBuf;

use crate::guards::Guards;
use crate::relay::{KeyFileError, ListenError, OriginError};

/// Why a command was not executed.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    #[error("no command to run: name one after `--`")]
    NoCommand,
    #[error("{name:?} was not found on PATH; name an existing program")]
    CommandNotFound { name: String },
    #[error("{name:?} cannot be executed by uid {uid}: {source}")]
    CommandNotExecutable { name: String, uid: u32, source: io::Error },
    #[error("an argument or variable holds a zero byte: {0:?}")]
    ZeroByte(String),
    #[error("no provider: give its base URL with --provider")]
    NoProvider,
    /// The URL itself is not shown: it may hold a password.
    #[error("{option} cannot be used: {part}")]
    Url { option: &'static str, part: OriginError },
    #[error(transparent)]
    KeyFile(#[from] KeyFileError),
    #[error(transparent)]
    Listen(#[from] ListenError),
    #[error("{option} {path:?} cannot be used: {reason}")]
    Path { option: &'static str, path: PathBuf, reason: String },
    #[error("standard input, output or error is a directory, which would lead out of the sandbox; redirect it")]
    StandardDirectory,
    #[error("--env {0}: no such variable is set here; set it or leave the option out")]
    NoVariable(String),
    #[error("started as root with no ordinary user to become: name one with --user, or start it through sudo")]
    NoOrdinaryUser,
    #[error("--user {name:?} cannot be used: {reason}")]
    User { name: String, reason: &'static str },
    #[error("cannot {what}: {source}{advice}")]
    Kernel { what: String, source: io::Error, advice: &'static str },
    #[error("the relays did not start: {0}")]
    Relays(String),
    #[error("the sandbox's init was ended by signal {0}; the command went with it")]
    InitKilled(i32),
}

impl LaunchError {
    /// 127 not found, 126 not executable, 125 for everything else that stops a launcher.
    pub fn exit_status(&self) -> i32 {
        match self {
            Self::CommandNotFound { .. } => 127,
            Self::CommandNotExecutable { .. } => 126,
            _ => 125,
        }
    }

    pub(crate) fn kernel(what: impl Into<String>, source: io::Error, advice: &'static str) -> Self {
        Self::Kernel { what: what.into(), source, advice }
    }
}

/// Gives the outcome of a system call the words for what it was meant to do.
pub(crate) trait Step<T> {
    fn step(self, what: impl Into<String>) -> Result<T, LaunchError>;
    fn step_or(self, what: impl Into<String>, advice: &'static str) -> Result<T, LaunchError>;
}

impl<T, E: Into<io::Error>> Step<T> for Result<T, E> {
    fn step(self, what: impl Into<String>) -> Result<T, LaunchError> {
        self.step_or(what, "")
    }

    fn step_or(self, what: impl Into<String>, advice: &'static str) -> Result<T, LaunchError> {
        self.map_err(|error| LaunchError::kernel(what, error.into(), advice))
    }
}

/// A defence that could not be put up ends the launch.
pub(crate) fn require<G: Guards>(outcome: Result<(), LaunchError>) -> Result<(), LaunchError> {
    if G::stops_at_first_failure() { outcome } else { Ok(()) }
}

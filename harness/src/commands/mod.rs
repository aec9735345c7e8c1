//! The command line. What runs inside a target or a world is told apart before anything else happens.

mod attempt;
pub(crate) mod check;
mod diff;
mod doctor;
mod double;
mod enter;
mod explain;
mod file;
mod inside;
mod keygen;
mod line;
mod list;
mod load;
mod log;
mod nearest;
mod oci;
mod output;
mod render;
mod sandbox;
mod scoreboard;
mod selftest;
mod sign;
mod sys;
mod target;
mod tried;
mod verify;

use std::process::ExitCode;

use clap::Parser;
pub(crate) use sys::asked_to_end;

use crate::catalogue::Catalogue;

/// Exit status of a usage error, and of input that cannot be used.
pub const USAGE: u8 = 2;
/// Exit status of a run that could not be made.
pub const INCOMPLETE: u8 = 3;
/// Exit status of a fault of the harness itself.
pub const HARNESS_ERROR: u8 = 4;
/// Exit status of evidence that does not verify.
pub const INVALID: u8 = 5;

/// Why nothing was done, and the exit status that says so.
struct Refusal {
    words: String,
    code: u8,
}

impl Refusal {
    fn usage(words: impl Into<String>) -> Self {
        Self { words: words.into(), code: USAGE }
    }

    fn incomplete(words: impl Into<String>) -> Self {
        Self { words: words.into(), code: INCOMPLETE }
    }

    fn harness(words: impl Into<String>) -> Self {
        Self { words: words.into(), code: HARNESS_ERROR }
    }
}

/// Runs the command that the arguments name.
pub fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if let Some(first) = arguments.next().and_then(|first| first.into_string().ok())
        && let Some(code) = inside::run(&first, arguments)
    {
        return code;
    }
    match line::Line::parse().command {
        line::Command::Doctor(options) => doctor::run(&options),
        line::Command::Check(options) => check::run(&options),
        line::Command::Render(options) => render::run(&options),
        line::Command::Badge(options) => render::badge(&options),
        line::Command::Selftest(options) => selftest::run(&options),
        line::Command::List(options) => list::run(&options),
        line::Command::Explain(options) => explain::run(&options),
        line::Command::Try(options) => tried::run(options),
        line::Command::Keygen(options) => keygen::run(&options),
        line::Command::Run(options) => sandbox::run(options),
        line::Command::Relay(options) => sandbox::relay(options),
        line::Command::Oci(options) => oci::run(&options),
        line::Command::Sign(options) => sign::run(&options),
        line::Command::Verify(options) => verify::run(&options),
        line::Command::Log(options) => log::run(&options),
        line::Command::Target(options) => target::run(&options),
        line::Command::Scoreboard(options) => scoreboard::run(&options),
        line::Command::Diff(options) => diff::run(&options),
    }
}

/// The requirements, which every check of this program must agree with: nothing is run otherwise.
fn catalogue() -> Result<Catalogue, String> {
    Catalogue::agreed().map_err(|problems| problems.join("\nwatertight: "))
}

/// Tells the user why nothing was done.
pub(crate) fn refuse(error: &dyn std::fmt::Display, code: u8) -> ExitCode {
    output::say(error);
    ExitCode::from(code)
}

/// Prints a document, and gives this status where that worked.
fn show(document: &str, code: u8) -> ExitCode {
    match output::print(document) {
        Ok(()) => ExitCode::from(code),
        Err(error) => refuse(&format!("cannot write to standard output: {error}"), HARNESS_ERROR),
    }
}

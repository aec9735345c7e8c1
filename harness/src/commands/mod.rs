//! The command line. What runs inside a target or a world is told apart before anything else happens.

mod check;
mod double;
mod inside;
mod line;
mod sandbox;

use std::process::ExitCode;

use clap::Parser;

/// Exit status of a usage error, and of input that cannot be used.
pub const USAGE: u8 = 2;
/// Exit status of a run that could not be made.
pub const INCOMPLETE: u8 = 3;

/// Runs the command that the arguments name.
pub fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if let Some(first) = arguments.next().and_then(|first| first.into_string().ok())
        && let Some(code) = inside::run(&first, arguments)
    {
        return code;
    }
    match line::Line::parse().command {
        line::Command::Check(options) => check::run(options),
        line::Command::Run(options) => sandbox::run(options),
        line::Command::Relay(options) => sandbox::relay(options),
    }
}

/// Tells the user why nothing was done.
fn refuse(error: &dyn std::fmt::Display, code: u8) -> ExitCode {
    eprintln!("watertight: {error}");
    ExitCode::from(code)
}

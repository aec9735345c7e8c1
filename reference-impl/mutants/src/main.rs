//! The reference sandbox with one defence taken down or done wrongly: `watertight-mutants SLUG run …`.
//!
//! A program of its own, so that `watertight` holds no switch: what is decided here at run time is a constant there.

mod around;
mod guards;
mod line;
mod sys;
mod way;
mod which;

use std::{mem::ManuallyDrop, process::ExitCode};

use watertight_reference::{
    launch::{self, LaunchSpec},
    relay::{Service, ServiceError, Serving},
};

use around::Around;
use guards::Mutant;
use which::is;

fn main() -> ExitCode {
    let (spec, around) = match prepared() {
        Ok(prepared) => prepared,
        Err(words) => {
            eprintln!("watertight-mutants: {words}");
            return ExitCode::from(2);
        }
    };
    let status = launch::run::<Mutant, _, _, _>(&spec, start_relays).unwrap_or_else(|error| {
        eprintln!("watertight-mutants: {error}");
        error.exit_status()
    });
    match around.after(status) {
        Ok(status) => ExitCode::from(status as u8),
        Err(error) => {
            eprintln!("watertight-mutants: after the launch: {error}");
            ExitCode::from(125)
        }
    }
}

fn prepared() -> Result<(LaunchSpec, Around), String> {
    let mut spec = line::read(std::env::args_os().skip(1))?;
    let around = Around::before(&mut spec).map_err(|error| format!("before the launch: {error}"))?;
    Ok((spec, around))
}

/// Serves the relays: in this process, or in one that nobody ends.
fn start_relays(service: Service) -> Result<Option<ManuallyDrop<Serving>>, ServiceError> {
    let daemon = is("relays-outlive-launcher");
    if daemon && !sys::split().unwrap_or(false) {
        return Ok(None);
    }
    let serving = service.start::<Mutant>(|line| eprintln!("watertight-mutants: {line}")).map(ManuallyDrop::new)?;
    if daemon {
        around::stay();
        std::process::exit(0);
    }
    Ok(Some(serving))
}

//! What the program is inside a world or a target: chosen by its first argument, before anything else is set up.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::ExitCode,
};

use watertight_fixtures::{mcp, world};
use watertight_probe::{IDENTITY_COMMAND, PLAN_FILE_OPTION, PROBE_COMMAND, SAMPLE_COMMAND};
use watertight_reference::{bridge, guards::AllUp};

use crate::{
    adapter::{self, ADAPTED},
    planner::{INSTANCE_PORT, PROVIDER_PORT},
};

/// Runs the inner command named `first`, if it is one.
pub fn run(first: &str, mut rest: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let mut word = || rest.next().and_then(|word| word.into_string().ok()).unwrap_or_default();
    Some(match first {
        "world-init" => world::init_main(vec![]),
        PROBE_COMMAND => {
            let (option, argument) = (word(), word());
            match option.as_str() {
                PLAN_FILE_OPTION => watertight_probe::run_file(argument.as_ref()).into(),
                // `--plan`, and the plan itself.
                _ => watertight_probe::run(&argument).into(),
            }
        }
        SAMPLE_COMMAND => {
            watertight_probe::sample(&word());
            ExitCode::SUCCESS
        }
        IDENTITY_COMMAND => code(watertight_probe::report_identity()),
        "mcp-server" => {
            let _ = word();
            code(mcp::serve(&word()))
        }
        "bridge" => bridge(rest.collect()),
        "double" => super::double::run(rest.collect()),
        ADAPTED => adapter::run(rest.map(|word| word.to_string_lossy().into_owned()).collect()),
        _ => return None,
    })
}

/// `bridge --sockets DIR -- COMMAND…`: both routes that have a socket in DIR.
fn bridge(arguments: Vec<OsString>) -> ExitCode {
    let (sockets, command) = match sockets_and_command(arguments) {
        Ok(parsed) => parsed,
        Err(error) => return super::refuse(&error, super::USAGE),
    };
    let (provider, instance) = (sockets.join(PROVIDER_SOCKET), sockets.join(INSTANCE_SOCKET));
    let instance: Option<&Path> = instance.exists().then_some(&instance);
    match bridge::main::<AllUp>(&provider, PROVIDER_PORT, instance, INSTANCE_PORT, command) {
        Ok(status) => ExitCode::from(status as u8),
        Err(error) => super::refuse(&error, FAILED),
    }
}

/// Exit status of a launcher that failed, apart from every status of the command it was to start (as env(1) has it).
const FAILED: u8 = 125;
pub const PROVIDER_SOCKET: &str = "provider.sock";
pub const INSTANCE_SOCKET: &str = "instance.sock";

/// Reads `--sockets DIR -- COMMAND…`.
pub fn sockets_and_command(arguments: Vec<OsString>) -> Result<(PathBuf, Vec<OsString>), String> {
    let mut arguments = arguments.into_iter();
    match (arguments.next(), arguments.next(), arguments.next()) {
        (Some(option), Some(directory), Some(end)) if option == "--sockets" && end == "--" => {
            Ok((directory.into(), arguments.collect()))
        }
        _ => Err("expected `--sockets DIR -- COMMAND…`".into()),
    }
}

fn code(result: Result<(), impl std::fmt::Display>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => super::refuse(&error, 1),
    }
}

//! `watertight run` and `watertight relay`: the reference sandbox, and its relays alone.

use std::{mem::ManuallyDrop, process::ExitCode};

use watertight_reference::{
    guards::AllUp,
    launch::{self, LaunchSpec},
    relay::{Service, ServiceError, Serving},
};

use super::{
    line::{Relay, Routes, Run},
    output,
};

/// Runs a command confined.
pub fn run(options: Run) -> ExitCode {
    let spec = LaunchSpec {
        argv: options.command,
        user: options.user,
        workspace: options.workspace,
        read_only: options.ro,
        read_write: options.rw,
        pass_environment: options.env,
        ..routes(options.routes)
    };
    finish(launch::run::<AllUp, _, _, _>(&spec, start_relays))
}

/// Runs a command beside the relays.
pub fn relay(options: Relay) -> ExitCode {
    let spec = LaunchSpec { argv: options.command, user: options.user, ..routes(options.routes) };
    finish(launch::beside_relays::<AllUp, _, _, _>(&spec, &options.sockets, start_relays))
}

fn routes(routes: Routes) -> LaunchSpec {
    LaunchSpec {
        provider: routes.provider.unwrap_or_default(),
        key_file: routes.provider_key_file.unwrap_or_default(),
        instance: routes.instance,
        ..LaunchSpec::default()
    }
}

/// The relays end with this process, which has nothing else to do once the command has ended: the kernel closes what they
/// have open sooner than their thread could be asked to.
fn start_relays(service: Service) -> Result<ManuallyDrop<Serving>, ServiceError> {
    service.start::<AllUp>(|line| output::say(&line)).map(ManuallyDrop::new)
}

fn finish(result: Result<i32, launch::LaunchError>) -> ExitCode {
    match result {
        Ok(status) => ExitCode::from(status as u8),
        Err(error) => super::refuse(&error, error.exit_status() as u8),
    }
}

#[cfg(test)]
mod tests {
    use clap::{Parser, error::ErrorKind};

    use super::super::line::Line;

    fn refusal(options: &[&str]) -> Option<ErrorKind> {
        let routes = ["watertight", "run", "--provider", "http://h", "--provider-key-file", "key"];
        let line = routes.iter().chain(options).chain(&["--", "/bin/true"]);
        Line::try_parse_from(line).err().map(|error| error.kind())
    }

    #[test]
    fn nothing_on_the_command_line_opens_the_network_or_passes_unknown() {
        assert_eq!(refusal(&[]), None);
        for options in [
            &["--network", "shared"][..],
            &["--network=shared"],
            &["--network=host"],
            &["--share-net"],
            &["--no-sandbox"],
            &["--privileged"],
            &["--unknown"],
            &["-x"],
        ] {
            assert_eq!(refusal(options), Some(ErrorKind::UnknownArgument), "{options:?}");
        }
        // A word before `--` is no command.
        assert_eq!(refusal(&["stray"]), Some(ErrorKind::UnknownArgument));
    }

    #[test]
    fn options_are_not_abbreviated() {
        for options in [&["--prov", "http://other"][..], &["--rea", "/"], &["--work", "/"]] {
            assert_eq!(refusal(options), Some(ErrorKind::UnknownArgument), "{options:?}");
        }
    }
}

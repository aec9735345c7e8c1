//! `watertight run` and `watertight relay`: the reference sandbox, and its relays alone.

use std::{path::Path, process::ExitCode};

use watertight_reference::{
    guards::AllUp,
    launch::{self, LaunchSpec, RelayInputs},
    relay::{Service, Serving},
};

use super::{
    line::{Relay, Routes, Run},
    output,
};

/// Exit status of a launcher that stopped, apart from every status of the command it was to start (as env(1) has it).
const STOPPED: u8 = 125;

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
    if let Some(words) = refused(&spec) {
        return super::refuse(&words, STOPPED);
    }
    finish(launch::run::<AllUp, _, _, _>(&spec, relays(&spec)))
}

/// Runs a command beside the relays.
pub fn relay(options: Relay) -> ExitCode {
    let spec = LaunchSpec { argv: options.command, ..routes(options.routes) };
    if let Some(words) = refused(&spec) {
        return super::refuse(&words, STOPPED);
    }
    finish(launch::beside_relays::<AllUp, _, _, _>(&spec, &options.sockets, relays(&spec)))
}

fn routes(routes: Routes) -> LaunchSpec {
    LaunchSpec {
        provider: routes.provider.unwrap_or_default(),
        key_file: routes.provider_key_file.unwrap_or_default(),
        instance: routes.instance,
        ..LaunchSpec::default()
    }
}

/// Why this key file is not taken: a link shows neither where the key lies nor who can change that.
fn refused(spec: &LaunchSpec) -> Option<String> {
    let path: &Path = &spec.key_file;
    let target = path.read_link().ok()?;
    let target = path.parent().map_or_else(|| target.clone(), |parent| parent.join(&target));
    Some(format!(
        "the provider key file {path:?} cannot be used: it is a symbolic link; name the file itself, {target:?}"
    ))
}

fn relays(spec: &LaunchSpec) -> impl FnOnce(RelayInputs) -> Result<Serving, String> + use<> {
    let (provider, instance) = (spec.provider.clone(), spec.instance.clone());
    move |inputs| {
        let service = Service::of(&provider, instance.as_deref(), inputs).map_err(|error| error.to_string())?;
        service.start::<AllUp>(|line| output::say(&line)).map_err(|error| error.to_string())
    }
}

fn finish(result: Result<i32, launch::LaunchError>) -> ExitCode {
    match result {
        Ok(status) => ExitCode::from(status as u8),
        Err(error) => super::refuse(&error, error.exit_status() as u8),
    }
}

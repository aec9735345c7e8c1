//! Launches a command with relays that answer nothing: what a start costs, without the relays' own cost.
//!
//! `launch KEY-FILE USER COMMAND…`

use std::process::ExitCode;

use watertight_reference::guards::AllUp;
use watertight_reference::launch::{LaunchSpec, run};
use watertight_reference::relay::Service;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(key_file), Some(user)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: launch KEY-FILE USER COMMAND…");
        return ExitCode::from(2);
    };
    let spec = LaunchSpec {
        argv: arguments.collect(),
        provider: "http://203.0.113.10/v1".into(),
        key_file: key_file.into(),
        user: user.into_string().ok(),
        ..LaunchSpec::default()
    };
    let status = run::<AllUp, _, Service, String>(&spec, Ok).unwrap_or_else(|error| {
        eprintln!("watertight: {error}");
        error.exit_status()
    });
    ExitCode::from(u8::try_from(status).unwrap_or(125))
}

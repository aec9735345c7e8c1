//! The reference's start against bubblewrap's, in pairs.

use std::ffi::OsString;
use std::process::{Command, ExitCode};
use std::time::Duration;

use nix::unistd::geteuid;
use watertight_reference::guards::AllUp;
use watertight_reference::launch::{LaunchSpec, run};
use watertight_reference::relay::Service;

use super::place::{Place, USER};
use super::stopwatch::{median, print, time};

const PAIRS: usize = 200;
const WARM_UP: usize = 5;
const PROVIDER: &str = "http://203.0.113.10/v1";

/// Measures as the user that this process has.
pub fn pairs(place: &Place) {
    let mut subjects = vec![
        ("watertight run, relays and bridge included", Box::new(|| watertight(place)) as Box<dyn Fn() -> Command>),
        ("the launcher alone", Box::new(|| without_relays(place))),
    ];
    match Command::new("bwrap").arg("--version").output() {
        Ok(_) => subjects.push(("bwrap --unshare-all", Box::new(bubblewrap))),
        Err(_) => println!("  bwrap is not installed: no ratios"),
    }
    let mut times = vec![Vec::with_capacity(PAIRS); subjects.len()];
    for round in 0..WARM_UP + PAIRS {
        for ((_, command), times) in subjects.iter().zip(&mut times) {
            let took = time(&mut command());
            if round >= WARM_UP {
                times.push(took);
            }
        }
    }
    for ((name, _), times) in subjects.iter().zip(&times) {
        print(name, times);
    }
    if let [run, alone, bubblewrap] = times.as_slice() {
        println!(
            "  watertight run / bwrap {:.2}, the launcher alone / bwrap {:.2}",
            ratio(run, bubblewrap),
            ratio(alone, bubblewrap)
        );
    }
}

fn watertight(place: &Place) -> Command {
    let mut command = Command::new(place.watertight());
    command.args(["run", "--provider", PROVIDER, "--provider-key-file"]).arg(place.key());
    command.arg("--workspace").arg(place.workspace());
    if geteuid().is_root() {
        command.args(["--user", &USER.to_string()]);
    }
    command.args(["--", "/bin/true"]);
    command
}

fn without_relays(place: &Place) -> Command {
    let mut command = Command::new(place.bench());
    command.arg(super::ALONE).args([place.key(), place.workspace()]);
    command
}

fn bubblewrap() -> Command {
    let mut command = Command::new("bwrap");
    command.args(["--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "/bin/true"]);
    command
}

/// This program as a launcher whose relays answer nothing.
pub fn alone(arguments: &[OsString]) -> ExitCode {
    let [key, workspace] = arguments else { return ExitCode::from(2) };
    let spec = LaunchSpec {
        argv: vec!["/bin/true".into()],
        provider: PROVIDER.into(),
        key_file: key.into(),
        workspace: Some(workspace.into()),
        user: geteuid().is_root().then(|| USER.to_string()),
        ..LaunchSpec::default()
    };
    match run::<AllUp, _, Service, String>(&spec, Ok) {
        Ok(status) => ExitCode::from(status as u8),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// The median of the ratios of neighbours.
fn ratio(times: &[Duration], to: &[Duration]) -> f64 {
    median(times.iter().zip(to).map(|(one, other)| one.as_secs_f64() / other.as_secs_f64()).collect())
}

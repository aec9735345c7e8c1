//! The probe under test is this very program: it executes itself inside namespaces that each test makes.

mod launch;
mod mcp_server;
mod networks;
mod order;
mod outsiders;
mod places;
mod privileges;
mod proxies;
mod relays;
mod roots;
mod servers;
mod sys;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let words: Vec<&str> = arguments.iter().skip(1).map(String::as_str).collect();
    match words[..] {
        _ if arguments[0].ends_with(roots::HANGS) => roots::hang(),
        [watertight_probe::PROBE_COMMAND, "--plan", plan] => ExitCode::from(watertight_probe::run(plan)),
        [watertight_probe::PROBE_COMMAND, watertight_probe::PLAN_FILE_OPTION, file] => {
            ExitCode::from(watertight_probe::run_file(file.as_ref()))
        }
        [watertight_probe::SAMPLE_COMMAND, comm] => {
            watertight_probe::sample(comm);
            ExitCode::SUCCESS
        }
        [watertight_probe::IDENTITY_COMMAND] => ExitCode::from(u8::from(watertight_probe::report_identity().is_err())),
        ["mcp-server", "--instance", instance] => mcp_server::serve(instance),
        _ => suite(),
    }
}

fn suite() -> ExitCode {
    // An ordinary user is root of a user namespace from here on, before there is a second thread.
    sys::become_root();
    let trials: Vec<Trial> = [
        order::trials(),
        outsiders::trials(),
        networks::trials(),
        places::trials(),
        privileges::trials(),
        proxies::trials(),
        relays::trials(),
        roots::trials(),
    ]
    .into_iter()
    .flatten()
    .collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Makes a trial of each function, named after it.
macro_rules! trials {
    ($($name:ident),* $(,)?) => {
        pub fn trials() -> Vec<libtest_mimic::Trial> {
            vec![$(libtest_mimic::Trial::test(stringify!($name), || crate::on_a_thread_of_its_own($name))),*]
        }
    };
}
use trials;

/// Namespaces that a test gives its thread end with it.
fn on_a_thread_of_its_own(test: fn()) -> Result<(), libtest_mimic::Failed> {
    std::thread::spawn(test).join().map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        text.unwrap_or("panicked").into()
    })
}

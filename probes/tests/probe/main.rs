//! The probe under test is this very program: it executes itself inside namespaces that each test makes.

#![allow(dead_code)]
mod launch;
mod networks;
mod order;
mod roots;
mod sys;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let words: Vec<&str> = arguments.iter().skip(1).map(String::as_str).collect();
    match words[..] {
        [watertight_probe::PROBE_COMMAND, "--plan", plan] => ExitCode::from(watertight_probe::run(plan)),
        [watertight_probe::SAMPLE_COMMAND, comm] => {
            watertight_probe::sample(comm);
            ExitCode::SUCCESS
        }
        [watertight_probe::IDENTITY_COMMAND] => ExitCode::from(u8::from(watertight_probe::report_identity().is_err())),
        _ => suite(),
    }
}

fn suite() -> ExitCode {
    // An ordinary user is root of a user namespace from here on, before there is a second thread.
    sys::become_root();
    let trials: Vec<Trial> = [order::trials(), networks::trials(), roots::trials()].into_iter().flatten().collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Makes a trial of each function, named after it.
macro_rules! trials {
    ($($name:ident),* $(,)?) => {
        pub fn trials() -> Vec<libtest_mimic::Trial> {
            vec![$(libtest_mimic::Trial::test(stringify!($name), || { $name(); Ok(()) })),*]
        }
    };
}
use trials;

//! The launcher and the bridge in real namespaces, with each defence up and with it taken down.
//!
//! The test binary is its own launcher (`helper run`), bridge (`helper bridge`) and workload (`helper inside`).

mod launch {
    pub mod beside;
    pub mod bridge;
    pub mod defences;
    pub mod helper;
    pub mod inside;
    pub mod lifetime;
    pub mod refusals;
    pub mod support;
    pub mod sys;
    pub mod variants;
    pub mod witness;
}

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == "helper") {
        return launch::helper::main(arguments.collect());
    }
    let arguments = Arguments::from_args();
    let _helper = launch::support::install_helper();
    let trials: Vec<Trial> = [
        launch::defences::trials(),
        launch::witness::trials(),
        launch::lifetime::trials(),
        launch::refusals::trials(),
        launch::bridge::trials(),
        launch::beside::trials(),
    ]
    .into_iter()
    .flatten()
    .collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

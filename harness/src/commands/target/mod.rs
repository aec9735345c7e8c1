//! `watertight target`: writes a manifest for another sandbox, and shows that it works before anything counts.

mod adapter;
mod init;
mod smoke;

use std::process::ExitCode;

use super::line::Target;

pub fn run(options: &Target) -> ExitCode {
    match options {
        Target::Init(options) => init::run(options),
        Target::Smoke(options) => smoke::run(options),
    }
}

//! `watertight doctor`: what this machine can run.

use std::process::ExitCode;

use watertight_reports::doctor;

pub use crate::doctor::layout;

use super::{HARNESS_ERROR, INCOMPLETE, line::Doctor, output};

pub fn run(line: &Doctor) -> ExitCode {
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => return super::refuse(&format!("cannot find this program's own file: {error}"), HARNESS_ERROR),
    };
    let diagnosis = crate::doctor::diagnose(&program);
    let document = if line.json { doctor::json(&diagnosis) } else { doctor::text(&diagnosis, &output::style(false)) };
    super::show(&document, if diagnosis.can_check { 0 } else { INCOMPLETE })
}

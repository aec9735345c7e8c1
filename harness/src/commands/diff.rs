//! `watertight diff`: what became worse from one run to another.

use std::process::ExitCode;

use watertight_reports::{diff, json};

use super::{USAGE, line, load, output, refuse, show};

/// Exit status where something became worse.
const WORSE: u8 = 1;

pub fn run(options: &line::Diff) -> ExitCode {
    let both = load::shown(&options.before).and_then(|before| Ok((before, load::shown(&options.after)?)));
    let (before, after) = match both {
        Ok(both) => both,
        Err(error) => return refuse(&error, USAGE),
    };
    let diff = diff::of(&before, &after);
    let document = if options.json { json::render(&diff) } else { diff::render(&diff, &output::style(false)) };
    show(&document, if diff.holds() { 0 } else { WORSE })
}

//! `watertight log`: signs a checkpoint of the log of runs.

use std::process::ExitCode;

use watertight_reports::{
    signing::key_file,
    transparency::{file::LogFile, note::NoteKey},
};

use super::{USAGE, line, refuse, show};

pub fn run(options: &line::Log) -> ExitCode {
    match signed(options) {
        Ok(words) => show(&words, 0),
        Err(words) => refuse(&words, USAGE),
    }
}

fn signed(options: &line::Log) -> Result<String, String> {
    let key = key_file::load(&options.key_file).map_err(|error| error.to_string())?;
    let name = NoteKey::new(&options.origin, key.public()).map_err(|error| error.to_string())?;
    if !options.log.is_file() {
        return Err(format!("there is no log {}: `check --log` begins one", options.log.display()));
    }
    let log = LogFile::lock(&options.log).map_err(|error| error.to_string())?;
    let note = log.checkpoint(&options.origin, &key).map_err(|error| error.to_string())?;
    let path = options.log.with_extension("checkpoint");
    log.write_checkpoint(&path, &note).map_err(|error| error.to_string())?;
    Ok(format!("signed: {}\n  key         {name}\n", path.display()))
}

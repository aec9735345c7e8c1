//! `watertight keygen`: a key that evidence is signed with.

use std::process::ExitCode;

use watertight_reports::{
    sanitise,
    signing::key_file::{self, KeyFiles},
};

use super::{USAGE, line::Keygen};

pub fn run(line: &Keygen) -> ExitCode {
    match key_file::create(&line.out, &line.comment) {
        Ok((key, files)) => {
            let KeyFiles { private, public, ssh } = &files;
            let shown = |path: &std::path::Path| sanitise::text(path.as_os_str().as_encoded_bytes(), sanitise::LIMIT);
            let document = format!(
                "key id      {}\nprivate key {} (for `watertight sign` alone: keep it where no sandbox runs)\npublic key  {}\nfor SSH     {}\n",
                key.public().id(),
                shown(private),
                shown(public),
                shown(ssh),
            );
            super::show(&document, 0)
        }
        Err(error) => super::refuse(&error, USAGE),
    }
}

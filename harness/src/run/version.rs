//! What the target says of its version: asked in the world, where it can call nobody, and not waited for long.

use std::{
    fs::File,
    io::Read,
    os::fd::{AsFd, OwnedFd},
    time::{Duration, Instant},
};

use nix::{
    fcntl::OFlag,
    poll::{PollFd, PollFlags, PollTimeout, poll},
    unistd::pipe2,
};
use watertight_fixtures::world::Spawn;
use watertight_probe::wire;

use crate::{
    site::{Plants, Site},
    target::Target,
};

const DEADLINE: Duration = Duration::from_secs(5);
/// Bytes of its output that are looked at, and of its first line that are kept.
const READ: usize = 4096;
const KEPT: usize = 100;

/// The first line of what the manifest's version command prints, or why there is none.
pub fn of(site: &Site, target: &Target, program: &str) -> String {
    let mut words: Vec<String> = target.version.iter().map(|word| word.replace("{watertight}", program)).collect();
    match words.first() {
        None => return String::new(),
        // The world starts programs by their path.
        Some(first) if !first.contains('/') => words.insert(0, "/usr/bin/env".into()),
        Some(_) => {}
    }
    match asked(site, words) {
        Ok(said) => {
            let first = said.split(|byte| *byte == b'\n').next().unwrap_or_default();
            wire::escape(first, KEPT)
        }
        Err(why) => format!("unknown: {why}"),
    }
}

fn asked(site: &Site, words: Vec<String>) -> Result<Vec<u8>, String> {
    let said = |error: &dyn std::fmt::Display| error.to_string();
    let pipe = || pipe2(OFlag::O_CLOEXEC).map_err(|errno| said(&errno));
    let null = |write: bool| -> Result<OwnedFd, String> {
        let file = File::options().read(!write).write(write).open("/dev/null");
        file.map(OwnedFd::from).map_err(|error| said(&error))
    };
    let (stdout, stdout_end) = pipe()?;
    let mut spawn = Spawn::new(words, [null(false)?, stdout_end, null(true)?]);
    Plants::into_spawn(site, &mut spawn).map_err(|error| said(&error))?;
    // Dropped at the end, which ends the process where it has not ended.
    let _child = site.world.spawn(spawn).map_err(|error| said(&error))?;
    let deadline = Instant::now() + DEADLINE;
    let mut stdout = File::from(stdout);
    let mut said_so_far = vec![];
    let mut buffer = [0; READ];
    while said_so_far.len() < READ && !said_so_far.contains(&b'\n') {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::ZERO);
        match poll(&mut [PollFd::new(stdout.as_fd(), PollFlags::POLLIN)], timeout) {
            Ok(0) => return Err(format!("it did not say within {} s", DEADLINE.as_secs())),
            Ok(_) => {}
            Err(nix::Error::EINTR) => continue,
            Err(errno) => return Err(said(&errno)),
        }
        match stdout.read(&mut buffer) {
            Ok(0) => break,
            Ok(len) => said_so_far.extend(&buffer[..len]),
            Err(error) => return Err(said(&error)),
        }
    }
    Ok(said_so_far)
}

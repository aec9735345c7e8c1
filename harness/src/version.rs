//! What a target says of its version: asked in a world, where it can call nobody and what it leaves goes away, and not
//! waited for long.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{Read, Seek},
    time::{Duration, Instant},
};

use nix::sys::memfd::{MFdFlags, memfd_create};
use watertight_fixtures::world::{Limit, Spawn, World};

use crate::{site, target::Target};

const DEADLINE: Duration = Duration::from_secs(5);
/// Bytes of its output that are looked at.
const READ: u64 = 4096;
/// Bytes of a file that it may write: some runtimes copy themselves into memory before they say anything.
const WRITTEN: u64 = 64 << 20;

/// The first line of what the manifest's version command prints, or why there is none. Nothing else may run in the world.
pub fn of(world: &World, target: &Target, values: &BTreeMap<&'static str, String>) -> String {
    let mut words = target.version_words(values);
    match words.first() {
        None => return String::new(),
        // The world starts programs by their path.
        Some(first) if !first.contains('/') => words.insert(0, "/usr/bin/env".into()),
        Some(_) => {}
    }
    match asked(world, words) {
        Ok(said) => Target::version_line(&said),
        Err(why) => format!("unknown: {why}"),
    }
}

fn asked(world: &World, words: Vec<String>) -> Result<Vec<u8>, String> {
    fn said(error: impl std::fmt::Display) -> String {
        error.to_string()
    }
    let mut output = File::from(memfd_create(c"version", MFdFlags::MFD_CLOEXEC).map_err(said)?);
    let null = File::options().read(true).write(true).open("/dev/null").map_err(said)?;
    let stdio = [null.try_clone().map_err(said)?.into(), output.try_clone().map_err(said)?.into(), null.into()];
    let mut spawn = Spawn::new(words, stdio);
    spawn.env = site::environment();
    // What goes on for ever ends there.
    spawn.limits.push(Limit { resource: libc::RLIMIT_FSIZE, soft: WRITTEN, hard: WRITTEN });
    let child = world.spawn(spawn).map_err(said)?;
    let ended = child.wait(Instant::now() + DEADLINE).map_err(said)?.is_some();
    // With what it started.
    world.sweep().map_err(said)?;
    if !ended {
        return Err(format!("it did not say within {} s", DEADLINE.as_secs()));
    }
    let mut bytes = vec![];
    output.rewind().and_then(|()| output.take(READ).read_to_end(&mut bytes)).map_err(said)?;
    Ok(bytes)
}

//! What the target says of its version: asked in the world, where it can call nobody, and not waited for long.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{Read, Seek},
    time::{Duration, Instant},
};

use nix::sys::memfd::{MFdFlags, memfd_create};
use watertight_fixtures::world::{Limit, Spawn};

use crate::{
    site::{Plants, Site},
    target::Target,
};

const DEADLINE: Duration = Duration::from_secs(5);
/// Bytes of its output that are looked at.
const READ: u64 = 4096;

/// The first line of what the manifest's version command prints, or why there is none.
pub fn of(site: &Site, target: &Target, values: &BTreeMap<&'static str, String>) -> String {
    let mut words = target.version_words(values);
    match words.first() {
        None => return String::new(),
        // The world starts programs by their path.
        Some(first) if !first.contains('/') => words.insert(0, "/usr/bin/env".into()),
        Some(_) => {}
    }
    match asked(site, words) {
        Ok(said) => Target::version_line(&said),
        Err(why) => format!("unknown: {why}"),
    }
}

fn asked(site: &Site, words: Vec<String>) -> Result<Vec<u8>, String> {
    fn said(error: impl std::fmt::Display) -> String {
        error.to_string()
    }
    let mut output = File::from(memfd_create(c"version", MFdFlags::MFD_CLOEXEC).map_err(said)?);
    let null = File::options().read(true).write(true).open("/dev/null").map_err(said)?;
    let stdio = [null.try_clone().map_err(said)?.into(), output.try_clone().map_err(said)?.into(), null.into()];
    let mut spawn = Spawn::new(words, stdio);
    Plants::into_spawn(site, &mut spawn).map_err(said)?;
    // What goes on for ever ends there.
    spawn.limits.push(Limit { resource: libc::RLIMIT_FSIZE, soft: READ, hard: READ });
    let child = site.world.spawn(spawn).map_err(said)?;
    // Dropping the child ends it where it has not ended.
    if child.wait(Instant::now() + DEADLINE).map_err(said)?.is_none() {
        return Err(format!("it did not say within {} s", DEADLINE.as_secs()));
    }
    let mut bytes = vec![];
    output.rewind().and_then(|()| output.take(READ).read_to_end(&mut bytes)).map_err(said)?;
    Ok(bytes)
}

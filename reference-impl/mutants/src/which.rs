//! Which mutant this process is, and the proof that it took effect.

use std::{
    io::{self, Write},
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

/// What stands before the slug in the line that says that the mutant took effect.
const APPLIED: &str = "watertight-mutants: applied ";

static SLUG: OnceLock<String> = OnceLock::new();
static SAID: AtomicBool = AtomicBool::new(false);

/// Chosen once, before anything else happens.
pub fn choose(slug: String) {
    // A second choice would be a bug of this file's only caller; the first stands.
    let _ = SLUG.set(slug);
}

/// Whether this is that mutant. Where it is, the defence is about to be left out: that is said once a process.
pub fn is(slug: &str) -> bool {
    let chosen = SLUG.get().is_some_and(|chosen| chosen == slug);
    if chosen {
        applied();
    }
    chosen
}

/// Whether this is one of those mutants.
pub fn any(slugs: &[&str]) -> bool {
    slugs.iter().any(|slug| is(slug))
}

fn applied() {
    if !SAID.swap(true, Ordering::Relaxed)
        && let Some(slug) = SLUG.get()
    {
        // In one piece: another process of the launch may say the same at the same time, and a line in pieces is none. That
        // nobody reads it any more is no fault.
        let _ = io::stderr().write_all(format!("{APPLIED}{slug}\n").as_bytes());
    }
}

/// What follows `prefix` in the slug of this mutant, if it begins so.
pub fn suffix(prefix: &str) -> Option<&'static str> {
    let rest = SLUG.get()?.strip_prefix(prefix)?;
    applied();
    Some(rest)
}

//! What a start costs: the reference against bubblewrap in the same run, a world, an attempt, and the whole core profile.
//!
//! `cargo bench -p watertight`. Medians of wall time from spawn to collected; a ratio is the median of ratios of
//! neighbours, so that a busy machine slows both. Run as root it measures as root and as an ordinary user.

#[path = "start/launch.rs"]
mod launch;
#[path = "start/place.rs"]
mod place;
#[path = "start/stopwatch.rs"]
mod stopwatch;
#[path = "start/suite.rs"]
mod suite;

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use nix::unistd::geteuid;

use place::{Place, USER};

/// What the program is to do, as its own children are told.
const ALONE: &str = "launch-without-relays";
const PAIRS: &str = "pairs";
const WORLDS: &str = "worlds";

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    match arguments.first().and_then(|first| first.to_str()) {
        Some(ALONE) => return launch::alone(&arguments[1..]),
        Some(PAIRS) => launch::pairs(&Place::found(&arguments[1])),
        Some(WORLDS) => suite::worlds(&Place::found(&arguments[1])),
        // cargo's own arguments say nothing that matters here.
        _ => everything(),
    }
    ExitCode::SUCCESS
}

fn everything() {
    let place = Place::make();
    let root = geteuid().is_root();
    if root {
        println!("as root, which becomes uid {USER}");
        again(PAIRS, &place, false);
        println!("as uid {USER}");
    }
    again(PAIRS, &place, root);
    println!("worlds");
    again(WORLDS, &place, false);
    suite::attempts(&place);
    suite::core_profile(&place);
}

/// Runs a part of this program in a process of its own, since it changes that for good or has another user.
fn again(what: &str, place: &Place, as_user: bool) {
    let mut command = Command::new(place.bench());
    command.arg(what).arg(place.directory());
    if as_user {
        command.uid(USER).gid(USER);
    }
    let status = command.status().expect("the benchmark starts again");
    assert!(status.success(), "{what} failed: {status}");
}

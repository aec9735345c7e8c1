//! Bundles that are broken at random, and those that want to be read for ever.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitStatus},
    time::{Duration, Instant},
};

use libtest_mimic::Trial;
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use watertight_reports::{
    bundle::ATTESTATIONS,
    verify::{Accepted, SIGSTORE, Strict},
};

use crate::{honest::program, scene::Scene, trial};

/// Changes of each file.
const CHANGES: usize = 4;
/// Memory that a verification may use for itself, in KiB.
const MEMORY: u64 = 128 << 10;
/// Longest verification on a busy machine, in a debug build.
const LONGEST: Duration = Duration::from_secs(60);

pub fn trials() -> Vec<Trial> {
    vec![
        trial("hostile::a_changed_byte_is_refused_or_changes_nothing_that_is_signed", changed_bytes),
        trial("hostile::no_file_is_opened_twice", opened_once),
        trial("hostile::a_gibibyte_is_refused_in_little_memory", a_gibibyte),
        trial("hostile::as_much_as_is_ever_read_fits_in_little_memory", as_much_as_is_read),
    ]
}

fn changed_bytes() -> Result<(), String> {
    let scene = Scene::honest();
    let genuine = accepted(&scene)?;
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut unsigned = 0;
    for path in files(&scene.bundle()) {
        let whole = fs::read(&path).expect("read");
        for change in 0..CHANGES {
            let mut bytes = whole.clone();
            if bytes.is_empty() {
                bytes.push(random.next() as u8);
            } else {
                let at = random.next() as usize % bytes.len();
                match change % 4 {
                    0 => bytes[at] ^= 1 << (random.next() % 8),
                    1 => bytes[at] = random.next() as u8,
                    2 => bytes.truncate(at),
                    _ => bytes.insert(at, random.next() as u8),
                }
            }
            if bytes == whole {
                continue;
            }
            fs::write(&path, &bytes).expect("written");
            let name = path.strip_prefix(scene.bundle()).expect("in the bundle").to_string_lossy().into_owned();
            if let Ok(found) = scene.verify(&Strict) {
                let same = found.predicate == genuine.predicate
                    && found.statement == genuine.statement
                    && found.signers == genuine.signers;
                let unsigned_part = [ATTESTATIONS, SIGSTORE].contains(&name.as_str());
                if !same || !unsigned_part {
                    return Err(format!("change {change} of {name} is accepted"));
                }
                unsigned += 1;
            }
        }
        fs::write(&path, &whole).expect("written");
    }
    // All is as it was: what was refused was refused for its change.
    accepted(&scene)?;
    eprintln!("{unsigned} changes were of hints that nobody signs");
    Ok(())
}

/// What is hashed is what is parsed: a file that was opened once cannot be another the second time.
fn opened_once() -> Result<(), String> {
    let scene = Scene::honest();
    let watcher = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC).expect("a watcher");
    let mut directories = BTreeMap::new();
    for directory in directories_of(&scene.bundle()) {
        let watch = watcher.add_watch(&directory, AddWatchFlags::IN_OPEN).expect("watched");
        directories.insert(format!("{watch:?}"), directory);
    }
    accepted(&scene)?;
    let mut opened: BTreeMap<PathBuf, u32> = BTreeMap::new();
    while let Ok(events) = watcher.read_events() {
        for event in events {
            if event.mask.contains(AddWatchFlags::IN_ISDIR) {
                continue;
            }
            let name: OsString = event.name.unwrap_or_default();
            *opened.entry(directories[&format!("{:?}", event.wd)].join(name)).or_default() += 1;
        }
    }
    let all = files(&scene.bundle());
    let missed = all.iter().find(|path| !opened.contains_key(*path));
    let twice = opened.iter().find(|(_, times)| **times > 1);
    match (missed, twice) {
        (None, None) => Ok(()),
        (missed, twice) => Err(format!("never opened: {missed:?}; more than once: {twice:?}")),
    }
}

/// 64 files of 16 MiB, each of them allowed by itself, all listed and signed.
fn a_gibibyte() -> Result<(), String> {
    let scene = Scene::honest();
    scene.dishonest(|draft| {
        for number in 100..164 {
            draft.files.insert(format!("launches/{number}/probe.jsonl"), vec![b' '; 16 << 20]);
        }
    });
    for number in 100..164 {
        // A hole reads as zeros, and nothing gets so far as to see the difference.
        let path = scene.path(&format!("payload/launches/{number}/probe.jsonl"));
        fs::File::create(path).and_then(|file| file.set_len(16 << 20)).expect("a hole");
    }
    let (status, words) = bounded(&scene);
    let refused = status.code() == Some(5) && (words.contains("E_FILE_TOO_BIG") || words.contains("E_FILE_DIGEST"));
    if refused { Ok(()) } else { Err(format!("{status}: {words}")) }
}

/// Files of as many bytes as a verifier ever parses: read, hashed, parsed, and then refused.
fn as_much_as_is_read() -> Result<(), String> {
    let scene = Scene::honest();
    scene.dishonest(|draft| {
        let launch = draft.launch("target");
        draft.files.insert("harness.log".into(), vec![b'x'; 16 << 20]);
        let probe = draft.files.get_mut(&format!("{launch}/probe.jsonl")).expect("a record");
        let line = probe.split(|byte| *byte == b'\n').next().expect("a line").to_vec();
        while probe.len() < (15 << 20) {
            probe.extend_from_slice(&line);
            probe.push(b'\n');
        }
    });
    let (status, words) = bounded(&scene);
    let refused = status.code() == Some(5) && words.contains("E_LOG_BINDING");
    if refused { Ok(()) } else { Err(format!("{status}: {words}")) }
}

/// `verify` with so much memory for its own data and no more, and not for ever.
fn bounded(scene: &Scene) -> (ExitStatus, String) {
    let policy = scene.bundle().with_file_name("policy.toml");
    fs::write(&policy, scene.policy.to_string()).expect("written");
    let mut verify = Command::new("/bin/sh");
    verify.args(["-c", &format!("ulimit -d {MEMORY} && exec \"$@\""), "sh", program(), "verify"]);
    verify.arg(scene.bundle()).arg("--policy").arg(policy).args(["--nonce", crate::honest::CHALLENGE]);
    let began = Instant::now();
    let output = verify.output().expect("the program starts");
    assert!(began.elapsed() < LONGEST, "{:?}", began.elapsed());
    (output.status, String::from_utf8_lossy(&output.stderr).into_owned())
}

fn accepted(scene: &Scene) -> Result<Accepted, String> {
    scene.verify(&Strict).map_err(|rejection| rejection.to_string())
}

/// Every file below a directory, in order.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = vec![];
    for directory in directories_of(directory) {
        let entries = fs::read_dir(&directory).expect("a directory").map(|entry| entry.expect("an entry").path());
        found.extend(entries.filter(|path| path.is_file()));
    }
    found.sort();
    found
}

fn directories_of(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").path());
    let below = entries.filter(|path| path.is_dir()).flat_map(|path| directories_of(&path));
    [directory.to_owned()].into_iter().chain(below).collect()
}

/// Numbers that look random and are the same in every run (xorshift64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

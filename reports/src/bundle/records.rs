//! Evidence as the lines of a bundle, by launch, and back: every line says its launch and, where it has one, its attempt.

use std::{collections::BTreeMap, net::SocketAddr};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use watertight_probe::{
    nonce::Nonce,
    observation::{Hello, Observation},
    plan::Attempt,
    sighting::Sighting,
};

use crate::{
    evidence::{AttemptRecord, Exit, Launch, LaunchKind, Process, Socket},
    signing::strict::{self, StrictError},
    verify::code::Code,
};

/// Files of one launch, in `payload/launches/N/`.
pub const LAUNCH: &str = "launch.json";
pub const PROBE: &str = "probe.jsonl";
pub const LEDGER: &str = "ledger.jsonl";
pub const FRAMES: &str = "frames.jsonl";
pub const PROCESS: &str = "process.jsonl";
/// All of them, in the order of their names.
pub const FILES: [&str; 5] = [FRAMES, LAUNCH, LEDGER, PROBE, PROCESS];

/// The fixture whose sightings are captured frames.
const CAPTURE: &str = "capture";

/// `launch.json`: the launch itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    launch: String,
    kind: LaunchKind,
    argv: Vec<String>,
    hello: Option<Hello>,
    done: bool,
    errors: Vec<String>,
    sockets: Vec<Socket>,
    left: Vec<String>,
    outside: BTreeMap<String, String>,
    exit: Option<Exit>,
    stderr: String,
    micros: u64,
}

/// A line of `probe.jsonl`: what was planned, and what the probe said of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tried {
    launch: String,
    attempt: String,
    nonce: Nonce,
    planned: Attempt,
    evil: Option<SocketAddr>,
    began: bool,
    observation: Option<Observation>,
}

/// A line of `ledger.jsonl` or `frames.jsonl`: what was seen outside of one attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Seen {
    launch: String,
    attempt: String,
    nonce: Nonce,
    sighting: Sighting,
}

/// A line of `process.jsonl`: a process of the probe as the witness saw it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Witnessed {
    launch: String,
    process: Process,
}

/// The bytes of one launch's file.
pub type File = (&'static str, Vec<u8>);

/// Why the lines of a launch make no launch.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error("{file}, line {line}: {source}")]
    Malformed { file: &'static str, line: usize, source: serde_json::Error },
    #[error("{file}, line {line}: it speaks of launch {found:?}, and the launch is {launch:?}")]
    OtherLaunch { file: &'static str, line: usize, found: String, launch: String },
    #[error("{file}, line {line}: {error}")]
    Json { file: &'static str, line: usize, error: StrictError },
    #[error("{file}, line {line}: attempt {attempt:?} {problem}")]
    Attempt { file: &'static str, line: usize, attempt: String, problem: Problem },
}

/// Why a line about an attempt does not belong where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("has the report of another")]
    OtherReport,
    #[error("is there twice")]
    Twice,
    #[error("was not made in this launch")]
    NotMade,
    #[error("has another nonce")]
    OtherNonce,
    #[error("was seen by a fixture whose file is another")]
    OtherFile,
}

impl RecordError {
    pub fn code(&self) -> Code {
        match self {
            Self::Malformed { .. } => Code::Schema,
            Self::Json { error, .. } => error.code(),
            Self::OtherLaunch { .. } => Code::LogNonce,
            Self::Attempt { problem, .. } => match problem {
                Problem::OtherReport | Problem::OtherNonce => Code::LogNonce,
                Problem::Twice | Problem::NotMade | Problem::OtherFile => Code::LogBinding,
            },
        }
    }
}

/// What is known of a launch when it has ended: all but what was seen outside, which is read at the end of the run.
pub fn ended(launch: &Launch) -> [File; 3] {
    let head = Head {
        launch: launch.id.clone(),
        kind: launch.kind,
        argv: launch.argv.clone(),
        hello: launch.hello.clone(),
        done: launch.done,
        errors: launch.errors.clone(),
        sockets: launch.sockets.clone(),
        left: launch.left.clone(),
        outside: launch.outside.clone(),
        exit: launch.exit,
        stderr: launch.stderr.clone(),
        micros: launch.micros,
    };
    let tried = launch.attempts.iter().map(|(attempt, record)| Tried {
        launch: launch.id.clone(),
        attempt: attempt.clone(),
        nonce: record.nonce,
        planned: record.attempt.clone(),
        evil: record.evil,
        began: record.began,
        observation: record.observation.clone(),
    });
    let processes =
        launch.processes.iter().map(|process| Witnessed { launch: launch.id.clone(), process: process.clone() });
    [(LAUNCH, lines([head])), (PROBE, lines(tried)), (PROCESS, lines(processes))]
}

/// What was seen outside of a launch.
pub fn outside(launch: &Launch) -> [File; 2] {
    let seen = |captured: bool| {
        let of = |(attempt, record): (&String, &AttemptRecord)| {
            let sightings = record.sightings.iter().filter(|one| (one.fixture == CAPTURE) == captured);
            let seen = sightings.map(|sighting| Seen {
                launch: launch.id.clone(),
                attempt: attempt.clone(),
                nonce: record.nonce,
                sighting: sighting.clone(),
            });
            seen.collect::<Vec<_>>()
        };
        lines(launch.attempts.iter().flat_map(of))
    };
    [(LEDGER, seen(false)), (FRAMES, seen(true))]
}

#[expect(clippy::expect_used, reason = "strings, numbers and closed enums always serialise")]
fn lines(records: impl IntoIterator<Item = impl Serialize>) -> Vec<u8> {
    let mut bytes = vec![];
    for record in records {
        serde_json::to_writer(&mut bytes, &record).expect("plain data");
        bytes.push(b'\n');
    }
    bytes
}

/// The launch that these files describe. `file` gives the bytes of each of [`FILES`].
pub fn launch<'a>(file: impl Fn(&'static str) -> &'a [u8]) -> Result<Launch, RecordError> {
    let Head { launch: id, kind, argv, hello, done, errors, sockets, left, outside, exit, stderr, micros } =
        record(LAUNCH, 1, file(LAUNCH))?;
    let mut launch = Launch {
        argv,
        hello,
        done,
        errors,
        sockets,
        left,
        outside,
        exit,
        stderr,
        micros,
        ..Launch::not_made(&id, kind)
    };
    each(PROBE, file(PROBE), |line, tried: Tried| {
        belongs(PROBE, line, &tried.launch, &id)?;
        let Tried { launch: _, attempt, nonce, planned, evil, began, observation } = tried;
        if observation.as_ref().is_some_and(|one| one.attempt != attempt) {
            return Err(RecordError::Attempt { file: PROBE, line, attempt, problem: Problem::OtherReport });
        }
        let record = AttemptRecord { nonce, attempt: planned, evil, began, observation, sightings: vec![] };
        match launch.attempts.insert(attempt.clone(), record) {
            None => Ok(()),
            Some(_) => Err(RecordError::Attempt { file: PROBE, line, attempt, problem: Problem::Twice }),
        }
    })?;
    for name in [LEDGER, FRAMES] {
        each(name, file(name), |line, seen: Seen| {
            belongs(name, line, &seen.launch, &id)?;
            let wrong = |problem| RecordError::Attempt { file: name, line, attempt: seen.attempt.clone(), problem };
            let Some(record) = launch.attempts.get_mut(&seen.attempt) else {
                return Err(wrong(Problem::NotMade));
            };
            if record.nonce != seen.nonce {
                return Err(wrong(Problem::OtherNonce));
            }
            if (seen.sighting.fixture == CAPTURE) != (name == FRAMES) {
                return Err(wrong(Problem::OtherFile));
            }
            record.sightings.push(seen.sighting);
            Ok(())
        })?;
    }
    each(PROCESS, file(PROCESS), |line, witnessed: Witnessed| {
        belongs(PROCESS, line, &witnessed.launch, &id)?;
        launch.processes.push(witnessed.process);
        Ok(())
    })?;
    Ok(launch)
}

fn belongs(file: &'static str, line: usize, found: &str, launch: &str) -> Result<(), RecordError> {
    if found == launch {
        return Ok(());
    }
    Err(RecordError::OtherLaunch { file, line, found: found.to_owned(), launch: launch.to_owned() })
}

fn each<T: DeserializeOwned>(
    file: &'static str,
    bytes: &[u8],
    mut take: impl FnMut(usize, T) -> Result<(), RecordError>,
) -> Result<(), RecordError> {
    let lines = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    if lines.is_empty() {
        return Ok(());
    }
    for (index, line) in lines.split(|byte| *byte == b'\n').enumerate() {
        take(index + 1, record(file, index + 1, line)?)?;
    }
    Ok(())
}

fn record<T: DeserializeOwned>(file: &'static str, line: usize, bytes: &[u8]) -> Result<T, RecordError> {
    let text = strict::check(bytes, bytes.len()).map_err(|error| RecordError::Json { file, line, error })?;
    serde_json::from_str(text).map_err(|source| RecordError::Malformed { file, line, source })
}

#[cfg(test)]
mod tests {
    use watertight_probe::{observation::Outcome, plan::Stream, sighting::Event};

    use super::*;

    fn sighting(seq: u64, fixture: &str) -> Sighting {
        Sighting {
            seq,
            micros: seq,
            fixture: fixture.into(),
            nonces: vec![],
            to: Some(([9, 0, 0, 1], 80).into()),
            from: "host0".into(),
            event: Event::Accepted { connection: seq },
        }
    }

    fn record(id: &str, sightings: Vec<Sighting>) -> AttemptRecord {
        let run = watertight_probe::nonce::RunNonce::from_bytes([1; 32]);
        let outcome = Outcome::Refused { call: "connect".into(), errno: 101 };
        let observation = Some(Observation { attempt: id.into(), outcome, micros: 7, cut: false });
        AttemptRecord {
            nonce: run.attempt("target", id),
            attempt: Attempt::Connect { transport: Stream::Tcp, to: ([9, 0, 0, 1], 80).into(), source_port: None },
            evil: None,
            began: true,
            observation,
            sightings,
        }
    }

    fn sample() -> Launch {
        let mut launch = Launch::not_made("target", LaunchKind::Target);
        launch.stderr = "{\"launch\":\"other\"}".into();
        launch.processes = vec![Process { pid: 7, ..Process::default() }];
        let seen = vec![sighting(1, "canary-tcp"), sighting(3, "dns"), sighting(2, CAPTURE)];
        launch.attempts = [("a".into(), record("a", seen)), ("b".into(), record("b", vec![]))].into();
        launch
    }

    fn files(launch: &Launch) -> BTreeMap<&'static str, Vec<u8>> {
        ended(launch).into_iter().chain(outside(launch)).collect()
    }

    fn back(files: &BTreeMap<&'static str, Vec<u8>>) -> Result<Launch, String> {
        launch(|name| &files[name]).map_err(|error| error.to_string())
    }

    #[test]
    fn a_launch_comes_back_as_it_was() {
        let launch = sample();
        let files = files(&launch);
        assert_eq!(files.keys().copied().collect::<Vec<_>>(), FILES);
        assert_eq!(back(&files), Ok(launch));
    }

    #[test]
    fn lines_of_another_launch_are_refused_in_every_file() {
        for name in [PROBE, LEDGER, FRAMES, PROCESS] {
            let mut files = files(&sample());
            let other = String::from_utf8(files[name].clone()).expect("text").replacen("\"target\"", "\"second\"", 1);
            files.insert(name, other.into());
            let error = back(&files).expect_err(name);
            assert!(error.starts_with(name) && error.contains("second"), "{error}");
        }
    }

    #[test]
    fn what_was_seen_needs_the_attempt_and_its_nonce() {
        let change = |name, from: &str, to: &str| {
            let mut files = files(&sample());
            let text = String::from_utf8(files[name].clone()).expect("text").replacen(from, to, 1);
            files.insert(name, text.into());
            back(&files).expect_err(to)
        };
        assert!(change(LEDGER, "\"attempt\":\"a\"", "\"attempt\":\"c\"").ends_with("was not made in this launch"));
        assert!(change(LEDGER, "\"attempt\":\"a\"", "\"attempt\":\"b\"").ends_with("has another nonce"));
        assert!(change(FRAMES, CAPTURE, "dns").ends_with("whose file is another"));
        assert!(change(PROBE, "\"attempt\":\"b\"", "\"attempt\":\"a\"").ends_with("has the report of another"));
        assert!(change(PROBE, "\"began\"", "\"begun\"").contains("unknown field"));
    }

    #[test]
    fn an_empty_line_is_no_record() {
        let mut files = files(&sample());
        files.get_mut(PROBE).expect("a file").push(b'\n');
        assert!(back(&files).is_err());
    }
}

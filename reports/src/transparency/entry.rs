//! Entries of the log, one JSON object a line.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{
    sanitise,
    signing::{
        digest::Digest,
        strict::{self, StrictError},
    },
    time,
};

/// Longest line: names are short and digests have 64 digits.
pub const MAX_LINE: usize = 1024;
/// Longest name of a run or a profile.
const MAX_NAME: usize = 100;

/// What the log says. Written in this order of fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
pub enum Entry {
    /// A run is about to make its first check.
    Start {
        /// The run's own id, unique in the log: letters, digits, `.`, `_`, `-`.
        run: String,
        /// What is tested: digest of the statement's subject.
        subject: Digest,
        /// Profile and version, as statements have it: `core 1.0`.
        profile: String,
        /// Digest of the run's nonce, which the statement then shows.
        nonce_sha256: Digest,
        /// RFC 3339, UTC, whole seconds.
        at: String,
    },
    /// A run has ended, whatever came of it.
    Finish {
        run: String,
        /// Digest of the statement's payload.
        statement_sha256: Digest,
        at: String,
    },
}

/// All entries of a log, in order, of which each can follow those before it.
#[derive(Debug, Default)]
pub struct Entries {
    starts: Vec<Start>,
    /// Run to its place in `starts`.
    by_run: HashMap<String, usize>,
}

/// One run, as far as the log knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    pub run: String,
    pub subject: Digest,
    pub profile: String,
    pub nonce_sha256: Digest,
    pub at: String,
    /// Its statement, where it has finished.
    pub finished: Option<Digest>,
}

/// Why a line cannot be in the log.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EntryError {
    #[error("it is not strict JSON: {0}")]
    Json(#[from] StrictError),
    #[error("it has not the fields of a start or a finish: {0}")]
    Fields(String),
    #[error("the name of its run or profile is empty, longer than {MAX_NAME} or has unusual characters")]
    Name,
    #[error("its time is not of the form 2026-01-31T23:59:59Z")]
    Time,
    #[error("run {0} has started before")]
    StartedTwice(String),
    #[error("run {0} has finished before")]
    FinishedTwice(String),
    #[error("run {0} finishes and has not started")]
    NotStarted(String),
}

impl Entry {
    /// Reads one line, without its end.
    pub fn parse(line: &[u8]) -> Result<Self, EntryError> {
        let text = strict::check(line, MAX_LINE)?;
        let strict::Object(entry): strict::Object<Self> = serde_json::from_str(text).map_err(|error| fields(&error))?;
        entry.check()?;
        Ok(entry)
    }

    /// The line, without its end. Fails where it could not be read back.
    pub fn to_line(&self) -> Result<String, EntryError> {
        let line = serde_json::to_string(self).map_err(|error| fields(&error))?;
        Self::parse(line.as_bytes())?;
        Ok(line)
    }

    fn check(&self) -> Result<(), EntryError> {
        let named = |name: &str, also: &str| {
            let usual =
                |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter) || also.contains(letter);
            !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(usual)
        };
        let (run, at, profile) = match self {
            Self::Start { run, at, profile, .. } => (run, at, Some(profile)),
            Self::Finish { run, at, .. } => (run, at, None),
        };
        if !named(run, "") || !profile.is_none_or(|profile| named(profile, " @+/")) {
            Err(EntryError::Name)
        } else if time::parse(at).is_some() {
            Ok(())
        } else {
            Err(EntryError::Time)
        }
    }
}

impl Entries {
    /// Reads the lines of a log.
    pub fn parse<'l>(lines: impl IntoIterator<Item = &'l [u8]>) -> Result<Self, (usize, EntryError)> {
        let mut entries = Self::default();
        for (number, line) in (1..).zip(lines) {
            Entry::parse(line).and_then(|entry| entries.push(entry)).map_err(|error| (number, error))?;
        }
        Ok(entries)
    }

    /// Accepts an entry that can follow. A second start or finish of one run would hide what became of the first.
    pub fn admits(&self, entry: &Entry) -> Result<(), EntryError> {
        match entry {
            Entry::Start { run, .. } if self.run(run).is_some() => Err(EntryError::StartedTwice(run.clone())),
            Entry::Start { .. } => Ok(()),
            Entry::Finish { run, .. } => match self.run(run) {
                None => Err(EntryError::NotStarted(run.clone())),
                Some(Start { finished: Some(_), .. }) => Err(EntryError::FinishedTwice(run.clone())),
                Some(_) => Ok(()),
            },
        }
    }

    /// Adds an entry that can follow.
    pub fn push(&mut self, entry: Entry) -> Result<(), EntryError> {
        self.admits(&entry)?;
        match entry {
            Entry::Start { run, subject, profile, nonce_sha256, at } => {
                self.by_run.insert(run.clone(), self.starts.len());
                self.starts.push(Start { run, subject, profile, nonce_sha256, at, finished: None });
            }
            Entry::Finish { run, statement_sha256, .. } => {
                if let Some(start) = self.by_run.get(&run).and_then(|place| self.starts.get_mut(*place)) {
                    start.finished = Some(statement_sha256);
                }
            }
        }
        Ok(())
    }

    /// The run with this id.
    pub fn run(&self, run: &str) -> Option<&Start> {
        self.by_run.get(run).and_then(|place| self.starts.get(*place))
    }

    /// All runs of a subject and profile, in the order in which they started.
    pub fn of(&self, subject: Digest, profile: &str) -> impl Iterator<Item = &Start> {
        self.starts.iter().filter(move |start| start.subject == subject && start.profile == profile)
    }
}

fn fields(error: &serde_json::Error) -> EntryError {
    EntryError::Fields(sanitise::text(error.to_string(), sanitise::NAME_LIMIT))
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;

    pub(crate) fn start(run: &str) -> Entry {
        Entry::Start {
            run: run.into(),
            subject: Digest::of(b"subject"),
            profile: "core 1.0".into(),
            nonce_sha256: Digest::of(b"nonce"),
            at: "2026-01-31T23:59:59Z".into(),
        }
    }

    pub(crate) fn finish(run: &str) -> Entry {
        Entry::Finish { run: run.into(), statement_sha256: Digest::of(run), at: "2026-02-01T00:00:00Z".into() }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::{
        testing::{finish, start},
        *,
    };

    fn refused(value: &Value) -> EntryError {
        Entry::parse(value.to_string().as_bytes()).expect_err("a refusal")
    }

    #[test]
    fn an_entry_is_one_line_and_is_read_back() {
        let digest = |text: &str| Digest::of(text).to_string();
        let line = start("a").to_line().expect("a line");
        assert_eq!(
            line,
            format!(
                r#"{{"type":"start","run":"a","subject":"{}","profile":"core 1.0","nonce_sha256":"{}","at":"2026-01-31T23:59:59Z"}}"#,
                digest("subject"),
                digest("nonce")
            )
        );
        assert_eq!(Entry::parse(line.as_bytes()), Ok(start("a")));
        let line = finish("a").to_line().expect("a line");
        assert_eq!(
            line,
            format!(
                r#"{{"type":"finish","run":"a","statement_sha256":"{}","at":"2026-02-01T00:00:00Z"}}"#,
                digest("a")
            )
        );
        assert_eq!(Entry::parse(line.as_bytes()), Ok(finish("a")));
    }

    #[test]
    fn an_entry_has_its_fields_and_no_others() {
        let genuine = json!(start("a"));
        let edits: [fn(&mut Value); 7] = [
            |value| value["note"] = "x".into(),
            |value| value["type"] = "pause".into(),
            |value| value["type"] = "finish".into(),
            |value| value["subject"] = "x".into(),
            |value| drop(value.as_object_mut().expect("an object").remove("at")),
            |value| drop(value.as_object_mut().expect("an object").remove("type")),
            |value| *value = json!(["finish", "a", Digest::of(b""), "2026-02-01T00:00:00Z"]),
        ];
        for (number, edit) in edits.into_iter().enumerate() {
            let mut value = genuine.clone();
            edit(&mut value);
            assert!(matches!(refused(&value), EntryError::Fields(_)), "{number}");
        }
        let twice = genuine.to_string().replacen('{', "{\"run\":\"b\",", 1);
        assert!(matches!(Entry::parse(twice.as_bytes()), Err(EntryError::Json(StrictError::DuplicateKey(_)))));
    }

    #[test]
    fn names_and_times_have_their_form() {
        for (field, value) in
            [("run", ""), ("run", "a b"), ("run", "a\nb"), ("run", "\u{430}"), ("profile", ""), ("profile", "a\"b")]
        {
            let mut entry = json!(start("a"));
            entry[field] = value.into();
            assert_eq!(refused(&entry), EntryError::Name, "{field} {value}");
        }
        assert_eq!(start(&"a".repeat(MAX_NAME + 1)).to_line(), Err(EntryError::Name));
        for at in [
            "",
            "2026-01-31",
            "2026-01-31T23:59:59+00:00",
            "2026-13-01T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-31t23:59:59z",
            "+026-01-31T23:59:59Z",
            "2026-01-31T23:59:5\u{e9}",
        ] {
            let mut entry = json!(start("a"));
            entry["at"] = at.into();
            assert_eq!(refused(&entry), EntryError::Time, "{at}");
        }
    }

    #[test]
    fn a_run_starts_once_and_then_finishes_once() {
        let mut entries = Entries::default();
        assert_eq!(entries.push(finish("a")), Err(EntryError::NotStarted("a".into())));
        assert_eq!(entries.push(start("a")), Ok(()));
        assert_eq!(entries.push(start("a")), Err(EntryError::StartedTwice("a".into())));
        assert_eq!(entries.push(finish("a")), Ok(()));
        assert_eq!(entries.push(finish("a")), Err(EntryError::FinishedTwice("a".into())));
        assert_eq!(entries.push(start("a")), Err(EntryError::StartedTwice("a".into())));
        assert_eq!(entries.run("a").and_then(|start| start.finished), Some(Digest::of(b"a")));
        assert_eq!(entries.run("b"), None);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_are_refused_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(Entry::parse(&bytes).is_err());
        }
    }
}

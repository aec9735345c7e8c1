//! A log on the disk and its checkpoints, genuine and altered.

use std::{
    fs::{self, OpenOptions},
    io::Write,
    os::unix::fs::symlink,
    path::PathBuf,
    thread,
};

use tempfile::TempDir;

use super::{
    super::{
        entry::{
            Entry,
            testing::{finish, start},
        },
        file::{LogFile, LogFileError},
    },
    *,
};
use crate::signing::key::SigningKey;

const ORIGIN: &str = "example.test/log";

/// A log in a directory of its own, and its key.
struct Log {
    directory: TempDir,
    key: SigningKey,
}

impl Log {
    fn new(entries: &[Entry]) -> Self {
        let log =
            Self { directory: tempfile::tempdir().expect("a directory"), key: SigningKey::generate().expect("a key") };
        let mut file = log.lock().expect("a log");
        for entry in entries {
            file.append(entry).expect("an entry");
        }
        log
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("LOG.jsonl")
    }

    fn lock(&self) -> Result<LogFile, LogFileError> {
        LogFile::lock(&self.path())
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(self.path()).expect("the log")
    }

    fn checkpoint(&self) -> String {
        self.lock().and_then(|file| file.checkpoint(ORIGIN, &self.key)).expect("a checkpoint")
    }

    fn verifier(&self) -> NoteKey {
        NoteKey::new(ORIGIN, self.key.public()).expect("a key")
    }

    fn audit(&self, remembered: Option<&str>) -> Result<Audited, AuditError> {
        Audited::new(&self.bytes(), &self.checkpoint(), &self.verifier(), remembered)
    }
}

fn claim(run: &str) -> Claim<'_> {
    Claim {
        run,
        subject: Digest::of(b"subject"),
        profile: "core 1.0",
        nonce_sha256: Digest::of(b"nonce"),
        statement_sha256: Digest::of(run),
    }
}

fn code<T: std::fmt::Debug>(result: Result<T, AuditError>) -> &'static str {
    result.expect_err("a refusal").code().name()
}

#[test]
fn a_log_knows_a_run_as_its_statement_says_it() {
    let audited = Log::new(&[start("a"), finish("a")]).audit(None).expect("a log");
    assert_eq!(audited.check(&claim("a")), Ok(()));
    assert_eq!(code(audited.check(&claim("b"))), "E_LOG_NO_START");
    let other = Digest::of(b"other");
    assert_eq!(code(audited.check(&Claim { subject: other, ..claim("a") })), "E_LOG_NO_START");
    assert_eq!(code(audited.check(&Claim { profile: "core 2.0", ..claim("a") })), "E_LOG_NO_START");
    assert_eq!(code(audited.check(&Claim { nonce_sha256: other, ..claim("a") })), "E_LOG_NO_START");
    assert_eq!(code(audited.check(&Claim { statement_sha256: other, ..claim("a") })), "E_LOG_NOT_INCLUDED");
    assert_eq!(audited.checkpoint().size, 2);
}

#[test]
fn a_run_that_has_not_finished_is_not_in_the_log() {
    let audited = Log::new(&[start("a")]).audit(None).expect("a log");
    assert_eq!(code(audited.check(&claim("a"))), "E_LOG_NOT_INCLUDED");
}

#[test]
fn runs_that_never_finished_are_counted_by_subject_and_profile() {
    let audited = Log::new(&[start("a"), start("b"), start("c"), finish("c")]).audit(None).expect("a log");
    let subject = Digest::of(b"subject");
    assert_eq!(audited.check_abandoned(subject, "core 1.0", 2), Ok(()));
    assert_eq!(code(audited.check_abandoned(subject, "core 1.0", 1)), "E_LOG_ABANDONED_RUNS");
    assert_eq!(audited.check_abandoned(subject, "core 2.0", 0), Ok(()));
    assert_eq!(audited.check_abandoned(Digest::of(b"other"), "core 1.0", 0), Ok(()));
    let runs: Vec<_> = audited.runs(subject, "core 1.0").map(|start| start.run.as_str()).collect();
    assert_eq!(runs, ["a", "b", "c"]);
}

#[test]
fn an_altered_dropped_or_added_entry_is_not_what_was_signed() {
    let log = Log::new(&[start("a"), finish("a"), start("b")]);
    let (checkpoint, genuine) = (log.checkpoint(), String::from_utf8(log.bytes()).expect("text"));
    let altered = genuine.replacen("core 1.0", "core 9.0", 1);
    let dropped = genuine.lines().take(2).map(|line| format!("{line}\n")).collect::<String>();
    let added = format!("{genuine}{}\n", finish("b").to_line().expect("a line"));
    let torn = &genuine[..genuine.len() - 1];
    for text in [altered.as_str(), &dropped, &added, torn, "", &format!("{genuine}\n")] {
        assert_eq!(code(Audited::new(text.as_bytes(), &checkpoint, &log.verifier(), None)), "E_LOG_ROOT");
    }
    assert!(Audited::new(genuine.as_bytes(), &checkpoint, &log.verifier(), None).is_ok());
}

#[test]
fn a_checkpoint_of_another_key_or_size_is_refused() {
    let (log, other) = (Log::new(&[start("a")]), Log::new(&[start("a")]));
    let checkpoint = log.checkpoint();
    assert_eq!(code(Audited::new(&log.bytes(), &checkpoint, &other.verifier(), None)), "E_LOG_SIG");
    let edited = checkpoint.replacen("\n1\n", "\n2\n", 1);
    assert_eq!(code(Audited::new(&log.bytes(), &edited, &log.verifier(), None)), "E_LOG_SIG");
}

#[test]
fn a_log_continues_what_was_remembered() {
    let log = Log::new(&[start("a")]);
    let remembered = log.checkpoint();
    log.lock().and_then(|mut file| file.append(&finish("a"))).expect("an entry");
    assert!(log.audit(Some(&remembered)).is_ok());
    assert!(log.audit(Some(&log.checkpoint())).is_ok());
}

#[test]
fn a_log_that_is_shorter_or_another_than_remembered_was_rolled_back() {
    let log = Log::new(&[start("a"), start("b")]);
    let remembered = log.checkpoint();
    let shorter = vec![start("b")];
    let reordered = vec![start("b"), start("a")];
    let longer = vec![start("b"), finish("b"), start("c")];
    for entries in [shorter, reordered, longer] {
        let key = SigningKey::from_pem(&log.key.to_pem().expect("PEM")).expect("the same key");
        let rewritten = Log { key, ..Log::new(&entries) };
        assert_eq!(code(rewritten.audit(Some(&remembered))), "E_LOG_ROLLBACK");
    }
    assert_eq!(code(log.audit(Some(&remembered.replace("\n2\n", "\n1\n")))), "E_LOG_SIG");
}

#[test]
fn a_signed_log_with_entries_that_cannot_be_is_refused() {
    let signed = |lines: &[Entry]| {
        let key = SigningKey::generate().expect("a key");
        let text: String = lines.iter().map(|entry| format!("{}\n", entry.to_line().expect("a line"))).collect();
        let leaves: Vec<_> = text.lines().map(merkle::leaf).collect();
        let checkpoint = Checkpoint { origin: ORIGIN.into(), size: leaves.len() as u64, root: merkle::root(&leaves) };
        let note = checkpoint.sign(&key).expect("a note");
        Audited::new(text.as_bytes(), &note, &NoteKey::new(ORIGIN, key.public()).expect("a key"), None)
    };
    assert_eq!(code(signed(&[start("a"), start("a"), finish("a")])), "E_LOG_ENTRY");
    assert_eq!(code(signed(&[start("a"), finish("a"), finish("a")])), "E_LOG_ENTRY");
    assert_eq!(code(signed(&[finish("a"), start("a")])), "E_LOG_NO_START");
    assert!(signed(&[start("a"), finish("a")]).is_ok());
}

#[test]
fn an_oversized_log_is_not_read() {
    let log = Log::new(&[]);
    assert_eq!(
        code(Audited::new(&vec![b'\n'; MAX_LOG + 1], &log.checkpoint(), &log.verifier(), None)),
        "E_FILE_TOO_BIG"
    );
}

#[test]
fn entries_that_many_add_at_once_are_all_there_and_whole() {
    let log = Log::new(&[]);
    thread::scope(|scope| {
        for writer in 0..4 {
            let log = &log;
            scope.spawn(move || {
                for number in 0..5 {
                    let run = format!("{writer}-{number}");
                    log.lock().and_then(|mut file| file.append(&start(&run))).expect("an entry");
                    log.lock().and_then(|mut file| file.append(&finish(&run))).expect("an entry");
                }
            });
        }
    });
    let audited = log.audit(None).expect("a log");
    assert_eq!(audited.checkpoint().size, 40);
    assert_eq!(audited.check_abandoned(Digest::of(b"subject"), "core 1.0", 0), Ok(()));
}

#[test]
fn what_cannot_follow_is_not_written() {
    let log = Log::new(&[start("a")]);
    let before = log.bytes();
    for entry in [start("a"), finish("b"), start(""), start("a b")] {
        let refused = log.lock().and_then(|mut file| file.append(&entry));
        assert!(matches!(refused, Err(LogFileError::Entry { .. })), "{entry:?}");
    }
    assert_eq!(log.bytes(), before);
}

#[test]
fn a_file_that_is_no_whole_log_is_not_added_to() {
    let log = Log::new(&[start("a")]);
    OpenOptions::new()
        .append(true)
        .open(log.path())
        .and_then(|mut file| file.write_all(b"{\"type\":"))
        .expect("a write");
    assert!(matches!(log.lock(), Err(LogFileError::Torn(_))));
    fs::write(log.path(), "{}\n").expect("a write");
    assert!(matches!(log.lock(), Err(LogFileError::Line { line: 1, .. })));
    fs::remove_file(log.path()).expect("the log");
    symlink("elsewhere", log.path()).expect("a link");
    assert!(matches!(log.lock(), Err(LogFileError::Io { what: "open", .. })));
}

#[test]
fn a_checkpoint_is_replaced_at_once_and_leaves_nothing_beside() {
    let log = Log::new(&[start("a")]);
    let path = log.directory.path().join("LOG.checkpoint");
    for _ in 0..2 {
        let file = log.lock().expect("the log");
        let note = file.checkpoint(ORIGIN, &log.key).expect("a checkpoint");
        file.write_checkpoint(&path, &note).expect("a write");
        assert_eq!(fs::read_to_string(&path).expect("the checkpoint"), note);
    }
    assert_eq!(fs::read_dir(log.directory.path()).expect("a list").count(), 2);
}

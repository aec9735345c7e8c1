//! The log's file, `LOG.jsonl`: lines are added to it under a lock, and to the disk; none is ever changed.

use std::{
    fs::File,
    io::{self, Read, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use nix::{
    fcntl::{Flock, FlockArg},
    libc,
};
use thiserror::Error;

use super::{
    checkpoint::{Checkpoint, CheckpointError},
    entry::{Entries, Entry, EntryError},
    merkle,
};
use crate::{
    files,
    signing::{digest::Digest, key::SigningKey},
};

/// Largest log in bytes: some 50,000 entries. A larger one belongs into tiles.
pub const MAX_LOG: usize = 16 << 20;

/// The log, which nobody else can add to as long as this exists.
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    file: Flock<File>,
    length: u64,
    leaves: Vec<Digest>,
    entries: Entries,
}

/// Why the log was not read or added to.
#[derive(Debug, Error)]
pub enum LogFileError {
    #[error("failed to {what} the log {path:?}: {source}")]
    Io { what: &'static str, path: PathBuf, source: io::Error },
    #[error("the log {0:?} is not a regular file")]
    NotRegular(PathBuf),
    #[error("the log {0:?} is larger than {MAX_LOG} bytes; begin a new one under another origin")]
    TooBig(PathBuf),
    #[error(
        "the last line of the log {0:?} has no end: a writer was interrupted; remove that line, which no checkpoint covers"
    )]
    Torn(PathBuf),
    #[error("line {line} of the log {path:?} cannot be there: {error}")]
    Line { path: PathBuf, line: usize, error: EntryError },
    #[error("the entry cannot follow in the log {path:?}: {error}")]
    Entry { path: PathBuf, error: EntryError },
    #[error("no checkpoint of the log {path:?} can be signed: {error}")]
    Checkpoint { path: PathBuf, error: CheckpointError },
}

impl LogFile {
    /// Opens the log, which is made where there is none, waits until nobody else has it, and reads it.
    pub fn lock(path: &Path) -> Result<Self, LogFileError> {
        let failed = |what| move |source| LogFileError::Io { what, path: path.to_owned(), source };
        let mut options = File::options();
        // Neither a link is followed nor a pipe waited for.
        options.read(true).append(true).create(true).mode(0o644).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let file = options.open(path).map_err(failed("open"))?;
        if !file.metadata().map_err(failed("look at"))?.is_file() {
            return Err(LogFileError::NotRegular(path.to_owned()));
        }
        let lock = Flock::lock(file, FlockArg::LockExclusive);
        let file = lock.map_err(|(_, errno)| failed("lock")(errno.into()))?;
        let mut bytes = vec![];
        (&*file).take(MAX_LOG as u64 + 1).read_to_end(&mut bytes).map_err(failed("read"))?;
        if bytes.len() > MAX_LOG {
            return Err(LogFileError::TooBig(path.to_owned()));
        }
        let lines = lines(&bytes).ok_or_else(|| LogFileError::Torn(path.to_owned()))?;
        let entries = Entries::parse(lines.iter().copied());
        let entries = entries.map_err(|(line, error)| LogFileError::Line { path: path.to_owned(), line, error })?;
        let leaves = lines.into_iter().map(merkle::leaf).collect();
        Ok(Self { path: path.to_owned(), file, length: bytes.len() as u64, leaves, entries })
    }

    /// Adds an entry, on the disk when this returns, and gives its index. Where it cannot be written whole, nothing is.
    pub fn append(&mut self, entry: &Entry) -> Result<usize, LogFileError> {
        let refused = |error| LogFileError::Entry { path: self.path.clone(), error };
        let line = entry.to_line().map_err(refused)?;
        self.entries.admits(entry).map_err(refused)?;
        let length = self.length + line.len() as u64 + 1;
        if length > MAX_LOG as u64 {
            return Err(LogFileError::TooBig(self.path.clone()));
        }
        let mut file = &*self.file;
        let written = file.write_all(format!("{line}\n").as_bytes()).and_then(|()| file.sync_all());
        if let Err(source) = written {
            // The lock is held: what stands behind the last whole line is of this call.
            let _ = file.set_len(self.length);
            return Err(LogFileError::Io { what: "add to", path: self.path.clone(), source });
        }
        // The name of a file that was just made.
        let directory = self.path.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let synced = File::open(directory).and_then(|directory| directory.sync_all());
        synced.map_err(|source| LogFileError::Io { what: "keep", path: self.path.clone(), source })?;
        self.length = length;
        self.leaves.push(merkle::leaf(&line));
        let path = self.path.clone();
        self.entries.push(entry.clone()).map_err(|error| LogFileError::Entry { path, error })?;
        Ok(self.leaves.len() - 1)
    }

    /// Signs what the log is now, under the name that stands for it.
    pub fn checkpoint(&self, origin: &str, key: &SigningKey) -> Result<String, LogFileError> {
        let checkpoint =
            Checkpoint { origin: origin.to_owned(), size: self.leaves.len() as u64, root: merkle::root(&self.leaves) };
        checkpoint.sign(key).map_err(|error| LogFileError::Checkpoint { path: self.path.clone(), error })
    }

    /// Replaces the file of the checkpoint by this one, at once.
    pub fn write_checkpoint(&self, path: &Path, note: &str) -> Result<(), LogFileError> {
        files::replace(path, note.as_bytes()).map_err(|source| LogFileError::Io {
            what: "write the checkpoint of",
            path: self.path.clone(),
            source,
        })
    }

    pub fn entries(&self) -> &Entries {
        &self.entries
    }
}

/// The lines, without their ends; nothing where the last has none.
pub(super) fn lines(bytes: &[u8]) -> Option<Vec<&[u8]>> {
    match bytes {
        [] => Some(vec![]),
        [whole @ .., b'\n'] => Some(whole.split(|byte| *byte == b'\n').collect()),
        _ => None,
    }
}

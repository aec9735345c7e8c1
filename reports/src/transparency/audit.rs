//! What a verifier asks of a log: that it is its owner's, that it continues what was seen before, and that it knows the
//! run at hand and no abandoned ones.

use thiserror::Error;

use super::{
    checkpoint::{Checkpoint, CheckpointError},
    entry::{Entries, EntryError, Start},
    file::{MAX_LOG, lines},
    merkle,
    note::NoteKey,
};
use crate::{signing::digest::Digest, verify::code::Code};

/// A log whose root is the signed one.
#[derive(Debug)]
pub struct Audited {
    entries: Entries,
    checkpoint: Checkpoint,
}

/// What a statement says of its run.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'c> {
    pub run: &'c str,
    pub subject: Digest,
    pub profile: &'c str,
    pub nonce_sha256: Digest,
    pub statement_sha256: Digest,
}

/// Why a log is refused, or does not say what a statement does.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AuditError {
    #[error("the log has {found} bytes, and {MAX_LOG} are read at most")]
    TooBig { found: usize },
    #[error("the log's checkpoint cannot be relied on: {0}")]
    Checkpoint(CheckpointError),
    #[error("the checkpoint that was remembered cannot be relied on: {0}")]
    Remembered(CheckpointError),
    #[error("the log has {found} entries, and its checkpoint speaks of {signed}")]
    Size { found: u64, signed: u64 },
    #[error("the log's entries do not have the root of its checkpoint, or its last line has no end")]
    Root,
    #[error("the log had {remembered} entries before and has {found} now")]
    Shorter { remembered: u64, found: u64 },
    #[error("the log's first {0} entries are not those that were seen before")]
    Rewritten(u64),
    #[error("line {line} of the log cannot be there: {error}")]
    Line { line: usize, error: EntryError },
    #[error("the log does not say that run {0} started")]
    NoStart(String),
    #[error("the log says that run {run} started with another {what}")]
    OtherStart { run: String, what: &'static str },
    #[error("the log does not say that run {0} finished")]
    NoFinish(String),
    #[error("the log says that run {0} finished with another statement")]
    OtherStatement(String),
    #[error("{found} runs of this subject and profile started and never finished, and the policy accepts {accepted}")]
    Abandoned { found: usize, accepted: usize },
}

impl AuditError {
    pub const fn code(&self) -> Code {
        match self {
            Self::TooBig { .. } => Code::FileTooBig,
            Self::Checkpoint(_) | Self::Remembered(_) => Code::LogSig,
            Self::Size { .. } | Self::Root => Code::LogRoot,
            Self::Shorter { .. } | Self::Rewritten(_) => Code::LogRollback,
            Self::Line { error: EntryError::NotStarted(_), .. } | Self::NoStart(_) | Self::OtherStart { .. } => {
                Code::LogNoStart
            }
            Self::Line { .. } => Code::LogEntry,
            Self::NoFinish(_) | Self::OtherStatement(_) => Code::LogNotIncluded,
            Self::Abandoned { .. } => Code::LogAbandonedRuns,
        }
    }
}

impl Audited {
    /// Accepts the bytes of `LOG.jsonl` under a checkpoint of the log's key. `remembered` is the last checkpoint of this
    /// log that the verifier accepted, where there is one.
    pub fn new(log: &[u8], checkpoint: &str, key: &NoteKey, remembered: Option<&str>) -> Result<Self, AuditError> {
        if log.len() > MAX_LOG {
            return Err(AuditError::TooBig { found: log.len() });
        }
        let checkpoint = Checkpoint::open(checkpoint, key).map_err(AuditError::Checkpoint)?;
        let lines = lines(log).ok_or(AuditError::Root)?;
        let found = lines.len() as u64;
        let leaves: Vec<_> = lines.iter().map(merkle::leaf).collect();
        if let Some(remembered) = remembered {
            let Checkpoint { size, root, .. } = Checkpoint::open(remembered, key).map_err(AuditError::Remembered)?;
            let before = usize::try_from(size).ok().and_then(|size| leaves.get(..size));
            match before.map(merkle::root) {
                None => return Err(AuditError::Shorter { remembered: size, found }),
                Some(again) if again != root => return Err(AuditError::Rewritten(size)),
                Some(_) => {}
            }
        }
        if found != checkpoint.size {
            return Err(AuditError::Size { found, signed: checkpoint.size });
        }
        if merkle::root(&leaves) != checkpoint.root {
            return Err(AuditError::Root);
        }
        let entries = Entries::parse(lines).map_err(|(line, error)| AuditError::Line { line, error })?;
        Ok(Self { entries, checkpoint })
    }

    /// Accepts a run that the log knows as the statement says it.
    pub fn check(&self, claim: &Claim<'_>) -> Result<(), AuditError> {
        let run = || claim.run.to_owned();
        let start = self.entries.run(claim.run).ok_or_else(|| AuditError::NoStart(run()))?;
        let same = [
            (start.subject == claim.subject, "subject"),
            (start.profile == claim.profile, "profile"),
            (start.nonce_sha256 == claim.nonce_sha256, "nonce"),
        ];
        if let Some((_, what)) = same.into_iter().find(|(same, _)| !same) {
            return Err(AuditError::OtherStart { run: run(), what });
        }
        match start.finished {
            None => Err(AuditError::NoFinish(run())),
            Some(statement) if statement != claim.statement_sha256 => Err(AuditError::OtherStatement(run())),
            Some(_) => Ok(()),
        }
    }

    /// Accepts at most so many runs of a subject and profile that never finished.
    pub fn check_abandoned(&self, subject: Digest, profile: &str, accepted: usize) -> Result<(), AuditError> {
        let found = self.entries.of(subject, profile).filter(|start| start.finished.is_none()).count();
        if found > accepted { Err(AuditError::Abandoned { found, accepted }) } else { Ok(()) }
    }

    /// All runs of a subject and profile: a reader may ask for the statements of those that are not shown.
    pub fn runs(&self, subject: Digest, profile: &str) -> impl Iterator<Item = &Start> {
        self.entries.of(subject, profile)
    }

    /// What to remember, with the note that it was read from.
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }
}

#[cfg(test)]
mod tests;

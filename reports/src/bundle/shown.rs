//! A bundle to look at: what it says, with nobody's word for it. Whoever relies on it verifies it.

use std::path::Path;

use super::{
    ATTESTATIONS, MATRIX, PAYLOAD, PREDICATE, RESULTS,
    read::{Bundle, MAX_FILE, ReadError},
};
use crate::{
    json,
    matrix::Matrix,
    mutants::Mutant,
    predicate::Predicate,
    results::Results,
    sanitise,
    signing::{digest::Digest, dsse::Envelope},
    verify::attestations::MAX_ATTESTATIONS,
};

/// What a bundle says; of a results document alone, only those.
#[derive(Clone, Debug)]
pub struct Shown {
    pub results: Results,
    /// Only where the run came to its end.
    pub predicate: Option<Predicate>,
    /// The mutants of its kill matrix.
    pub mutants: Option<Vec<Mutant>>,
    /// The payload of its statement, and the keys that claim to have signed it, unverified.
    pub signed: Option<(Digest, Vec<String>)>,
}

/// Why there is nothing to show.
#[derive(Debug, thiserror::Error)]
pub enum ShowError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("{path}: {source}")]
    Results { path: String, source: json::Error },
    #[error("{path}: {what}")]
    Malformed { path: String, what: String },
}

impl Shown {
    /// Reads a bundle's directory.
    pub fn open(path: &Path) -> Result<Self, ShowError> {
        let bundle = Bundle::open(path)?;
        let payload = |name: &str| bundle.inside(name, MAX_FILE);
        let results = results(&format!("{PAYLOAD}/{RESULTS}"), &payload(RESULTS)?)?;
        let predicate = there(bundle.beside(PREDICATE, MAX_FILE))?;
        let predicate = predicate
            .map(|bytes| serde_json::from_slice(&bytes).map_err(|error| malformed(PREDICATE, &error.to_string())));
        let mutants = there(payload(MATRIX))?.map(|bytes| {
            Matrix::read(&bytes).map(|matrix| matrix.mutants).map_err(|error| malformed(MATRIX, &error.to_string()))
        });
        let signed = there(bundle.beside(ATTESTATIONS, MAX_ATTESTATIONS))?.and_then(|bytes| {
            let first = bytes.split(|byte| *byte == b'\n').next()?;
            let envelope = Envelope::parse(first).ok()?;
            let keys = envelope.signatures().iter().map(|one| sanitise::text(&one.keyid, sanitise::NAME_LIMIT));
            Some((Digest::of(envelope.unverified_payload()), keys.collect()))
        });
        Ok(Self { results, predicate: predicate.transpose()?, mutants: mutants.transpose()?, signed })
    }
}

fn results(path: &str, bytes: &[u8]) -> Result<Results, ShowError> {
    let text = std::str::from_utf8(bytes).map_err(|error| malformed(path, &error.to_string()))?;
    json::read(text).map_err(|source| ShowError::Results { path: path.to_owned(), source })
}

fn there(read: Result<Vec<u8>, ReadError>) -> Result<Option<Vec<u8>>, ReadError> {
    match read {
        Ok(bytes) => Ok(Some(bytes)),
        Err(ReadError::Missing(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn malformed(path: &str, what: &str) -> ShowError {
    ShowError::Malformed { path: path.to_owned(), what: sanitise::text(what, sanitise::NAME_LIMIT) }
}

//! Why a manifest cannot be used.

use std::io;

use super::load::MAX_MANIFEST;

/// Why a manifest cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    #[error("there is no target {0}: `watertight list --targets` names those there are")]
    Unknown(String),
    #[error("cannot read the manifest {path}: {source}")]
    File { path: String, source: io::Error },
    #[error("the manifest {path}: a target that comes with the program is called {name}: give yours another name")]
    Taken { path: String, name: String },
    #[error("the manifest {path} has more than {MAX_MANIFEST} bytes")]
    Long { path: String },
    #[error("manifest {name}: variant {variant}: {problem}")]
    Variant { name: String, variant: String, problem: String },
    #[error("manifest {name} cannot be read: {source}")]
    Syntax { name: String, source: Box<toml::de::Error> },
    #[error("manifest {name}: its adapter: {problem}")]
    Adapter { name: String, problem: String },
    #[error("manifest {name}: cannot read the adapter's file {file}: {source}")]
    AdapterFile { name: String, file: String, source: io::Error },
    #[error("manifest {name}: `[launch]` says how it is started or `[adapter]` does, and only one of them")]
    Twofold { name: String },
    #[error("{name} has no {{probe}}, so nothing of ours would run in it")]
    NoProbe { name: String },
    #[error("manifest {name}: the word `{word}` has a placeholder that does not exist")]
    Placeholder { name: String, word: String },
    #[error("manifest {name}: the file `{file}` must have a relative path without `.` or `..`")]
    OwnFile { name: String, file: String },
    #[error("manifest {name}, route {route}: {problem}")]
    Route { name: String, route: &'static str, problem: &'static str },
    #[error("manifest {name}: known failure {requirement}: {problem}")]
    KnownFailure { name: String, requirement: String, problem: &'static str },
    #[error("manifest {name}: mutant {slug}: {problem}")]
    Mutant { name: String, slug: String, problem: String },
    #[error("manifest {name}: the words {words:?} do not stand in its argv")]
    Edit { name: String, words: Vec<String> },
}

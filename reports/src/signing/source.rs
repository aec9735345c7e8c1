//! Where the signing key comes from: the command line, else the environment.

use std::{env, ffi::OsString, io, path::PathBuf};

use thiserror::Error;
use zeroize::Zeroizing;

use super::{
    key::{KeyError, SigningKey},
    key_file::{self, KeyFileError},
    sys,
};

/// Names the key's file, where the command line does not.
pub const FILE_VARIABLE: &str = "WATERTIGHT_SIGNING_KEY_FILE";
/// Holds the key itself in PEM, where there is no file; only with permission.
pub const KEY_VARIABLE: &str = "WATERTIGHT_SIGNING_KEY";

/// Why there is no key to sign with.
#[derive(Debug, Error)]
pub enum SourceError {
    #[error("no signing key was named; give it with --key-file or in {FILE_VARIABLE}")]
    NotNamed,
    #[error(transparent)]
    File(#[from] KeyFileError),
    #[error(
        "{KEY_VARIABLE} holds a key, and every process of this user can read the environment; put the key in a file of mode 0600, or say --allow-env-key"
    )]
    NotAllowed,
    #[error("the key in {KEY_VARIABLE} cannot be used: {0}")]
    Variable(KeyError),
    #[error("{KEY_VARIABLE} cannot be taken out of the environment: {0}")]
    Environment(io::Error),
}

/// What was said about the key, first to last.
pub struct Sources {
    /// `--key-file`.
    pub key_file: Option<PathBuf>,
    /// Value of [`FILE_VARIABLE`].
    pub file_variable: Option<OsString>,
    /// Value of [`KEY_VARIABLE`].
    pub key_variable: Option<Zeroizing<Vec<u8>>>,
    /// Whether the key may come from the environment: `--allow-env-key`.
    pub allow_key_variable: bool,
}

impl Sources {
    /// Looks at the environment, and takes [`KEY_VARIABLE`] out of it whether or not it will be used. To be called before
    /// any thread or child is started.
    pub fn take(key_file: Option<PathBuf>, allow_key_variable: bool) -> Result<Self, SourceError> {
        let key_variable = match env::var_os(KEY_VARIABLE) {
            Some(_) => sys::take_variable(KEY_VARIABLE).map_err(SourceError::Environment)?,
            None => None,
        };
        Ok(Self { key_file, file_variable: env::var_os(FILE_VARIABLE), key_variable, allow_key_variable })
    }

    /// Reads the key from the first source that was named. One that was named and is empty is refused, not passed over.
    pub fn load(self) -> Result<SigningKey, SourceError> {
        if let Some(path) = self.key_file.or(self.file_variable.map(PathBuf::from)) {
            return Ok(key_file::load(&path)?);
        }
        match self.key_variable {
            None => Err(SourceError::NotNamed),
            Some(_) if !self.allow_key_variable => Err(SourceError::NotAllowed),
            Some(pem) => {
                let text = str::from_utf8(&pem).map_err(|_| SourceError::Variable(KeyError::Pem))?;
                SigningKey::from_pem(text).map_err(SourceError::Variable)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// A directory with the keys `a` and `b`, and the PEM of a third.
    struct Keys {
        directory: tempfile::TempDir,
        pem: Zeroizing<String>,
    }

    impl Keys {
        fn new() -> Self {
            let directory = tempfile::tempdir().expect("a directory");
            for name in ["a", "b"] {
                key_file::create(&directory.path().join(name), "").expect("a key");
            }
            let pem = SigningKey::generate().and_then(|key| key.to_pem()).expect("a key");
            Self { directory, pem }
        }

        fn file(&self, name: &str) -> PathBuf {
            self.directory.path().join(name)
        }

        fn sources(&self) -> Sources {
            Sources {
                key_file: Some(self.file("a")),
                file_variable: Some(self.file("b").into()),
                key_variable: Some(Zeroizing::new(self.pem.as_bytes().to_vec())),
                allow_key_variable: true,
            }
        }
    }

    fn same(key: Result<SigningKey, SourceError>, path: &Path) -> bool {
        key.expect("a key").public() == key_file::load(path).expect("a key").public()
    }

    #[test]
    fn the_command_line_comes_first_then_the_named_file_then_the_variable() {
        let keys = Keys::new();
        assert!(same(keys.sources().load(), &keys.file("a")));
        assert!(same(Sources { key_file: None, ..keys.sources() }.load(), &keys.file("b")));
        let key = Sources { key_file: None, file_variable: None, ..keys.sources() }.load().expect("a key");
        assert_eq!(key.public(), SigningKey::from_pem(&keys.pem).expect("a key").public());
    }

    #[test]
    fn a_key_in_the_environment_needs_permission() {
        let keys = Keys::new();
        let sources = Sources { key_file: None, file_variable: None, allow_key_variable: false, ..keys.sources() };
        assert!(matches!(sources.load(), Err(SourceError::NotAllowed)));
    }

    #[test]
    fn a_source_that_was_named_and_fails_is_not_passed_over() {
        let keys = Keys::new();
        let missing = Sources { key_file: Some(keys.file("missing")), ..keys.sources() };
        assert!(matches!(missing.load(), Err(SourceError::File(_))));
        let empty = Sources { key_file: None, file_variable: Some("".into()), ..keys.sources() };
        assert!(matches!(empty.load(), Err(SourceError::File(_))));
    }

    #[test]
    fn no_source_is_said_to_be_none() {
        let none = Sources { key_file: None, file_variable: None, key_variable: None, allow_key_variable: true };
        assert!(matches!(none.load(), Err(SourceError::NotNamed)));
    }

    #[test]
    fn an_error_shows_nothing_of_the_key() {
        let keys = Keys::new();
        let broken = keys.pem.replacen('M', "!", 1);
        let sources = Sources {
            key_file: None,
            file_variable: None,
            key_variable: Some(Zeroizing::new(broken.into_bytes())),
            allow_key_variable: true,
        };
        let error = sources.load().expect_err("a refusal");
        let shown = format!("{error} {error:?}");
        let body = keys.pem.lines().nth(1).expect("a body");
        assert!(!shown.contains(&body[20..]), "{shown}");
    }
}

//! The file with the provider's real key: opened before identities change, read when the sandbox has a memory of its own.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::error::LaunchError;
use super::spec::Secret;

const LONGEST: u64 = 64 * 1024;

/// An open key file and its real path.
#[derive(Debug)]
pub(crate) struct KeyFile {
    path: PathBuf,
    file: File,
}

impl KeyFile {
    /// Opens the file, which must be a regular one with one name that only its owner can read.
    pub(crate) fn open(given: &Path) -> Result<Self, LaunchError> {
        let refuse = |reason: String| LaunchError::KeyFile { path: given.to_owned(), reason };
        if given.as_os_str().is_empty() {
            return Err(refuse("none was named; give it with --provider-key-file".into()));
        }
        let path = given.canonicalize().map_err(|error| refuse(error.to_string()))?;
        let mut options = File::options();
        // Neither a link put there meanwhile is followed nor a pipe waited for.
        options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let file = options.open(&path).map_err(|error| refuse(error.to_string()))?;
        let metadata = file.metadata().map_err(|error| refuse(error.to_string()))?;
        if !metadata.is_file() {
            return Err(refuse("it is not a regular file".into()));
        }
        if metadata.mode() & 0o077 != 0 {
            return Err(refuse(format!("others can open it (mode {:04o}); chmod 600 it", metadata.mode() & 0o7777)));
        }
        if metadata.nlink() != 1 {
            return Err(refuse("it has another name, which would stay visible; copy it to a file of its own".into()));
        }
        if metadata.len() == 0 || metadata.len() > LONGEST {
            return Err(refuse(format!("its length is {} bytes; a key has 1 to {LONGEST}", metadata.len())));
        }
        Ok(Self { path, file })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the key, without surrounding white space.
    pub(crate) fn read(&self) -> Result<Secret, LaunchError> {
        let refuse = |reason: String| LaunchError::KeyFile { path: self.path.clone(), reason };
        let mut text = String::new();
        (&self.file).take(LONGEST).read_to_string(&mut text).map_err(|error| refuse(error.to_string()))?;
        let key = text.trim();
        if key.is_empty() || key.contains(|c: char| c.is_control()) {
            return Err(refuse("it does not hold one line with a key".into()));
        }
        Ok(Secret::new(key.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, hard_link, set_permissions, write};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn file(content: &str, mode: u32) -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("key");
        write(&path, content).expect("written");
        set_permissions(&path, Permissions::from_mode(mode)).expect("mode set");
        (directory, path)
    }

    #[test]
    fn a_key_is_read_without_white_space() {
        let (_directory, path) = file("  sk-real \n", 0o600);
        assert_eq!(KeyFile::open(&path).expect("opens").read().expect("reads").expose(), "sk-real");
    }

    #[test]
    fn a_key_that_others_can_read_is_refused() {
        let (_directory, path) = file("sk-real", 0o640);
        assert!(KeyFile::open(&path).expect_err("refused").to_string().contains("chmod 600"));
    }

    #[test]
    fn a_key_with_a_second_name_is_refused() {
        let (directory, path) = file("sk-real", 0o600);
        hard_link(&path, directory.path().join("alias")).expect("linked");
        assert!(KeyFile::open(&path).expect_err("refused").to_string().contains("another name"));
    }

    #[test]
    fn an_empty_or_missing_key_is_refused() {
        let (directory, path) = file("", 0o600);
        KeyFile::open(&path).expect_err("empty");
        KeyFile::open(&directory.path().join("none")).expect_err("missing");
        KeyFile::open(Path::new("")).expect_err("not named");
        let (_directory, path) = file("\n \n", 0o600);
        KeyFile::open(&path).expect("opens").read().expect_err("blank");
    }
}

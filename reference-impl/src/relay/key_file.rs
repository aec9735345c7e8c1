//! The provider's real key: read once, from a file that only its owner can read and that no workload is given.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use thiserror::Error;
use zeroize::Zeroizing;

/// More than any provider's key; what is longer is another file.
const MAX_KEY: u64 = 4096;

/// Why a key file was not accepted. None of the texts holds a byte of the file.
#[derive(Debug, Error)]
pub enum KeyFileError {
    #[error("key file {0}: the path must be absolute")]
    Relative(PathBuf),
    #[error("key file {0}: it is a symbolic link; name the file itself")]
    Symlink(PathBuf),
    #[error("key file {0}: it is not a regular file")]
    NotRegular(PathBuf),
    #[error("key file {path}: its mode is {mode:04o}; run chmod 600 on it")]
    Mode { path: PathBuf, mode: u32 },
    #[error("key file {path}: it belongs to uid {owner}, not to you or root; run chown on it")]
    Owner { path: PathBuf, owner: u32 },
    #[error("key file {path}: it lies in {directory}, which the workload is given; move it out")]
    GivenToWorkload { path: PathBuf, directory: PathBuf },
    #[error("key file {0}: it was replaced while it was being read; try again")]
    Replaced(PathBuf),
    #[error("key file {0}: it is empty")]
    Empty(PathBuf),
    #[error("key file {0}: it is larger than {MAX_KEY} bytes, so it is no key")]
    TooLarge(PathBuf),
    #[error("key file {0}: it holds something other than printable ASCII")]
    Characters(PathBuf),
    #[error("key file {path}: failed to {what}: {source}")]
    Io { path: PathBuf, what: &'static str, source: io::Error },
}

/// The provider's key. Wiped on drop, absent from `Debug`.
#[derive(Clone)]
pub struct Key(Zeroizing<String>);

impl Key {
    /// Reads the key from `path`. `given` are the directories that the workload can read: the workspace and the like.
    pub fn read(path: &Path, given: &[&Path]) -> Result<Self, KeyFileError> {
        if !path.is_absolute() {
            return Err(KeyFileError::Relative(path.to_owned()));
        }
        let io = |what| move |source| KeyFileError::Io { path: path.to_owned(), what, source };
        let named = fs::symlink_metadata(path).map_err(io("look at it"))?;
        check(path, &named)?;
        refuse_given(path, given)?;
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC)
            .open(path)
            .map_err(io("open it"))?;
        let opened = file.metadata().map_err(io("look at what was opened"))?;
        check(path, &opened)?;
        if (named.dev(), named.ino()) != (opened.dev(), opened.ino()) {
            return Err(KeyFileError::Replaced(path.to_owned()));
        }
        Self::from_file(path, file)
    }

    /// The key itself, for the one header that carries it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    fn from_file(path: &Path, file: File) -> Result<Self, KeyFileError> {
        // Reserved in full, so that no copy is left behind where the buffer would have grown.
        let mut bytes = Zeroizing::new(Vec::with_capacity(MAX_KEY as usize + 2));
        file.take(MAX_KEY + 1).read_to_end(&mut bytes).map_err(|source| KeyFileError::Io {
            path: path.to_owned(),
            what: "read it",
            source,
        })?;
        if bytes.len() as u64 > MAX_KEY {
            return Err(KeyFileError::TooLarge(path.to_owned()));
        }
        let key = str::from_utf8(&bytes).map_err(|_| KeyFileError::Characters(path.to_owned()))?.trim();
        if key.is_empty() {
            return Err(KeyFileError::Empty(path.to_owned()));
        }
        if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(KeyFileError::Characters(path.to_owned()));
        }
        Ok(Self(Zeroizing::new(key.to_owned())))
    }
}

impl From<crate::launch::Secret> for Key {
    fn from(secret: crate::launch::Secret) -> Self {
        Self(Zeroizing::new(secret.expose().to_owned()))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(hidden)")
    }
}

fn check(path: &Path, metadata: &fs::Metadata) -> Result<(), KeyFileError> {
    if metadata.file_type().is_symlink() {
        return Err(KeyFileError::Symlink(path.to_owned()));
    }
    if !metadata.is_file() {
        return Err(KeyFileError::NotRegular(path.to_owned()));
    }
    let mode = metadata.mode() & 0o7777;
    if mode & !0o600 != 0 {
        return Err(KeyFileError::Mode { path: path.to_owned(), mode });
    }
    let owner = metadata.uid();
    if owner != 0 && owner != nix::unistd::geteuid().as_raw() {
        return Err(KeyFileError::Owner { path: path.to_owned(), owner });
    }
    Ok(())
}

/// By device and inode, so that neither a symbolic link in the path nor a second name of a directory hides it.
fn refuse_given(path: &Path, given: &[&Path]) -> Result<(), KeyFileError> {
    let io = |path: &Path, what| {
        let path = path.to_owned();
        move |source| KeyFileError::Io { path, what, source }
    };
    let real = fs::canonicalize(path).map_err(io(path, "resolve it"))?;
    for directory in given {
        let id = identity(directory).map_err(io(directory, "look at a directory of the workload"))?;
        for ancestor in real.ancestors().skip(1) {
            if identity(ancestor).map_err(io(ancestor, "look at a directory above the key"))? == id {
                return Err(KeyFileError::GivenToWorkload {
                    path: path.to_owned(),
                    directory: directory.to_path_buf(),
                });
            }
        }
    }
    Ok(())
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    fs::metadata(path).map(|metadata| (metadata.dev(), metadata.ino()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    struct Fixture {
        directory: tempfile::TempDir,
        path: PathBuf,
    }

    fn key_file(content: &[u8], mode: u32) -> Fixture {
        let directory = tempfile::tempdir().expect("directory");
        let path = directory.path().join("key");
        fs::write(&path, content).expect("write");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("chmod");
        Fixture { directory, path }
    }

    fn error(path: &Path, given: &[&Path]) -> String {
        Key::read(path, given).expect_err("refused").to_string()
    }

    #[test]
    fn a_private_regular_file_gives_its_trimmed_key() {
        for (content, mode) in [("sk-1\n", 0o600), ("  sk-1 \r\n", 0o400)] {
            let fixture = key_file(content.as_bytes(), mode);
            assert_eq!(Key::read(&fixture.path, &[]).expect("key").expose(), "sk-1");
        }
    }

    #[test]
    fn a_key_is_neither_in_its_debug_text_nor_in_an_error() {
        let fixture = key_file(b"sk-very secret", 0o600);
        assert!(!error(&fixture.path, &[]).contains("secret"));
        let fixture = key_file(b"sk-secret", 0o600);
        assert!(!format!("{:?}", Key::read(&fixture.path, &[]).expect("key")).contains("secret"));
    }

    #[test]
    fn every_mode_bit_beyond_owner_read_and_write_is_refused() {
        for bit in [0o100, 0o040, 0o020, 0o010, 0o004, 0o002, 0o001, 0o4000, 0o2000, 0o1000] {
            let fixture = key_file(b"sk", 0o600 | bit);
            assert!(error(&fixture.path, &[]).contains("chmod 600"), "{bit:o}");
        }
    }

    #[test]
    fn a_relative_path_a_link_a_directory_and_a_fifo_are_refused() {
        assert!(error(Path::new("key"), &[]).contains("absolute"));
        let fixture = key_file(b"sk", 0o600);
        let link = fixture.directory.path().join("link");
        symlink(&fixture.path, &link).expect("link");
        assert!(error(&link, &[]).contains("symbolic link"));
        assert!(error(fixture.directory.path(), &[]).contains("not a regular file"));
        let fifo = fixture.directory.path().join("fifo");
        nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRUSR).expect("fifo");
        assert!(error(&fifo, &[]).contains("not a regular file"));
        assert!(error(&fixture.directory.path().join("absent"), &[]).contains("failed to look at it"));
    }

    #[test]
    fn another_owner_is_refused() {
        if !nix::unistd::geteuid().is_root() {
            let shadow = Path::new("/proc/sys/kernel/hostname");
            assert!(Key::read(shadow, &[]).is_err(), "root's file with mode 0644");
            return;
        }
        let fixture = key_file(b"sk", 0o600);
        std::os::unix::fs::chown(&fixture.path, Some(4242), None).expect("chown");
        assert!(error(&fixture.path, &[]).contains("uid 4242"));
    }

    #[test]
    fn a_key_below_a_directory_of_the_workload_is_refused_by_every_name() {
        let fixture = key_file(b"sk", 0o600);
        let root = fixture.directory.path();
        let other = tempfile::tempdir().expect("directory");
        let alias = other.path().join("alias");
        symlink(root, &alias).expect("link");
        for given in [root, alias.as_path(), Path::new("/")] {
            assert!(error(&fixture.path, &[given]).contains("workload is given"), "{given:?}");
        }
        assert!(error(&alias.join("key"), &[root]).contains("workload is given"));
        assert!(Key::read(&fixture.path, &[other.path()]).is_ok());
    }

    #[test]
    fn empty_large_and_unprintable_content_is_refused() {
        for (content, text) in [
            (b"".to_vec(), "empty"),
            (b" \n".to_vec(), "empty"),
            (b"sk\nsk".to_vec(), "printable"),
            (b"sk\0".to_vec(), "printable"),
            (b"sk\x7f".to_vec(), "printable"),
            ("sk\u{e9}".into(), "printable"),
            (vec![0xff], "printable"),
            (vec![b'k'; 4097], "larger"),
        ] {
            let fixture = key_file(&content, 0o600);
            assert!(error(&fixture.path, &[]).contains(text), "{text}");
        }
    }
}

//! The file with the provider's real key: opened before identities change, read when the launcher says so, and never
//! where a workload could meet it.

use std::fmt;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use thiserror::Error;
use zeroize::Zeroizing;

/// More than any provider's key; what is longer is another file.
const MAX_KEY: u64 = 4096;

/// Why a key file was not accepted. The text holds no byte of the file.
#[derive(Debug, Error)]
#[error("the provider key file {path:?} cannot be used: {flaw}")]
pub struct KeyFileError {
    pub path: PathBuf,
    pub flaw: Flaw,
}

/// What is wrong with a key file, and what to do about it.
#[derive(Debug, Error)]
pub enum Flaw {
    #[error("none was named; give it with --provider-key-file")]
    NotNamed,
    #[error("it is a symbolic link; name the file itself")]
    Symlink,
    #[error("it is not a regular file")]
    NotRegular,
    #[error("its mode is {0:04o}; run chmod 600 on it")]
    Mode(u32),
    #[error("it belongs to uid {0}, neither to the launching user nor to root; run chown on it")]
    Owner(u32),
    #[error("it has another name, which would stay visible; copy it to a file of its own")]
    SecondName,
    #[error("it lies in {0:?}, which the command is given; keep it elsewhere")]
    GivenToCommand(PathBuf),
    #[error("it was replaced while it was being opened; try again")]
    Replaced,
    #[error("it is empty")]
    Empty,
    #[error("it is larger than {MAX_KEY} bytes, so it is no key")]
    TooLarge,
    #[error("it holds something other than one line of printable ASCII")]
    Characters,
    #[error("failed to {what}: {source}")]
    Io { what: &'static str, source: io::Error },
}

/// Whose key file may be used, beside root's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    Uid(u32),
    /// Root launches for itself and may use everybody's.
    Anyone,
}

impl Owner {
    /// The one that a launch for this uid asks for.
    pub fn of(uid: u32) -> Self {
        if uid == 0 { Self::Anyone } else { Self::Uid(uid) }
    }
}

/// An open key file.
#[derive(Debug)]
pub struct KeyFile {
    path: PathBuf,
    file: File,
    /// Device and inode of the file and of every directory above it.
    lineage: Vec<(u64, u64)>,
}

/// The provider's key. Wiped on drop, absent from `Debug`.
#[derive(Clone)]
pub struct Key(Zeroizing<String>);

impl KeyFile {
    /// Opens a regular file with one name and a mode of 0600 or less.
    pub fn open(given: &Path, owner: Owner) -> Result<Self, KeyFileError> {
        Self::examine(given, owner).map_err(|flaw| KeyFileError { path: given.to_owned(), flaw })
    }

    fn examine(given: &Path, owner: Owner) -> Result<Self, Flaw> {
        if given.as_os_str().is_empty() {
            return Err(Flaw::NotNamed);
        }
        let mut options = File::options();
        // Neither a link is followed nor a pipe waited for.
        options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let file = options.open(given).map_err(|error| match error.raw_os_error() {
            Some(libc::ELOOP) => Flaw::Symlink,
            _ => Flaw::Io { what: "open it", source: error },
        })?;
        let metadata = file.metadata().map_err(|source| Flaw::Io { what: "look at it", source })?;
        check(&metadata, owner)?;
        let path = given.canonicalize().map_err(|source| Flaw::Io { what: "resolve its path", source })?;
        let lineage = lineage(&path).map_err(|source| Flaw::Io { what: "look at the directories above it", source })?;
        if lineage.first() != Some(&identity(&metadata)) {
            return Err(Flaw::Replaced);
        }
        Ok(Self { path, file, lineage })
    }

    /// Its real path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Refuses a place that is, or lies below, one of these paths: by device and inode, so that neither a symbolic link
    /// nor a second mount of a directory hides it.
    pub fn refuse_below<'a>(&self, given: impl IntoIterator<Item = &'a Path>) -> Result<(), KeyFileError> {
        for place in given {
            let metadata = fs::metadata(place)
                .map_err(|source| self.flawed(Flaw::Io { what: "look at what the command is given", source }))?;
            if self.lineage.contains(&identity(&metadata)) {
                return Err(self.flawed(Flaw::GivenToCommand(place.to_owned())));
            }
        }
        Ok(())
    }

    /// Reads the key, without surrounding white space.
    pub fn read(&self) -> Result<Key, KeyFileError> {
        self.content().map_err(|flaw| self.flawed(flaw))
    }

    fn content(&self) -> Result<Key, Flaw> {
        // Reserved in full, so that no copy is left behind where the buffer would have grown.
        let mut bytes = Zeroizing::new(Vec::with_capacity(MAX_KEY as usize + 2));
        let read = (&self.file).take(MAX_KEY + 1).read_to_end(&mut bytes);
        read.map_err(|source| Flaw::Io { what: "read it", source })?;
        if bytes.len() as u64 > MAX_KEY {
            return Err(Flaw::TooLarge);
        }
        let key = str::from_utf8(&bytes).map_err(|_| Flaw::Characters)?.trim();
        if key.is_empty() {
            return Err(Flaw::Empty);
        }
        if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Flaw::Characters);
        }
        Ok(Key(Zeroizing::new(key.to_owned())))
    }

    fn flawed(&self, flaw: Flaw) -> KeyFileError {
        KeyFileError { path: self.path.clone(), flaw }
    }
}

impl Key {
    /// The key itself, for the one header that carries it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(hidden)")
    }
}

fn check(metadata: &Metadata, owner: Owner) -> Result<(), Flaw> {
    if !metadata.is_file() {
        return Err(Flaw::NotRegular);
    }
    let mode = metadata.mode() & 0o7777;
    if mode & !0o600 != 0 {
        return Err(Flaw::Mode(mode));
    }
    if metadata.uid() != 0 && owner != Owner::Anyone && owner != Owner::Uid(metadata.uid()) {
        return Err(Flaw::Owner(metadata.uid()));
    }
    if metadata.nlink() != 1 {
        return Err(Flaw::SecondName);
    }
    Ok(())
}

fn lineage(path: &Path) -> io::Result<Vec<(u64, u64)>> {
    path.ancestors().map(|place| fs::symlink_metadata(place).map(|metadata| identity(&metadata))).collect()
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    use super::*;

    struct Fixture {
        directory: tempfile::TempDir,
        path: PathBuf,
    }

    fn own() -> Owner {
        Owner::Uid(nix::unistd::geteuid().as_raw())
    }

    fn key_file(content: &[u8], mode: u32) -> Fixture {
        let directory = tempfile::tempdir().expect("directory");
        let path = directory.path().join("key");
        fs::write(&path, content).expect("write");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("chmod");
        Fixture { directory, path }
    }

    fn read(path: &Path) -> Result<Key, KeyFileError> {
        KeyFile::open(path, own())?.read()
    }

    fn error(path: &Path) -> String {
        read(path).expect_err("refused").to_string()
    }

    #[test]
    fn a_private_regular_file_gives_its_trimmed_key() {
        for (content, mode) in [("sk-1\n", 0o600), ("  sk-1 \r\n", 0o400)] {
            let fixture = key_file(content.as_bytes(), mode);
            assert_eq!(read(&fixture.path).expect("key").expose(), "sk-1");
        }
    }

    #[test]
    fn a_key_is_neither_in_its_debug_text_nor_in_an_error() {
        let fixture = key_file(b"sk-very secret", 0o600);
        assert!(!error(&fixture.path).contains("secret"));
        let fixture = key_file(b"sk-secret", 0o600);
        assert!(!format!("{:?}", read(&fixture.path).expect("key")).contains("secret"));
    }

    #[test]
    fn every_mode_bit_beyond_owner_read_and_write_is_refused() {
        for bit in [0o100, 0o040, 0o020, 0o010, 0o004, 0o002, 0o001, 0o4000, 0o2000, 0o1000] {
            let fixture = key_file(b"sk", 0o600 | bit);
            assert!(error(&fixture.path).contains("chmod 600"), "{bit:o}");
        }
    }

    #[test]
    fn what_is_not_one_regular_file_of_one_name_is_refused() {
        assert!(error(Path::new("")).contains("--provider-key-file"));
        let fixture = key_file(b"sk", 0o600);
        let beside = |name: &str| fixture.directory.path().join(name);
        symlink(&fixture.path, beside("link")).expect("link");
        assert!(error(&beside("link")).contains("symbolic link"));
        assert!(error(fixture.directory.path()).contains("not a regular file"));
        nix::unistd::mkfifo(&beside("fifo"), nix::sys::stat::Mode::S_IRUSR).expect("fifo");
        assert!(error(&beside("fifo")).contains("not a regular file"));
        assert!(error(&beside("absent")).contains("failed to open it"));
        fs::hard_link(&fixture.path, beside("alias")).expect("linked");
        assert!(error(&fixture.path).contains("another name"));
    }

    #[test]
    fn another_owner_is_refused() {
        let fixture = key_file(b"sk", 0o600);
        if nix::unistd::geteuid().is_root() {
            chown(&fixture.path, Some(4242), None).expect("chown");
            assert!(error(&fixture.path).contains("uid 4242"));
            KeyFile::open(&fixture.path, Owner::Uid(4242)).expect("whom root becomes");
            KeyFile::open(&fixture.path, Owner::Anyone).expect("root for itself");
        } else {
            let refused = KeyFile::open(&fixture.path, Owner::Uid(4242)).expect_err("refused");
            assert!(matches!(refused.flaw, Flaw::Owner(_)), "{refused}");
        }
    }

    #[test]
    fn a_key_in_what_the_command_is_given_is_refused_by_every_name() {
        let fixture = key_file(b"sk", 0o600);
        let (root, other) = (fixture.directory.path(), tempfile::tempdir().expect("directory"));
        let alias = other.path().join("alias");
        symlink(root, &alias).expect("link");
        for path in [fixture.path.as_path(), &alias.join("key")] {
            let key = KeyFile::open(path, own()).expect("opens");
            for given in [root, alias.as_path(), Path::new("/"), &fixture.path] {
                let text = key.refuse_below([other.path(), given]).expect_err("refused").to_string();
                assert!(text.contains("keep it elsewhere"), "{given:?}: {text}");
            }
            key.refuse_below([other.path()]).expect("apart");
        }
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
            assert!(error(&fixture.path).contains(text), "{text}");
        }
    }
}

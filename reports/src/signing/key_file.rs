//! Files of keys: made once and never overwritten, read only where nobody else could have read them.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use nix::{libc, unistd::geteuid};
use thiserror::Error;
use zeroize::Zeroizing;

use super::{
    key::{KeyError, SigningKey},
    sshsig,
};

/// More than any key of this kind; what is longer is another file.
const MAX_KEY: u64 = 4096;

/// Why a key's file was not read or written. The text holds no byte of the file.
#[derive(Debug, Error)]
#[error("the signing key {path:?} cannot be {used}: {flaw}")]
pub struct KeyFileError {
    pub path: PathBuf,
    used: &'static str,
    #[source]
    pub flaw: Flaw,
}

/// What is wrong with a key's file, and what to do about it.
#[derive(Debug, Error)]
pub enum Flaw {
    #[error("it is a symbolic link; name the file itself")]
    Symlink,
    #[error("it is not a regular file")]
    NotRegular,
    #[error("its mode is {0:04o}; run chmod 600 on it")]
    Mode(u32),
    #[error("it belongs to uid {found}, and uid {caller} would sign; sign as its owner")]
    Owner { found: u32, caller: u32 },
    #[error("it has a second name (hard link); copy it to a file of its own")]
    SecondName,
    #[error("it is larger than {MAX_KEY} bytes, so it is no key")]
    TooBig,
    #[error("it is not text")]
    NotText,
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error("there is such a file already; a key is never overwritten")]
    Exists,
    #[error("a comment is one line of at most 200 printable characters")]
    Comment,
    #[error("failed to {what}: {source}")]
    Io { what: &'static str, source: io::Error },
}

/// The three files of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFiles {
    /// PKCS#8 in PEM, for its owner alone.
    pub private: PathBuf,
    /// SPKI in PEM: `KEY.pub`.
    pub public: PathBuf,
    /// The line for `authorized_keys` and `allowed_signers` of SSH: `KEY.ssh.pub`.
    pub ssh: PathBuf,
}

impl KeyFiles {
    /// Where the files of the key at this path are.
    pub fn of(private: &Path) -> Self {
        let beside = |suffix| {
            let mut path = private.as_os_str().to_owned();
            path.push(suffix);
            PathBuf::from(path)
        };
        Self { private: private.to_owned(), public: beside(".pub"), ssh: beside(".ssh.pub") }
    }
}

/// Makes a key and writes it: to `path` with mode 0600, and its public half beside it. Where any of the files exists
/// or cannot be written, none is left. The comment stands at the end of the line for SSH.
pub fn create(path: &Path, comment: &str) -> Result<(SigningKey, KeyFiles), KeyFileError> {
    let flawed = |path: &Path, flaw| KeyFileError { path: path.to_owned(), used: "written", flaw };
    if comment.chars().count() > 200 || comment.chars().any(char::is_control) {
        return Err(flawed(path, Flaw::Comment));
    }
    let key = SigningKey::generate().map_err(|error| flawed(path, error.into()))?;
    let pem = key.to_pem().map_err(|error| flawed(path, error.into()))?;
    let line =
        sshsig::public_line(key.public(), comment).map_err(|error| flawed(path, KeyError::from(error).into()))?;
    let files = KeyFiles::of(path);
    let wanted = [
        (&files.private, 0o600, pem.as_str()),
        (&files.public, 0o644, &key.public().to_pem()),
        (&files.ssh, 0o644, &line),
    ];
    for (done, (path, mode, text)) in wanted.iter().enumerate() {
        if let Err(flaw) = write_new(path, *mode, text) {
            for (path, ..) in &wanted[..done] {
                // It is ours and of no use; what went wrong before is what the user must hear of.
                let _ = fs::remove_file(path);
            }
            return Err(flawed(path, flaw));
        }
    }
    Ok((key, files))
}

/// Reads a key from a regular file with one name that belongs to the caller and that nobody else can read.
pub fn load(path: &Path) -> Result<SigningKey, KeyFileError> {
    let key = || Ok(SigningKey::from_pem(&read(path)?)?);
    key().map_err(|flaw| KeyFileError { path: path.to_owned(), used: "used", flaw })
}

fn read(path: &Path) -> Result<Zeroizing<String>, Flaw> {
    let mut options = File::options();
    // Neither a link is followed nor a pipe waited for.
    options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let mut file = options.open(path).map_err(|error| match error.raw_os_error() {
        Some(libc::ELOOP) => Flaw::Symlink,
        // A socket.
        Some(libc::ENXIO) => Flaw::NotRegular,
        _ => Flaw::Io { what: "open it", source: error },
    })?;
    // Of what was opened, so that no rename comes between.
    let metadata = file.metadata().map_err(|source| Flaw::Io { what: "look at it", source })?;
    if !metadata.is_file() {
        return Err(Flaw::NotRegular);
    }
    let (found, caller) = (metadata.uid(), geteuid().as_raw());
    if found != caller {
        return Err(Flaw::Owner { found, caller });
    }
    let mode = metadata.mode() & 0o7777;
    if mode & 0o077 != 0 {
        return Err(Flaw::Mode(mode));
    }
    if metadata.nlink() != 1 {
        return Err(Flaw::SecondName);
    }
    // Reserved in full, so that no copy is left behind where the buffer would have grown.
    let mut bytes = Zeroizing::new(Vec::with_capacity(MAX_KEY as usize + 2));
    let mut limited = (&mut file).take(MAX_KEY + 1);
    limited.read_to_end(&mut bytes).map_err(|source| Flaw::Io { what: "read it", source })?;
    if bytes.len() as u64 > MAX_KEY {
        return Err(Flaw::TooBig);
    }
    let text = str::from_utf8(&bytes).map_err(|_| Flaw::NotText)?;
    Ok(Zeroizing::new(text.to_owned()))
}

/// Writes a file that was not there, to the disk. Where that fails none is left.
fn write_new(path: &Path, mode: u32, text: &str) -> Result<(), Flaw> {
    let mut options = OpenOptions::new();
    // O_EXCL: neither a file nor a link, dangling or not, is written through.
    let mut file =
        options.write(true).create_new(true).mode(mode).open(path).map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => Flaw::Exists,
            _ => Flaw::Io { what: "make it", source },
        })?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(|source| {
        let _ = fs::remove_file(path);
        Flaw::Io { what: "write it", source }
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::{
        fs::{PermissionsExt, chown, symlink},
        net::UnixListener,
    };

    use nix::{sys::stat::Mode, unistd::mkfifo};
    use tempfile::TempDir;

    use super::*;

    fn directory() -> TempDir {
        tempfile::tempdir().expect("a directory")
    }

    /// A directory with a key in it.
    fn made() -> (TempDir, PathBuf) {
        let directory = directory();
        let path = directory.path().join("key");
        create(&path, "").expect("a key");
        (directory, path)
    }

    fn flaw(path: &Path) -> Flaw {
        load(path).expect_err("a refusal").flaw
    }

    fn chmod(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
    }

    #[test]
    fn a_key_is_read_as_it_was_written() {
        let directory = directory();
        let path = directory.path().join("key");
        let (key, files) = create(&path, "evidence of CI").expect("a key");
        assert_eq!(load(&path).expect("the key").public().id(), key.public().id());
        let public = fs::read_to_string(&files.public).expect("a file");
        assert_eq!(super::super::public::PublicKey::from_pem(&public).as_ref(), Ok(key.public()));
        let line = fs::read_to_string(&files.ssh).expect("a file");
        assert!(line.starts_with("ssh-ed25519 AAAA") && line.ends_with(" evidence of CI\n"), "{line}");
        assert_eq!(files, KeyFiles::of(&path));
    }

    #[test]
    fn only_the_owner_can_read_what_was_written() {
        let (_directory, path) = made();
        let mode = |path: &Path| fs::metadata(path).expect("a file").mode() & 0o7777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(&KeyFiles::of(&path).public) & 0o022, 0);
    }

    #[test]
    fn two_keys_differ() {
        let (_first, first) = made();
        let (_second, second) = made();
        assert_ne!(load(&first).expect("a key").public().id(), load(&second).expect("a key").public().id());
    }

    #[test]
    fn no_file_is_overwritten_and_none_is_left_where_one_exists() {
        for suffix in ["", ".pub", ".ssh.pub"] {
            let directory = directory();
            let existing = directory.path().join(format!("key{suffix}"));
            fs::write(&existing, "mine").expect("a file");
            let error = create(&directory.path().join("key"), "").expect_err("a refusal");
            assert!(matches!(error.flaw, Flaw::Exists), "{error}");
            assert_eq!(error.path, existing);
            assert_eq!(fs::read_to_string(&existing).expect("the file"), "mine");
            assert_eq!(fs::read_dir(directory.path()).expect("a list").count(), 1, "{suffix}");
        }
    }

    #[test]
    fn no_key_is_written_through_a_link() {
        let directory = directory();
        let path = directory.path().join("key");
        symlink(directory.path().join("elsewhere"), &path).expect("a link");
        assert!(matches!(create(&path, "").expect_err("a refusal").flaw, Flaw::Exists));
        assert!(!directory.path().join("elsewhere").exists());
    }

    #[test]
    fn a_comment_cannot_add_a_line() {
        let directory = directory();
        for comment in ["a\nssh-ed25519 AAAA", "\x1b[31m", &"x".repeat(201)] {
            let error = create(&directory.path().join("key"), comment).expect_err("a refusal");
            assert!(matches!(error.flaw, Flaw::Comment), "{error}");
        }
        assert_eq!(fs::read_dir(directory.path()).expect("a list").count(), 0);
    }

    #[test]
    fn a_file_that_others_could_have_read_is_refused() {
        let (_directory, path) = made();
        for mode in [0o640, 0o604, 0o620, 0o602, 0o610, 0o601] {
            chmod(&path, mode);
            assert!(matches!(flaw(&path), Flaw::Mode(found) if found == mode), "{mode:o}");
        }
        chmod(&path, 0o400);
        load(&path).expect("a key that only its owner can read");
    }

    #[test]
    fn a_link_is_refused() {
        let (directory, path) = made();
        let link = directory.path().join("link");
        symlink(&path, &link).expect("a link");
        assert!(matches!(flaw(&link), Flaw::Symlink));
    }

    #[test]
    fn a_second_name_is_refused() {
        let (directory, path) = made();
        fs::hard_link(&path, directory.path().join("second")).expect("a link");
        assert!(matches!(flaw(&path), Flaw::SecondName));
    }

    #[test]
    fn what_is_no_regular_file_is_refused_without_waiting() {
        let directory = directory();
        assert!(matches!(flaw(directory.path()), Flaw::NotRegular));
        let pipe = directory.path().join("pipe");
        mkfifo(&pipe, Mode::from_bits_truncate(0o600)).expect("a pipe");
        assert!(matches!(flaw(&pipe), Flaw::NotRegular));
        let socket = directory.path().join("socket");
        let _listener = UnixListener::bind(&socket).expect("a socket");
        assert!(matches!(flaw(&socket), Flaw::NotRegular));
        assert!(matches!(flaw(Path::new("/dev/zero")), Flaw::NotRegular));
    }

    #[test]
    fn somebody_elses_file_is_refused() {
        // Only root can give a file away; anybody else finds one that is not theirs.
        let (_directory, path) = made();
        let other = if geteuid().is_root() {
            chown(&path, Some(1000), None).expect("an owner");
            path
        } else {
            PathBuf::from("/etc/passwd")
        };
        assert!(matches!(flaw(&other), Flaw::Owner { .. }));
    }

    #[test]
    fn what_is_too_big_or_not_text_is_refused() {
        let (_directory, path) = made();
        fs::write(&path, "x".repeat(MAX_KEY as usize + 1)).expect("a file");
        assert!(matches!(flaw(&path), Flaw::TooBig));
        fs::write(&path, b"\xff").expect("a file");
        assert!(matches!(flaw(&path), Flaw::NotText));
    }

    #[test]
    fn an_error_names_the_file() {
        let error = load(Path::new("/nonexistent/key")).expect_err("a refusal").to_string();
        assert_eq!(
            error,
            "the signing key \"/nonexistent/key\" cannot be used: failed to open it: No such file or directory (os error 2)"
        );
    }
}

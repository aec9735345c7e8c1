//! Reads a bundle that anyone may have written: no link is followed, no file is read twice, nothing grows without a limit.

use std::{
    collections::BTreeMap,
    ffi::{CStr, CString},
    fs::File,
    io::{self, Read},
    os::fd::{AsFd, OwnedFd},
    path::Path,
};

use nix::{
    dir::Dir,
    fcntl::{AtFlags, OFlag, openat},
    sys::stat::{FileStat, Mode, SFlag, fstat, fstatat},
};
use sha2::{Digest, Sha256};

use super::{MAX_ENTRIES, Manifest, PAYLOAD};

/// Bytes of one file, at most.
pub const MAX_FILE: u64 = 16 << 20;
/// Bytes of all files that are parsed, at most.
pub const MAX_PARSED: u64 = 32 << 20;
/// Directories within each other, at most.
const MAX_DEPTH: usize = 8;

/// A bundle's directory.
#[derive(Debug)]
pub struct Bundle {
    root: OwnedFd,
}

/// Files of a payload by path, each with the bytes that were hashed.
pub type Files = BTreeMap<String, Vec<u8>>;

/// Why a bundle cannot be read. Paths are those in the bundle.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("cannot read {path}: {source}")]
    Io { path: String, source: io::Error },
    #[error("{0} is missing")]
    Missing(String),
    #[error("{0} is not listed in SHA256SUMS")]
    Extra(String),
    #[error("{path} is {what}, and only directories and regular files with one name belong in a bundle")]
    Type { path: String, what: &'static str },
    #[error("{path} has more than {limit} bytes")]
    TooBig { path: String, limit: u64 },
    #[error("{0} has not the digest that SHA256SUMS says")]
    Digest(String),
    #[error("the payload has more than {MAX_ENTRIES} files, or directories deeper than {MAX_DEPTH}")]
    TooMany,
}

impl Bundle {
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        let root = nix::fcntl::open(path, flags, Mode::empty());
        let root = root.map_err(|errno| ReadError::Io { path: path.display().to_string(), source: errno.into() })?;
        Ok(Self { root })
    }

    /// The bytes of a file beside the payload.
    pub fn beside(&self, name: &str, limit: u64) -> Result<Vec<u8>, ReadError> {
        let named = CString::new(name).map_err(|_| ReadError::Missing(name.to_owned()))?;
        read(self.root.as_fd(), &named, name, limit)
    }

    /// The bytes of a file of the payload, compared with nothing.
    pub fn inside(&self, name: &str, limit: u64) -> Result<Vec<u8>, ReadError> {
        let path = format!("{PAYLOAD}/{name}");
        let named = CString::new(name).map_err(|_| ReadError::Missing(path.clone()))?;
        read(directory(self.root.as_fd(), c"payload", PAYLOAD)?, &named, &path, limit)
    }

    /// Something beside the payload that has none of these names.
    pub fn stranger(&self, known: &[&str]) -> Result<Option<String>, ReadError> {
        let root = directory(self.root.as_fd(), c".", ".")?;
        let names = names(root, ".")?;
        Ok(names.iter().map(|name| name.to_string_lossy()).find(|name| !known.contains(&&**name)).map(Into::into))
    }

    /// Reads every file of the payload once and compares it with the manifest. Those that `wanted` names are given back.
    pub fn payload(&self, manifest: &Manifest, wanted: impl Fn(&str) -> bool) -> Result<Files, ReadError> {
        let mut walk = Walk { manifest, wanted: &wanted, files: Files::new(), seen: 0, parsed: 0 };
        let payload = directory(self.root.as_fd(), c"payload", PAYLOAD)?;
        walk.directory(payload, "", 0)?;
        if walk.seen != manifest.entries.len() {
            let known = |path: &&String| !walk.files.contains_key(*path) && !self.has(path);
            let missing = manifest.entries.keys().find(known).cloned().unwrap_or_default();
            return Err(ReadError::Missing(format!("{PAYLOAD}/{missing}")));
        }
        Ok(walk.files)
    }

    /// Whether something has this path in the payload.
    fn has(&self, path: &str) -> bool {
        let path = format!("{PAYLOAD}/{path}");
        fstatat(&self.root, path.as_str(), AtFlags::AT_SYMLINK_NOFOLLOW).is_ok()
    }
}

struct Walk<'a> {
    manifest: &'a Manifest,
    wanted: &'a dyn Fn(&str) -> bool,
    files: Files,
    seen: usize,
    parsed: u64,
}

impl Walk<'_> {
    fn directory(&mut self, directory: OwnedFd, prefix: &str, depth: usize) -> Result<(), ReadError> {
        if depth > MAX_DEPTH {
            return Err(ReadError::TooMany);
        }
        let copy = directory.try_clone().map_err(|source| ReadError::Io { path: prefix.to_owned(), source })?;
        for name in names(directory, &format!("{PAYLOAD}/{prefix}"))? {
            let shown = name.to_string_lossy();
            let path = if prefix.is_empty() { shown.into_owned() } else { format!("{prefix}/{shown}") };
            self.entry(copy.as_fd(), &name, path, depth)?;
        }
        Ok(())
    }

    fn entry(&mut self, at: impl AsFd, name: &CStr, path: String, depth: usize) -> Result<(), ReadError> {
        let shown = format!("{PAYLOAD}/{path}");
        let stat = fstatat(&at, name, AtFlags::AT_SYMLINK_NOFOLLOW).map_err(|errno| io_error(&shown, errno))?;
        if kind(&stat) == SFlag::S_IFDIR {
            let inside = format!("{path}/");
            if !self
                .manifest
                .entries
                .range(inside.clone()..)
                .next()
                .is_some_and(|(first, _)| first.starts_with(&inside))
            {
                return Err(ReadError::Extra(shown));
            }
            let opened = directory(at, name, &shown)?;
            return self.directory(opened, &path, depth + 1);
        }
        regular(&stat, &shown)?;
        let Some(digest) = self.manifest.entries.get(&path) else { return Err(ReadError::Extra(shown)) };
        self.seen += 1;
        let bytes = read(at, name, &shown, MAX_FILE)?;
        if <[u8; 32]>::from(Sha256::digest(&bytes)) != *digest {
            return Err(ReadError::Digest(shown));
        }
        if (self.wanted)(&path) {
            self.parsed += bytes.len() as u64;
            if self.parsed > MAX_PARSED {
                return Err(ReadError::TooBig { path: PAYLOAD.to_owned(), limit: MAX_PARSED });
            }
            self.files.insert(path, bytes);
        }
        Ok(())
    }
}

fn directory(at: impl AsFd, name: &CStr, path: &str) -> Result<OwnedFd, ReadError> {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    openat(at, name, flags, Mode::empty()).map_err(|errno| match errno {
        nix::Error::ENOENT => ReadError::Missing(path.to_owned()),
        nix::Error::ELOOP | nix::Error::ENOTDIR => ReadError::Type { path: path.to_owned(), what: "no directory" },
        errno => io_error(path, errno),
    })
}

/// What lies in a directory, sorted: the first fault that is told does not depend on the file system.
fn names(directory: OwnedFd, path: &str) -> Result<Vec<CString>, ReadError> {
    let at = |errno: nix::Error| io_error(path, errno);
    let mut names = vec![];
    for entry in Dir::from_fd(directory).map_err(at)?.iter() {
        let name = entry.map_err(at)?.file_name().to_owned();
        if name.as_c_str() != c"." && name.as_c_str() != c".." {
            names.push(name);
        }
        if names.len() > MAX_ENTRIES {
            return Err(ReadError::TooMany);
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// The bytes of a regular file with one name.
fn read(at: impl AsFd, name: &CStr, path: &str, limit: u64) -> Result<Vec<u8>, ReadError> {
    let gone = |errno| match errno {
        nix::Error::ENOENT => ReadError::Missing(path.to_owned()),
        nix::Error::ELOOP => ReadError::Type { path: path.to_owned(), what: "a symbolic link" },
        errno => io_error(path, errno),
    };
    // Opening a device can do something by itself, so the kind is looked at before and, since it may change, after.
    regular(&fstatat(&at, name, AtFlags::AT_SYMLINK_NOFOLLOW).map_err(gone)?, path)?;
    let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
    let file = openat(&at, name, flags, Mode::empty()).map_err(gone)?;
    let stat = fstat(&file).map_err(|errno| io_error(path, errno))?;
    regular(&stat, path)?;
    let too_big = || ReadError::TooBig { path: path.to_owned(), limit };
    let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
    if size > limit {
        return Err(too_big());
    }
    let mut bytes = Vec::with_capacity(size as usize + 1);
    // It may grow meanwhile.
    let read = File::from(file).take(limit + 1).read_to_end(&mut bytes);
    read.map_err(|source| ReadError::Io { path: path.to_owned(), source })?;
    if bytes.len() as u64 > limit { Err(too_big()) } else { Ok(bytes) }
}

fn regular(stat: &FileStat, path: &str) -> Result<(), ReadError> {
    let what = match kind(stat) {
        SFlag::S_IFREG if stat.st_nlink > 1 => "a file with several names",
        SFlag::S_IFREG => return Ok(()),
        SFlag::S_IFLNK => "a symbolic link",
        SFlag::S_IFDIR => "a directory",
        SFlag::S_IFIFO => "a FIFO",
        SFlag::S_IFSOCK => "a socket",
        _ => "a device",
    };
    Err(ReadError::Type { path: path.to_owned(), what })
}

fn kind(stat: &FileStat) -> SFlag {
    SFlag::from_bits_truncate(stat.st_mode & SFlag::S_IFMT.bits())
}

fn io_error(path: &str, errno: nix::Error) -> ReadError {
    ReadError::Io { path: path.to_owned(), source: errno.into() }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink, path::PathBuf};

    use super::*;
    use crate::bundle::Writer;

    /// A bundle with `a/b` and `c`, and its manifest.
    fn sample(name: &str) -> (PathBuf, Manifest) {
        let root = std::env::temp_dir().join(format!("watertight-read-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        let writer = Writer::create(&root).expect("a bundle");
        fs::remove_dir(root.join("payload/launches")).expect("empty");
        writer.subdirectory("a").expect("a directory");
        writer.file("a/b", b"one").expect("written");
        writer.file("c", b"two").expect("written");
        let manifest = writer.close().expect("closed");
        (root, manifest)
    }

    /// What reading says after this was done to the payload.
    fn after(name: &str, change: impl FnOnce(&Path)) -> Result<Files, String> {
        let (root, manifest) = sample(name);
        change(&root.join(PAYLOAD));
        let files = Bundle::open(&root).and_then(|bundle| bundle.payload(&manifest, |path| path == "c"));
        fs::remove_dir_all(&root).expect("removed");
        files.map_err(|error| error.to_string())
    }

    #[test]
    fn the_files_that_are_wanted_come_back_and_all_are_compared() {
        let files = after("whole", |_| {}).expect("whole");
        assert_eq!(files, [("c".to_owned(), b"two".to_vec())].into());
        let error = after("edited", |payload| fs::write(payload.join("a/b"), "1ne").expect("written"));
        assert_eq!(error, Err("payload/a/b has not the digest that SHA256SUMS says".into()));
    }

    #[test]
    fn the_payload_is_a_closed_world() {
        let error = after("extra", |payload| fs::write(payload.join("a/skips.json"), "[]").expect("written"));
        assert_eq!(error, Err("payload/a/skips.json is not listed in SHA256SUMS".into()));
        let error = after("directory", |payload| fs::create_dir(payload.join("skips")).expect("made"));
        assert_eq!(error, Err("payload/skips is not listed in SHA256SUMS".into()));
        for gone in ["a/b", "c"] {
            let error = after("gone", |payload| fs::remove_file(payload.join(gone)).expect("removed"));
            assert_eq!(error, Err(format!("payload/{gone} is missing")));
        }
    }

    #[test]
    fn only_regular_files_with_one_name_are_read() {
        let replaced = |name: &str, with: &dyn Fn(&Path)| {
            after(name, |payload| {
                fs::rename(payload.join("c"), payload.join("../c")).expect("moved");
                with(&payload.join("c"));
            })
            .expect_err(name)
        };
        let link = replaced("link", &|path| symlink("../c", path).expect("a link"));
        assert!(link.starts_with("payload/c is a symbolic link"), "{link}");
        let hard = replaced("hard", &|path| fs::hard_link(path.with_file_name("../c"), path).expect("a link"));
        assert!(hard.starts_with("payload/c is a file with several names"), "{hard}");
        let fifo = replaced("fifo", &|path| nix::unistd::mkfifo(path, Mode::S_IRWXU).expect("a FIFO"));
        assert!(fifo.starts_with("payload/c is a FIFO"), "{fifo}");
        let socket = replaced("socket", &|path| drop(std::os::unix::net::UnixListener::bind(path).expect("bound")));
        assert!(socket.starts_with("payload/c is a socket"), "{socket}");
        let linked = after("linked", |payload| {
            fs::rename(payload.join("a"), payload.join("../a")).expect("moved");
            symlink("../a", payload.join("a")).expect("a link");
        });
        assert!(linked.expect_err("a link").starts_with("payload/a is a symbolic link"));
    }

    #[test]
    fn what_is_parsed_has_a_limit_and_so_has_each_file() {
        let (root, _) = sample("big");
        let bundle = Bundle::open(&root).expect("opens");
        assert!(matches!(bundle.beside("SHA256SUMS", 10), Err(ReadError::TooBig { limit: 10, .. })));
        assert!(matches!(bundle.beside("none", 10), Err(ReadError::Missing(_))));
        let file = File::create(root.join("payload/c")).expect("made");
        file.set_len(MAX_FILE + 1).expect("a hole");
        let manifest = sample("other").1;
        assert!(matches!(bundle.payload(&manifest, |_| true), Err(ReadError::TooBig { limit: MAX_FILE, .. })));
        fs::remove_dir_all(&root).expect("removed");
    }
}

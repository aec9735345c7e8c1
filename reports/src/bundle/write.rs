//! Writes a bundle while its run goes on. At every moment what lies there says `incomplete`, until the run has said its last.

use std::{
    collections::BTreeMap,
    fs::{self, DirBuilder},
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use sha2::{Digest, Sha256};

use super::{LAUNCHES, MANIFEST, Manifest, PAYLOAD, records};
use crate::{
    evidence::Launch,
    files::{self, Until},
};

/// A bundle that is being written, from any thread.
#[derive(Debug)]
pub struct Writer {
    root: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    manifest: Manifest,
    /// Directory of each launch, by its id.
    launches: BTreeMap<String, u32>,
}

/// Why a bundle cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    #[error("{} is there already, and a bundle never replaces anything: name a directory that is not there", .0.display())]
    NotEmpty(PathBuf),
    #[error("cannot write {}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("launch {0:?} is there twice")]
    Twice(String),
    #[error("launch {0:?} was not kept when it ended")]
    Unknown(String),
}

impl Writer {
    /// Whether a bundle can begin in this directory: it is empty or not there.
    pub fn free(root: &Path) -> Result<(), WriteError> {
        match fs::read_dir(root).map(|mut entries| entries.next().is_none()) {
            Ok(true) => Ok(()),
            Ok(false) => Err(WriteError::NotEmpty(root.to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => Err(WriteError::NotEmpty(root.to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(source) => Err(WriteError::Io { path: root.to_owned(), source }),
        }
    }

    /// Begins a bundle in this directory.
    pub fn create(root: &Path) -> Result<Self, WriteError> {
        Self::free(root)?;
        let writer = Self { root: root.to_owned(), state: Mutex::default() };
        // Evidence holds the synthetic secrets of its run, which are worth nothing when it is over.
        writer.directory(root)?;
        writer.directory(&writer.root.join(PAYLOAD))?;
        writer.directory(&writer.root.join(PAYLOAD).join(LAUNCHES))?;
        Ok(writer)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Writes `payload/PATH`, or writes it anew, and notes its digest.
    pub fn file(&self, path: &str, bytes: &[u8]) -> Result<(), WriteError> {
        self.replace(&format!("{PAYLOAD}/{path}"), bytes)?;
        self.state().manifest.entries.insert(path.to_owned(), Sha256::digest(bytes).into());
        Ok(())
    }

    /// Keeps a launch that has ended.
    pub fn launch(&self, launch: &Launch) -> Result<(), WriteError> {
        let number = {
            let mut state = self.state();
            if state.launches.contains_key(&launch.id) {
                return Err(WriteError::Twice(launch.id.clone()));
            }
            let number = state.launches.len() as u32;
            state.launches.insert(launch.id.clone(), number);
            number
        };
        self.directory(&self.root.join(PAYLOAD).join(LAUNCHES).join(number.to_string()))?;
        for (name, bytes) in records::ended(launch) {
            self.file(&format!("{LAUNCHES}/{number}/{name}"), &bytes)?;
        }
        Ok(())
    }

    /// Adds what was seen outside of a launch. The number of its directory.
    pub fn outside(&self, launch: &Launch) -> Result<u32, WriteError> {
        let number = self.state().launches.get(&launch.id).copied();
        let number = number.ok_or_else(|| WriteError::Unknown(launch.id.clone()))?;
        // What a launch is told later (its sockets' fate, its workspace) is written with the rest.
        for (name, bytes) in records::ended(launch).into_iter().chain(records::outside(launch)) {
            self.file(&format!("{LAUNCHES}/{number}/{name}"), &bytes)?;
        }
        Ok(number)
    }

    /// Makes `payload/PATH` a directory.
    pub fn subdirectory(&self, path: &str) -> Result<(), WriteError> {
        self.directory(&self.root.join(PAYLOAD).join(path))
    }

    /// Closes the payload: writes `SHA256SUMS`.
    pub fn close(&self) -> Result<Manifest, WriteError> {
        let manifest = self.state().manifest.clone();
        self.replace(MANIFEST, manifest.text().as_bytes())?;
        Ok(manifest)
    }

    /// Writes a file beside the payload.
    pub fn beside(&self, name: &str, bytes: &[u8]) -> Result<(), WriteError> {
        self.replace(name, bytes)
    }

    fn directory(&self, path: &Path) -> Result<(), WriteError> {
        match DirBuilder::new().mode(0o755).create(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(WriteError::Io { path: path.to_owned(), source: error })
            }
            _ => Ok(()),
        }
    }

    /// One name never shows half of a file.
    fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), WriteError> {
        let path = self.root.join(name);
        // Beside the payload, so that one which is left there is no file of the payload; a name of its own for each
        // thread's.
        let part = self.root.join(format!(".{}.part", name.replace('/', "-")));
        // A bundle counts when it is whole: to wait for the disk at every file of it would be for nothing.
        files::replace_through(&part, &path, bytes, Until::Written).map_err(|source| WriteError::Io { path, source })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::LaunchKind;

    fn scratch(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("watertight-bundle-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        path
    }

    #[test]
    fn a_bundle_never_replaces_what_is_there() {
        let root = scratch("there");
        fs::create_dir(&root).expect("a directory");
        drop(Writer::create(&root).expect("an empty directory is taken"));
        assert!(matches!(Writer::create(&root), Err(WriteError::NotEmpty(_))));
        fs::remove_dir_all(&root).expect("removed");
        fs::write(&root, "").expect("a file");
        assert!(matches!(Writer::create(&root), Err(WriteError::NotEmpty(_) | WriteError::Io { .. })));
        fs::remove_file(&root).expect("removed");
    }

    #[test]
    fn what_is_written_is_in_the_manifest_and_nothing_else_is_left() {
        let root = scratch("closed");
        let writer = Writer::create(&root).expect("a bundle");
        let launch = Launch::not_made("target", LaunchKind::Target);
        writer.launch(&launch).expect("kept");
        assert!(matches!(writer.launch(&launch), Err(WriteError::Twice(_))));
        assert_eq!(writer.outside(&launch).expect("kept"), 0);
        let other = Launch::not_made("other", LaunchKind::Own);
        assert!(matches!(writer.outside(&other), Err(WriteError::Unknown(_))));
        writer.file("results.json", b"{}").expect("written");
        writer.file("results.json", b"[]").expect("written anew");
        let manifest = writer.close().expect("closed");
        assert_eq!(manifest.entries.len(), 6);
        assert_eq!(manifest.entries["results.json"], <[u8; 32]>::from(Sha256::digest("[]")));
        let text = fs::read(root.join(MANIFEST)).expect("written");
        assert_eq!(Manifest::parse(&text), Ok(manifest));
        let names: Vec<_> = fs::read_dir(&root).expect("there").map(|entry| entry.expect("one").file_name()).collect();
        assert_eq!(names.len(), 2, "{names:?}");
        fs::remove_dir_all(&root).expect("removed");
    }
}

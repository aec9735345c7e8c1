//! A directory with copies of the programs that every user can execute, a workspace and a key for each user.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};

use nix::unistd::geteuid;
use tempfile::TempDir;

/// The ordinary user of measurements that root starts.
pub const USER: u32 = 1777;

pub struct Place {
    directory: PathBuf,
    /// Removed with the place that made it.
    _made: Option<TempDir>,
}

impl Place {
    pub fn make() -> Self {
        let made = tempfile::tempdir().expect("a directory");
        let place = Self { directory: made.path().to_owned(), _made: Some(made) };
        let mode = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).expect("a mode");
        mode(&place.directory, 0o755);
        fs::copy(env!("CARGO_BIN_EXE_watertight"), place.watertight()).expect("a copy of the program");
        fs::copy(std::env::current_exe().expect("this program"), place.bench()).expect("a copy of the benchmark");
        fs::write(place.key(), "sk-benchmark").expect("a key");
        mode(&place.key(), 0o600);
        fs::create_dir(place.workspace()).expect("a workspace");
        if geteuid().is_root() {
            for path in [place.key(), place.workspace()] {
                chown(path, Some(USER), Some(USER)).expect("the user's");
            }
        }
        place
    }

    /// The one that another process made.
    pub fn found(directory: &OsStr) -> Self {
        Self { directory: directory.into(), _made: None }
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    pub fn watertight(&self) -> PathBuf {
        self.directory.join("watertight")
    }

    pub fn bench(&self) -> PathBuf {
        self.directory.join("bench")
    }

    pub fn key(&self) -> PathBuf {
        self.directory.join("key")
    }

    pub fn workspace(&self) -> PathBuf {
        self.directory.join("workspace")
    }
}

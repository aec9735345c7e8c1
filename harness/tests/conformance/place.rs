//! Where the program under test lies and as whom it is started.

use std::{
    fs,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, OnceLock},
};

use nix::unistd::geteuid;
use tempfile::TempDir;

/// As whom the program is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Who {
    Root,
    User,
}

/// The ordinary user that root becomes: any number without rights would do.
const USER: u32 = 1777;

impl Who {
    /// Everybody whom this process can be.
    pub fn here() -> &'static [Self] {
        if geteuid().is_root() { &[Self::Root, Self::User] } else { &[Self::User] }
    }

    pub fn prefix(self) -> &'static str {
        match self {
            Self::Root => "",
            Self::User => "user::",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::User => "user",
        }
    }

    /// This program, to be started as this user with nothing of ours in its environment, in a directory of its own.
    pub fn command(self, program: &Path, directory: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        command.envs(tools().map(|tools| ("WATERTIGHT_TARGETS", tools)));
        command.env("HOME", directory).env("TMPDIR", directory).current_dir(directory);
        if self == Self::User && geteuid().is_root() {
            command.uid(USER).gid(USER);
        }
        command
    }
}

/// A directory with a copy of the program that every user can execute: the build directory may be private.
struct Place {
    directory: TempDir,
    made: u32,
}

static PLACE: Mutex<Option<Place>> = Mutex::new(None);

/// The program under test.
pub fn program() -> PathBuf {
    with(|place| place.directory.path().join("watertight"))
}

/// A copy of it for one run, whose processes can so be told from those of other runs.
pub fn program_of_its_own() -> PathBuf {
    let path = directory().join("watertight");
    copy(&built(), &path);
    path
}

/// The program as Cargo built it.
pub fn built() -> PathBuf {
    env!("CARGO_BIN_EXE_watertight").into()
}

/// A new directory that every user can write in.
pub fn directory() -> PathBuf {
    with(|place| {
        place.made += 1;
        let path = place.directory.path().join(place.made.to_string());
        fs::create_dir(&path).expect("a directory");
        open(&path, 0o777);
        path
    })
}

/// What `scripts/targets` installs for the tests, where every user can execute it: the sources may be private.
pub fn tools() -> Option<PathBuf> {
    static TOOLS: OnceLock<Option<PathBuf>> = OnceLock::new();
    let copied = || {
        let sources = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../.targets");
        let parts = fs::read_dir(&sources).ok()?.map(|part| part.expect("a part").path());
        let tools = directory();
        for part in parts {
            let status = Command::new("cp").arg("--archive").arg(part).arg(&tools).status();
            assert!(status.is_ok_and(|status| status.success()), "a copy of {}", sources.display());
        }
        Some(tools)
    };
    TOOLS.get_or_init(copied).clone()
}

/// Removes everything that the suite made.
pub fn remove() {
    PLACE.lock().expect("no trial panics with it").take();
}

fn with<T>(act: impl FnOnce(&mut Place) -> T) -> T {
    act(PLACE.lock().expect("no trial panics with it").get_or_insert_with(make))
}

fn make() -> Place {
    let directory = tempfile::tempdir().expect("a directory for the suite");
    open(directory.path(), 0o755);
    copy(&built(), &directory.path().join("watertight"));
    Place { directory, made: 0 }
}

/// Puts a program where every user can execute it.
pub fn copy(program: &Path, to: &Path) {
    // By another process: a program that is still open for writing in a child that some other thread forks cannot be
    // executed.
    let copied = Command::new("cp").arg(program).arg(to).status();
    assert!(copied.is_ok_and(|status| status.success()), "a copy of {}", program.display());
    open(to, 0o755);
}

fn open(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
}

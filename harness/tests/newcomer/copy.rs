//! A copy of the repository that can be changed and built.

use std::{
    env, fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

/// The repository, and below it what Cargo has built of it: it goes away with this.
pub struct Copy {
    directory: TempDir,
    /// Where Cargo puts the program, below its target directory: `x86_64-unknown-linux-gnu/debug`.
    programs: PathBuf,
}

impl Copy {
    pub fn of(repository: &Path) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        // In it an ordinary user starts programs.
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).expect("a mode");
        let sources = names(repository).filter(|name| !matches!(name.as_str(), "target" | ".git"));
        cp(sources.map(|name| repository.join(name)), directory.path());
        let built = Path::new(env!("CARGO_BIN_EXE_watertight"));
        let target = built.ancestors().nth(3).expect("TARGET/TRIPLE/PROFILE/watertight");
        let programs = built.strip_prefix(target).ok().and_then(Path::parent).expect("the same").to_owned();
        let profile = programs.file_name().expect("the same");
        // What is unchanged is not built again: what goes by modification times and by places below the workspace
        // is the same in a copy. The profile's other directory has what runs while Cargo builds.
        for part in [&programs, Path::new(profile)] {
            copy_built(&target.join(part), &directory.path().join("target").join(part));
        }
        Self { directory, programs }
    }

    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Builds the programs in the profile of this test.
    pub fn build(&self) {
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        // What Cargo tells a test of its package is not for another Cargo.
        for (name, _) in env::vars_os() {
            let name = name.to_string_lossy();
            if ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_"].iter().any(|start| name.starts_with(start)) {
                cargo.env_remove(&*name);
            }
        }
        cargo.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS").env_remove("CARGO_BUILD_TARGET_DIR");
        cargo.env("CARGO_TARGET_DIR", self.directory().join("target")).current_dir(self.directory());
        // With a test beside them, dependencies have the features that they have in `scripts/test`, and are there.
        cargo.args(["build", "--offline", "--locked", "--workspace", "--bins", "--test", "newcomer"]);
        cargo.args(["--features", "linux-netns"]);
        if self.programs.ends_with("release") {
            cargo.arg("--release");
        }
        let output = cargo.output().expect("cargo starts");
        assert!(output.status.success(), "{cargo:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Exit status, standard output and standard error of the program that was built.
    pub fn run(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let program = self.directory().join("target").join(&self.programs).join("watertight");
        let output = Command::new(program).args(arguments).output().expect("the program starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }
}

/// Copies what Cargo keeps of a profile, but for test programs, which nothing needs here and which are large.
fn copy_built(from: &Path, to: &Path) {
    for part in [".fingerprint", "build", "deps"] {
        fs::create_dir_all(to.join(part)).expect("a directory");
        let kept = names(&from.join(part)).filter(|name| part != "deps" || name.contains('.'));
        cp(kept.map(|name| from.join(part).join(name)), &to.join(part));
    }
}

/// Copies with modification times.
fn cp(sources: impl Iterator<Item = PathBuf>, to: &Path) {
    let sources: Vec<_> = sources.collect();
    if sources.is_empty() {
        return;
    }
    let mut copied = Command::new("cp");
    copied.args(["--archive", "--reflink=auto", "--target-directory"]).arg(to).args(sources);
    assert!(copied.status().is_ok_and(|status| status.success()), "a copy below {}", to.display());
}

/// What lies in a directory; nothing where there is none.
fn names(directory: &Path) -> impl Iterator<Item = String> + use<> {
    let entries = fs::read_dir(directory).into_iter().flatten();
    entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name in ASCII"))
}

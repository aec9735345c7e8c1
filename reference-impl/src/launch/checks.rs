//! Everything that can be refused before anything is started: the paths and the command, seen as the ordinary user.

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use nix::fcntl::AT_FDCWD;
use nix::unistd::{AccessFlags, faccessat};

use super::error::LaunchError;
use super::root::{Exposure, covered_directories};
use super::spec::LaunchSpec;

/// The workspace and what is exposed beside it, as real paths, each parent before its children.
pub(crate) fn exposures(spec: &LaunchSpec, homes: &[PathBuf]) -> Result<(PathBuf, Vec<Exposure>), LaunchError> {
    let current = Path::new(".");
    let workspace = real_path("the workspace", spec.workspace.as_deref().unwrap_or(current))?;
    if !workspace.is_dir() {
        return Err(refuse("the workspace", &workspace, "it is not a directory"));
    }
    if homes.iter().any(|home| home.starts_with(&workspace)) {
        let reason =
            "it holds a home directory; run from a project directory and name what is needed with --ro or --rw";
        return Err(refuse("the workspace", &workspace, reason));
    }
    let mut all = vec![Exposure { option: "the workspace", path: workspace.clone(), writable: true }];
    for (option, paths, writable) in [("--ro", &spec.read_only, false), ("--rw", &spec.read_write, true)] {
        for path in paths {
            all.push(Exposure { option, path: real_path(option, path)?, writable });
        }
    }
    for exposure in &all {
        if let Some(covered) = covered_directories().find(|covered| covered.starts_with(&exposure.path)) {
            let reason = format!("it would uncover the private {}; name something under it", covered.display());
            return Err(refuse(exposure.option, &exposure.path, reason));
        }
        if ["/proc", "/sys", "/dev"].iter().any(|kernel| exposure.path.starts_with(kernel)) {
            return Err(refuse(exposure.option, &exposure.path, "the kernel's own files are not exposed"));
        }
    }
    all.sort_by_key(|exposure| exposure.path.components().count());
    Ok((workspace, all))
}

/// The command line, if its program is there and this user may execute it.
pub(crate) fn command(
    argv: &[OsString],
    workspace: &Path,
    path: &OsStr,
    uid: u32,
) -> Result<Vec<CString>, LaunchError> {
    let program = argv.first().filter(|name| !name.is_empty()).ok_or(LaunchError::NoCommand)?;
    let name = program.to_string_lossy().into_owned();
    let on_path = !program.as_bytes().contains(&b'/');
    let candidates: Vec<PathBuf> = if on_path {
        std::env::split_paths(path).map(|directory| workspace.join(directory).join(program)).collect()
    } else {
        vec![workspace.join(program)]
    };
    let mut denied = None;
    let found = candidates.iter().any(|candidate| match executable(candidate) {
        Ok(()) => true,
        // A directory of PATH that this user may not search holds nothing for it.
        Err(_) if on_path && !candidate.exists() => false,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => false,
        Err(error) => {
            denied.get_or_insert(error);
            false
        }
    });
    match (found, denied) {
        (true, _) => argv.iter().map(c_string).collect(),
        (false, Some(source)) => Err(LaunchError::CommandNotExecutable { name, uid, source }),
        (false, None) => Err(LaunchError::CommandNotFound { name }),
    }
}

fn executable(path: &Path) -> io::Result<()> {
    if !path.metadata()?.is_file() {
        return Err(io::Error::from_raw_os_error(libc::EACCES));
    }
    faccessat(AT_FDCWD, path, AccessFlags::X_OK, nix::fcntl::AtFlags::AT_EACCESS).map_err(io::Error::from)
}

fn c_string(argument: &OsString) -> Result<CString, LaunchError> {
    CString::new(argument.clone().into_vec())
        .map_err(|_| LaunchError::ZeroByte(argument.to_string_lossy().into_owned()))
}

fn real_path(option: &'static str, path: &Path) -> Result<PathBuf, LaunchError> {
    path.canonicalize().map_err(|error| refuse(option, path, error.to_string()))
}

fn refuse(option: &'static str, path: &Path, reason: impl Into<String>) -> LaunchError {
    LaunchError::Path { option, path: path.to_owned(), reason: reason.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(read_only: &[&str]) -> (tempfile::TempDir, LaunchSpec) {
        let workspace = tempfile::tempdir().expect("a directory");
        let read_only = read_only.iter().map(PathBuf::from).collect();
        let spec = LaunchSpec { workspace: Some(workspace.path().to_owned()), read_only, ..LaunchSpec::default() };
        (workspace, spec)
    }

    #[test]
    fn what_would_uncover_a_private_directory_is_refused() {
        for path in ["/", "/var", "/tmp", "/proc", "/dev/null", "/sys/kernel"] {
            let (_workspace, spec) = spec(&[path]);
            assert!(exposures(&spec, &[]).is_err(), "{path}");
        }
    }

    #[test]
    fn a_path_that_is_not_there_is_refused_by_name() {
        let (_workspace, spec) = spec(&["/usr/no-such-thing"]);
        let error = exposures(&spec, &[]).expect_err("refused").to_string();
        assert!(error.contains("--ro") && error.contains("no-such-thing"), "{error}");
    }

    #[test]
    fn a_home_is_no_workspace() {
        let (workspace, spec) = spec(&[]);
        let home = workspace.path().canonicalize().expect("real").join("agent");
        exposures(&spec, &[home]).expect_err("refused");
    }

    #[test]
    fn parents_come_before_children() {
        let (_workspace, spec) = spec(&["/usr/bin/..", "/usr/bin", "/etc"]);
        let (_, all) = exposures(&spec, &[]).expect("accepted");
        let depths: Vec<usize> = all.iter().map(|exposure| exposure.path.components().count()).collect();
        assert!(depths.is_sorted(), "{depths:?}");
    }

    #[test]
    fn a_missing_program_and_one_without_permission_differ() {
        let here = Path::new("/");
        let status = |name: &str| {
            command(&[name.into()], here, OsStr::new("/usr/bin:/bin"), 1777).expect_err("refused").exit_status()
        };
        assert_eq!(status("no-such-program"), 127);
        assert_eq!(status("/etc/passwd"), 126);
        assert_eq!(status("/usr"), 126);
        assert_eq!(command(&["sh".into()], here, OsStr::new("/usr/bin:/bin"), 1777).expect("found").len(), 1);
    }
}

//! The pathname sockets that listen where the sandbox would see them.
//!
//! A network namespace does not hold them and a read-only mount does not stop `connect`, so each is covered by itself. The
//! kernel lists those of the launcher's network namespace that are bound by an absolute path; see the README for the rest.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use super::error::{LaunchError, Step};

/// Real paths of the sockets that a process of this network namespace has bound, without those below `apart`.
///
/// Asked as the ordinary user: what that user cannot find, the workload cannot either.
pub(crate) fn bound(apart: &[&Path]) -> Result<Vec<PathBuf>, LaunchError> {
    let table = fs::read("/proc/self/net/unix").step_or("list the host's Unix sockets", "; is /proc mounted?")?;
    let mut sockets: Vec<PathBuf> = table
        .split(|byte| *byte == b'\n')
        .filter_map(path)
        // Most lie in directories that are covered as a whole; those are not looked at.
        .filter(|path| !apart.iter().any(|apart| path.starts_with(apart)))
        .filter_map(|path| path.canonicalize().ok())
        .filter(|path| !apart.iter().any(|apart| path.starts_with(apart)))
        .filter(|path| fs::symlink_metadata(path).is_ok_and(|metadata| metadata.file_type().is_socket()))
        .collect();
    sockets.sort_unstable();
    sockets.dedup();
    Ok(sockets)
}

/// The absolute path in a line of the table, if it has one: all that follows the seventh column.
fn path(line: &[u8]) -> Option<&Path> {
    let blank = line.windows(2).position(|pair| pair == b" /")?;
    Some(Path::new(OsStr::from_bytes(&line[blank + 1..])))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn a_path_is_found_in_its_line_with_its_spaces() {
        let line = "0000000000000000: 00000002 00000000 00010000 0001 01 12345 ";
        let of = |name: &str| path([line, name].concat().as_bytes()).map(Path::to_owned);
        assert_eq!(of("/srv/a b/c.sock"), Some("/srv/a b/c.sock".into()));
        for name in ["@abstract", "relative.sock", ""] {
            assert_eq!(of(name), None, "{name:?}");
        }
        assert_eq!(path(b"Num       RefCount Protocol Flags    Type St Inode Path"), None);
    }

    #[test]
    fn a_bound_socket_is_listed_once_by_its_real_path_unless_it_lies_apart() {
        let directory = tempfile::tempdir().expect("a directory");
        let real = directory.path().canonicalize().expect("real");
        let (alias, socket) = (real.join("alias"), real.join("d/one two.sock"));
        fs::create_dir(real.join("d")).expect("made");
        std::os::unix::fs::symlink(real.join("d"), &alias).expect("linked");
        let _listener = UnixListener::bind(alias.join("one two.sock")).expect("bound");
        let found = |apart: &[&Path]| {
            let all = bound(apart).expect("listed");
            all.iter().filter(|path| path.starts_with(&real)).cloned().collect::<Vec<_>>()
        };
        assert_eq!(found(&[]), [socket]);
        assert!(found(&[&real]).is_empty());
        assert!(found(&[&real.join("d")]).is_empty());
    }
}

//! A relay's Unix socket: never wider than 0600, and gone with its owner.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use nix::fcntl::AT_FDCWD;
use nix::sys::socket::{AddressFamily, Backlog, SockFlag, SockType, UnixAddr, bind, listen as start, socket};
use nix::sys::stat::{FchmodatFlags, Mode, fchmod, fchmodat, lstat};
use thiserror::Error;

use crate::guards::{AllUp, RelayGuards};

/// A relay could not listen; no socket and no file is left.
#[derive(Debug, Error)]
#[error("failed to {what} for the relay's socket {path}: {source}")]
pub struct ListenError {
    path: PathBuf,
    what: &'static str,
    source: io::Error,
}

/// A listening Unix socket that removes its file when it is dropped.
#[derive(Debug)]
pub struct Listener {
    socket: UnixListener,
    // Dropped after the socket, so that nobody can connect to a name without a listener for longer than a moment.
    name: Option<Name>,
}

/// Makes a socket at `path` with mode 0600 from its first instant, and listens.
pub fn listen(path: &Path) -> Result<Listener, ListenError> {
    listen_with::<AllUp>(path)
}

/// [`listen`] with these defences.
pub fn listen_with<G: RelayGuards>(path: &Path) -> Result<Listener, ListenError> {
    let failed = |what| move |errno: nix::Error| ListenError { path: path.to_owned(), what, source: errno.into() };
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let socket: OwnedFd =
        socket(AddressFamily::Unix, SockType::Stream, flags, None).map_err(failed("make a socket"))?;
    // The kernel gives the file the mode of the socket's own inode, less the umask: chmod afterwards would come too late,
    // and a changed umask would be seen by other threads.
    let mode = Mode::from_bits_truncate(G::socket_mode());
    if G::narrows_socket_before_bind() {
        fchmod(&socket, mode).map_err(failed("set the mode"))?;
    }
    let address = UnixAddr::new(path).map_err(failed("use the path"))?;
    bind(socket.as_raw_fd(), &address).map_err(failed("bind"))?;
    let name = if G::removes_socket_file() { Some(Name::of(path).map_err(failed("find the file"))?) } else { None };
    start(&socket, Backlog::MAXCONN).map_err(failed("listen"))?;
    if !G::narrows_socket_before_bind() {
        fchmodat(AT_FDCWD, path, mode, FchmodatFlags::FollowSymlink).map_err(failed("set the mode"))?;
    }
    Ok(Listener { socket: socket.into(), name })
}

impl Listener {
    /// The socket alone: its file goes with the directory that it is in.
    pub(crate) fn leave_file(self) -> UnixListener {
        std::mem::forget(self.name);
        self.socket
    }

    /// The socket in Tokio's hands, and what keeps its name until it is dropped.
    pub(crate) fn into_tokio(self) -> io::Result<(tokio::net::UnixListener, impl Drop)> {
        self.socket.set_nonblocking(true)?;
        Ok((tokio::net::UnixListener::from_std(self.socket)?, Kept(self.name)))
    }
}

impl From<UnixListener> for Listener {
    /// A listener that somebody else made, and whose file stays theirs.
    fn from(socket: UnixListener) -> Self {
        Self { socket, name: None }
    }
}

struct Kept(Option<Name>);

impl Drop for Kept {
    fn drop(&mut self) {
        self.0.take();
    }
}

/// The file of a socket that we bound: removed on drop, unless another has taken its place.
#[derive(Debug)]
struct Name {
    path: PathBuf,
    inode: (u64, u64),
}

impl Name {
    fn of(path: &Path) -> nix::Result<Self> {
        // Just bound and not to be found: what we cannot tell apart later is removed now.
        let inode = inode(path).inspect_err(|_| drop(fs::remove_file(path)))?;
        Ok(Self { inode, path: path.to_owned() })
    }
}

impl Drop for Name {
    fn drop(&mut self) {
        if inode(&self.path) == Ok(self.inode) {
            // Nobody is there to hear of it; the directory around it is the launcher's to remove.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn inode(path: &Path) -> nix::Result<(u64, u64)> {
    lstat(path).map(|stat| (stat.st_dev, stat.st_ino))
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn dropping_a_listener_removes_its_file_and_nobody_elses() {
        let directory = tempfile::tempdir().expect("directory");
        let path = directory.path().join("relay.sock");
        let listener = listen(&path).expect("listen");
        UnixStream::connect(&path).expect("connects");
        drop(listener);
        assert!(!path.exists());
        let listener = listen(&path).expect("listen again");
        fs::remove_file(&path).expect("remove");
        fs::write(&path, "mine").expect("write");
        drop(listener);
        assert_eq!(fs::read_to_string(&path).expect("still there"), "mine");
    }

    #[test]
    fn a_failure_leaves_neither_a_descriptor_nor_a_file() {
        let directory = tempfile::tempdir().expect("directory");
        let path = directory.path().join("taken");
        fs::write(&path, "mine").expect("write");
        let error = listen(&path).expect_err("taken").to_string();
        assert!(error.contains("failed to bind") && error.contains("taken"), "{error}");
        assert_eq!(fs::read_to_string(&path).expect("untouched"), "mine");
        let long = directory.path().join(std::ffi::OsStr::from_bytes(&[b'x'; 120]));
        assert!(listen(&long).expect_err("too long").to_string().contains("use the path"));
        assert_eq!(fs::read_dir(directory.path()).expect("list").count(), 1);
    }

    #[test]
    fn a_name_without_its_listener_is_removed_where_listening_fails() {
        let directory = tempfile::tempdir().expect("directory");
        let path = directory.path().join("relay.sock");
        let socket = UnixListener::bind(&path).expect("bind");
        let name = Name::of(&path).expect("the name that `listen` holds when it fails");
        drop(name);
        drop(socket);
        assert!(!path.exists());
    }
}

//! The relays' Unix sockets of a running launch: found in the launcher's own files, looked at and knocked on.

use std::{
    fs, io,
    os::unix::fs::{FileTypeExt, MetadataExt},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use watertight_reference::launch::socket_directory;
use watertight_reports::evidence::Socket;

use crate::{site::Site, sys};

/// A user of the world that no launch is for.
const OTHER_USER: u32 = 1778;
const PERMISSIONS: u32 = 0o7777;

/// Every socket in the directory of the relays that the process `launcher` holds, which the world's root started or its user.
pub fn look(site: &Site, launcher: i32, as_root: bool) -> io::Result<Vec<Socket>> {
    let directory = socket_directory(launcher as u32)?;
    let owner = if as_root { 0 } else { site.world.agent_owner() };
    let mut sockets = vec![];
    for entry in fs::read_dir(&directory)? {
        let path = entry?.path();
        if fs::symlink_metadata(&path)?.file_type().is_socket() {
            sockets.push(socket(site, launcher, &directory, &path, owner)?);
        }
    }
    sockets.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(sockets)
}

fn socket(site: &Site, launcher: i32, directory: &Path, path: &Path, owner: u32) -> io::Result<Socket> {
    let (file, parent) = (fs::symlink_metadata(path)?, fs::symlink_metadata(directory)?);
    let inside = inside(launcher, path);
    let answers = |uid: u32| sys::connects_as(launcher, uid, &inside);
    Ok(Socket {
        path: path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
        mode: file.mode() & PERMISSIONS,
        changed_after: changed_after(&file),
        directory_mode: parent.mode() & PERMISSIONS,
        owned_by_user: file.uid() == owner && parent.uid() == owner,
        answers_user: answers(owner)?,
        // An ordinary user's world has one user: there is no other to knock as.
        answers_others: if site.world.is_roots() { Some(answers(OTHER_USER)?) } else { None },
    })
}

fn changed_after(file: &fs::Metadata) -> Option<u64> {
    let born = file.created().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    let changed = Duration::new(u64::try_from(file.ctime()).ok()?, u32::try_from(file.ctime_nsec()).ok()?);
    Some(changed.saturating_sub(born).as_micros() as u64)
}

/// The path as the launcher itself sees it.
fn inside(launcher: i32, path: &Path) -> PathBuf {
    path.strip_prefix(format!("/proc/{launcher}/root"))
        .map_or_else(|_| path.to_owned(), |rest| Path::new("/").join(rest))
}

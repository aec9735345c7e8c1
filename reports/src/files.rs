//! Files as programs here read and write them: never without a limit, and never half of one.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use nix::libc;

/// The text of this file, or an error of kind `FileTooLarge`.
pub fn text(path: &Path, limit: u64) -> io::Result<String> {
    read_text(File::open(path)?, limit)
}

/// The same of what is open already.
pub fn read_text(from: impl Read, limit: u64) -> io::Result<String> {
    let mut text = String::new();
    from.take(limit + 1).read_to_string(&mut text)?;
    if text.len() as u64 > limit {
        let shown =
            if limit.is_multiple_of(1 << 20) { format!("{} MiB", limit >> 20) } else { format!("{limit} bytes") };
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {shown}")));
    }
    Ok(text)
}

/// Writes a file, or writes it anew, for good: no name shows half of it, whatever happens meanwhile.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    replace_through(part.as_ref(), path, bytes, Until::OnDisk)
}

/// How far a file must have come before its name shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    Written,
    OnDisk,
}

/// The same, by way of a file elsewhere on the same file system.
pub(crate) fn replace_through(part: &Path, path: &Path, bytes: &[u8], until: Until) -> io::Result<()> {
    let write = || {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o644).custom_flags(libc::O_NOFOLLOW);
        let mut file = options.open(part)?;
        file.write_all(bytes)?;
        if until == Until::OnDisk {
            file.sync_all()?;
        }
        fs::rename(part, path)
    };
    write().inspect_err(|_| {
        // What is half written is of no use to anyone.
        let _ = fs::remove_file(part);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_a_limit() {
        assert_eq!(read_text(&b"1234"[..], 4).expect("short"), "1234");
        let error = read_text(&b"12345"[..], 4).expect_err("long");
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (io::ErrorKind::FileTooLarge, "it has more than 4 bytes")
        );
    }

    #[test]
    fn a_file_is_replaced_whole_and_nothing_else_is_left() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("file");
        replace(&path, b"long before").expect("written");
        replace(&path, b"now").expect("written");
        assert_eq!(fs::read(&path).expect("there"), b"now");
        fs::create_dir(directory.path().join("taken")).expect("made");
        fs::write(directory.path().join("taken/in"), "").expect("written");
        assert!(replace(&directory.path().join("taken"), b"no").is_err());
        assert_eq!(fs::read_dir(directory.path()).expect("there").count(), 2, "no part is left");
    }
}

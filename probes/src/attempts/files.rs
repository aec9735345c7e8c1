//! Files: read one and look for the nonce in it, or write the nonce to one and read it back.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::{FileExt, FileTypeExt, OpenOptionsExt},
};

use sha2::{Digest, Sha256};

use crate::{
    context::{Attempted, Context, Stop, found, refused, silent},
    observation::Facts,
};

/// Most bytes of a file that are read.
const MOST: u64 = 64 * 1024 * 1024;
/// Opened and closed, never written: a byte in one of them acts on the whole machine.
const NEVER_WRITTEN: [&str; 3] = ["core_pattern", "release_agent", "sysrq-trigger"];

/// `Attempt::Read`.
pub fn read(context: &Context<'_>, path: &str) -> Attempted {
    context.step("open");
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOCTTY | libc::O_NONBLOCK)
        .open(path)
        .map_err(refused("open"))?;
    context.step("read");
    let (len, sha256, has_nonce) = digest(file, context.payload().as_bytes()).map_err(refused("read"))?;
    Ok(found(Facts::File { len, sha256, has_nonce }))
}

fn digest(file: File, wanted: &[u8]) -> io::Result<(u64, String, bool)> {
    let mut file = file.take(MOST);
    let mut digest = Sha256::new();
    let (mut len, mut has_it, mut window) = (0, false, Vec::<u8>::new());
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = match file.read(&mut buffer) {
            Ok(0) => return Ok((len, hex::encode(digest.finalize()), has_it)),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        digest.update(&buffer[..read]);
        len += read as u64;
        // The end of the last piece stays, so that a text across two pieces is found.
        window.extend(&buffer[..read]);
        has_it |= window.windows(wanted.len()).any(|bytes| bytes == wanted);
        window.drain(..window.len().saturating_sub(wanted.len() - 1));
    }
}

/// `Attempt::Write`: at the end of what the file held.
pub fn write(context: &Context<'_>, path: &str) -> Attempted {
    context.step("open");
    let never = NEVER_WRITTEN.iter().any(|name| path.rsplit('/').next() == Some(name));
    let file = open_to_write(path, !never).map_err(refused("open"))?;
    if never {
        return Ok(silent("opened, and nothing is ever written to this file"));
    }
    context.step("write");
    let payload = context.payload();
    (&file).write_all(payload.as_bytes()).map_err(refused("write"))?;
    let kind = file.metadata().map_err(refused("fstat"))?.file_type();
    if kind.is_char_device() || kind.is_fifo() || kind.is_socket() {
        return Ok(silent("written"));
    }
    read_back(&file, payload.as_bytes())
}

/// `Attempt::Append`.
pub fn append(context: &Context<'_>, path: &str) -> Attempted {
    context.step("open");
    let mut options = OpenOptions::new();
    options.append(true).custom_flags(libc::O_NOCTTY | libc::O_NONBLOCK);
    let mut file = options.open(path).map_err(refused("open"))?;
    context.step("write");
    file.write_all(format!("{}\n", context.payload()).as_bytes()).map_err(refused("write"))?;
    Ok(silent("write"))
}

fn open_to_write(path: &str, create: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).custom_flags(libc::O_NOCTTY | libc::O_NONBLOCK).mode(0o600);
    // Some files may be written and not read.
    options.clone().read(true).create(create).open(path).or_else(|_| options.create(create).open(path))
}

fn read_back(file: &File, payload: &[u8]) -> Attempted {
    let len = file.metadata().map_err(refused("fstat"))?.len();
    let mut end = vec![0; payload.len()];
    match file.read_exact_at(&mut end, len.saturating_sub(payload.len() as u64)) {
        Ok(()) if end == payload => Ok(found(Facts::Written)),
        Ok(()) => Err(Stop::Refused("pread", libc::EIO)),
        Err(error) if error.raw_os_error() == Some(libc::EBADF) => Ok(silent("written")),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(silent("written")),
        Err(error) => Err(refused("pread")(error)),
    }
}

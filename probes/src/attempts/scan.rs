//! Looks for secrets, known by length and digest alone, in everything that the workload can read.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read},
    os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use super::needles::Finder;
use crate::{
    context::{Attempted, Context, found},
    observation::Facts,
    plan::Needle,
    sys::auxiliary,
    wire,
};

/// Bytes that are looked at in all.
const MOST_BYTES: u64 = 64 * 1024 * 1024;
/// Files that are looked at in all.
const MOST_FILES: u32 = 20_000;
/// Bytes of one file of a process.
const MOST_OF_PROCESS: u64 = 4 * 1024 * 1024;

/// `Attempt::Scan`.
pub fn look(context: &Context<'_>, needles: &[Needle], roots: &[String]) -> Attempted {
    let mut scan = Scan { finder: Finder::new(needles), places: 0, bytes: 0, complete: true };
    context.step("own arguments and environment");
    scan.own_memory();
    context.step("processes");
    scan.processes();
    for root in roots {
        context.step("files");
        scan.files(context, fs::canonicalize(root).unwrap_or_else(|_| root.into()));
    }
    let Scan { finder, places, bytes, complete } = scan;
    Ok(found(Facts::Scanned { found: finder.into_found(), places, bytes, complete }))
}

struct Scan {
    finder: Finder,
    places: u32,
    bytes: u64,
    /// Whether no bound was met.
    complete: bool,
}

impl Scan {
    /// What this process was given, without /proc.
    fn own_memory(&mut self) {
        let arguments = std::env::args_os().map(|argument| argument.into_encoded_bytes());
        self.text("argv", arguments.collect::<Vec<_>>().join(&0));
        self.text("environ", auxiliary::environment().join(&0));
        self.text("auxv", auxiliary::texts().join(&0));
    }

    fn text(&mut self, place: &str, text: Vec<u8>) {
        self.places += 1;
        self.bytes += text.len() as u64;
        self.finder.begin();
        self.finder.look_at(&text, place);
    }

    /// Environment and arguments of every process that is seen.
    fn processes(&mut self) {
        let Ok(entries) = fs::read_dir("/proc") else { return };
        for entry in entries.flatten() {
            let path = entry.path();
            let is_process =
                entry.file_name().to_str().is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
            if is_process {
                self.file(&path.join("environ"), MOST_OF_PROCESS);
                self.file(&path.join("cmdline"), MOST_OF_PROCESS);
            }
        }
    }

    /// Every readable regular file under `root`. Symbolic links are not followed; /proc and /sys are left out.
    fn files(&mut self, context: &Context<'_>, root: PathBuf) {
        let mut waiting = vec![root];
        while let Some(path) = waiting.pop() {
            if path == Path::new("/proc") || path == Path::new("/sys") {
                continue;
            }
            if self.exhausted() || std::time::Instant::now() >= context.until {
                self.complete = false;
                return;
            }
            let Ok(status) = path.symlink_metadata() else { continue };
            if status.is_dir() {
                waiting.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
            } else if status.is_file() && status.size() > 0 && !status.file_type().is_fifo() {
                self.file(&path, MOST_BYTES);
            }
        }
    }

    fn exhausted(&self) -> bool {
        self.bytes >= MOST_BYTES || self.places >= MOST_FILES
    }

    /// A file that cannot be opened or read is none of the workload's.
    fn file(&mut self, path: &Path, most: u64) {
        if self.exhausted() {
            self.complete = false;
            return;
        }
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
        let Ok(file) = OpenOptions::new().read(true).custom_flags(flags).open(path) else { return };
        self.places += 1;
        let place = wire::escape(path.as_os_str().as_encoded_bytes(), 200);
        let most = most.min(MOST_BYTES - self.bytes);
        self.complete &= self.stream(file, &place, most).unwrap_or(true);
    }

    /// Whether the file ended before `most` bytes.
    fn stream(&mut self, mut file: File, place: &str, most: u64) -> io::Result<bool> {
        self.finder.begin();
        let mut buffer = vec![0; 64 * 1024];
        let mut left = most;
        while left > 0 {
            let wanted = buffer.len().min(left as usize);
            let read = file.read(&mut buffer[..wanted])?;
            if read == 0 {
                return Ok(true);
            }
            left -= read as u64;
            self.bytes += read as u64;
            self.finder.look_at(&buffer[..read], place);
        }
        Ok(file.read(&mut buffer[..1])? == 0)
    }
}

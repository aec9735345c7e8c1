//! What the commands write: documents on standard output, words for the user on standard error.

use std::{
    ffi::OsStr,
    fs::{File, OpenOptions},
    io::{self, BufWriter, IsTerminal, Seek, Write},
    path::{Path, PathBuf},
};

use serde::Serialize;
use serde_json::ser::PrettyFormatter;
use watertight_reports::text::Style;

use super::sys;

/// Columns where neither a window nor `COLUMNS` says anything.
const USUAL: usize = 80;
/// Columns at most in a window: longer lines are hard to read. `COLUMNS` may ask for more.
const WIDEST: usize = 120;

/// Writes a document. A reader that has gone away has seen enough.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// A file that takes a document at the end of a run.
#[derive(Debug)]
pub struct Kept {
    path: PathBuf,
    file: File,
}

impl Kept {
    /// Opened before the run, so that no run is lost to a wrong name.
    pub fn open(path: &Path) -> Result<Self, String> {
        // What it holds stays until there is something better.
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path);
        let file = file.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Writes it as JSON in place of what the file held.
    pub fn write(self, document: &impl Serialize) -> Result<(), String> {
        let Self { path, file } = self;
        put(file, document).map_err(|error| format!("cannot write {}: {error}", path.display()))
    }
}

fn put(mut file: File, document: &impl Serialize) -> io::Result<()> {
    // A pipe or a device has no length to cut.
    if file.metadata()?.is_file() {
        file.set_len(0)?;
        file.rewind()?;
    }
    let mut out = BufWriter::new(file);
    document.serialize(&mut serde_json::Serializer::with_formatter(&mut out, PrettyFormatter::new()))?;
    out.write_all(b"\n")?;
    out.flush()
}

/// Tells the user something. Where nobody listens, nothing is lost but the words.
pub fn say(words: &dyn std::fmt::Display) {
    let _ = writeln!(io::stderr(), "watertight: {words}");
}

/// How a document is shown on this standard output.
pub fn style(verbose: bool) -> Style {
    let set = |name| std::env::var_os(name);
    let out = io::stdout();
    let colour = coloured(out.is_terminal(), set("NO_COLOR").as_deref(), set("TERM").as_deref());
    Style { width: width(set("COLUMNS").as_deref(), sys::columns(&out)), colour, verbose }
}

/// Columns of standard error, where progress is shown.
pub fn progress_width() -> usize {
    width(std::env::var_os("COLUMNS").as_deref(), sys::columns(io::stderr()))
}

/// Colours only on a terminal that has them, and never against the user's wish (<https://no-color.org>).
fn coloured(terminal: bool, no_color: Option<&OsStr>, term: Option<&OsStr>) -> bool {
    terminal && no_color.is_none_or(OsStr::is_empty) && term.is_some_and(|term| term != "dumb")
}

fn width(columns: Option<&OsStr>, window: Option<usize>) -> usize {
    let asked = columns.and_then(OsStr::to_str).and_then(|text| text.parse().ok()).filter(|columns| *columns > 0);
    asked.or(window.map(|window| window.min(WIDEST))).unwrap_or(USUAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_for_terminals_that_have_them_and_users_who_want_them() {
        let of = |terminal, no_color: Option<&str>, term: Option<&str>| {
            coloured(terminal, no_color.map(OsStr::new), term.map(OsStr::new))
        };
        assert!(of(true, None, Some("xterm")));
        assert!(of(true, Some(""), Some("xterm")));
        assert!(!of(true, Some("1"), Some("xterm")));
        assert!(!of(true, None, Some("dumb")));
        assert!(!of(true, None, None));
        assert!(!of(false, None, Some("xterm")));
    }

    #[test]
    fn a_document_replaces_what_was_in_its_file() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("evidence.json");
        std::fs::write(&path, "x".repeat(100_000)).expect("written");
        let kept = Kept::open(&path).expect("opens");
        assert_eq!(std::fs::metadata(&path).expect("there").len(), 100_000, "until there is something better");
        kept.write(&[1, 2]).expect("written");
        assert_eq!(std::fs::read_to_string(&path).expect("text"), "[\n  1,\n  2\n]\n");
    }

    #[test]
    fn a_place_that_cannot_be_written_is_refused_before_the_run() {
        let refused = Kept::open(Path::new("/nonexistent/evidence.json")).err();
        assert!(refused.is_some_and(|words| words.starts_with("cannot write /nonexistent/evidence.json: ")));
    }

    #[test]
    fn the_width_is_what_was_asked_for_else_the_windows_else_the_usual_one() {
        let of = |columns: Option<&str>, window| width(columns.map(OsStr::new), window);
        assert_eq!(of(Some("200"), Some(90)), 200);
        assert_eq!(of(Some("x"), Some(90)), 90);
        assert_eq!(of(Some("0"), Some(300)), WIDEST);
        assert_eq!(of(None, None), USUAL);
    }
}

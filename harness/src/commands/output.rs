//! What the commands write: documents on standard output, words for the user on standard error.

use std::{
    ffi::OsStr,
    io::{self, IsTerminal, Write},
};

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
    fn the_width_is_what_was_asked_for_else_the_windows_else_the_usual_one() {
        let of = |columns: Option<&str>, window| width(columns.map(OsStr::new), window);
        assert_eq!(of(Some("200"), Some(90)), 200);
        assert_eq!(of(Some("x"), Some(90)), 90);
        assert_eq!(of(Some("0"), Some(300)), WIDEST);
        assert_eq!(of(None, None), USUAL);
    }
}

//! Lines of a bounded width out of labels and running text: the one place that wraps and paints.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::sanitise;

/// How to show a document to a person. The caller decides by terminal, window and `NO_COLOR`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns; lines are wrapped to it. Values below 40 count as 40.
    pub width: usize,
    /// ANSI colours, never the only carrier of meaning.
    pub colour: bool,
    /// Each check by itself, also those that passed, and every attempt of those that did not.
    pub verbose: bool,
}

impl Default for Style {
    fn default() -> Self {
        Self { width: 80, colour: false, verbose: false }
    }
}

/// Why a piece of text stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Good,
    Bad,
    Doubtful,
    Strong,
    Faint,
}

/// A document that grows by blocks.
pub(crate) struct Page {
    pub style: Style,
    text: String,
}

/// Narrower windows get lines that are too long rather than columns of single words.
const NARROWEST: usize = 40;
/// Columns that running text has beside its label at least.
const LEAST: usize = 12;

impl Page {
    pub fn new(style: &Style) -> Self {
        Self { style: Style { width: style.width.max(NARROWEST), ..*style }, text: String::new() }
    }

    /// One empty line, and never two.
    pub fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// One line that is never wrapped.
    pub fn line(&mut self, tone: Tone, text: &str) {
        let line = self.painted(tone, &defused(text.to_owned()));
        self.text.push_str(&line);
        self.text.push('\n');
    }

    /// Running text in one tone.
    pub fn paragraph(&mut self, indent: usize, tone: Tone, text: &str) {
        for line in wrap(text, self.room(indent)) {
            let line = self.painted(tone, &defused(line));
            self.text.push_str(&" ".repeat(indent));
            self.text.push_str(&line);
            self.text.push('\n');
        }
    }

    /// A label of ours and running text beside it, wrapped under itself.
    pub fn labelled(&mut self, indent: usize, (label, tone): (&str, Tone), text: &str) {
        let hanging = indent + label.width();
        self.hanging(indent, (label, tone), hanging, text);
    }

    /// As [`Self::labelled`], with further lines at a column of the caller's choice.
    pub fn hanging(&mut self, indent: usize, (label, tone): (&str, Tone), hanging: usize, text: &str) {
        let first = self.room(indent + label.width());
        let mut lines = wrap_from(text, first, self.room(hanging)).into_iter();
        let line = lines.next().unwrap_or_default();
        let head = self.painted(tone, if line.is_empty() { label.trim_end() } else { label });
        self.text.push_str(&" ".repeat(indent));
        self.text.push_str(&head);
        self.text.push_str(&line);
        self.text.push('\n');
        for line in lines {
            self.text.push_str(&" ".repeat(hanging));
            self.text.push_str(&defused(line));
            self.text.push('\n');
        }
    }

    /// A command line as a shell reads it, over as many lines as it takes. Where no shell can read it, it is shown in words.
    pub fn command(&mut self, indent: usize, words: &[String]) {
        let harmless = |word: &&String| sanitise::text(word.as_str(), usize::MAX) == **word;
        let quoted = words.iter().map(|word| Some(word).filter(harmless).and_then(|word| shlex::try_quote(word).ok()));
        let Some(quoted) = quoted.collect::<Option<Vec<_>>>() else {
            return self.paragraph(indent, Tone::Plain, &sanitise::text(words.join(" "), sanitise::LIMIT));
        };
        let (further, last) = (indent + 2, quoted.len().saturating_sub(1));
        let mut line = " ".repeat(indent);
        for (index, word) in quoted.iter().enumerate() {
            let more = if index == last { 0 } else { 2 };
            if index > 0 && line.width() + 1 + word.width() + more > self.style.width {
                self.text.push_str(&line);
                self.text.push_str(" \\\n");
                line = format!("{}{word}", " ".repeat(further));
            } else {
                line.push_str(if index == 0 { "" } else { " " });
                line.push_str(word);
            }
        }
        self.text.push_str(&line);
        self.text.push('\n');
    }

    pub fn finish(self) -> String {
        self.text
    }

    fn room(&self, taken: usize) -> usize {
        self.style.width.saturating_sub(taken).max(LEAST)
    }

    fn painted(&self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Good => "32",
            Tone::Bad => "1;31",
            Tone::Doubtful => "33",
            Tone::Strong => "1",
            Tone::Faint => "2",
            Tone::Plain => return text.to_owned(),
        };
        if self.style.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// A line that starts with `::`, blanks aside, is a command to some log processors.
fn defused(line: String) -> String {
    match line.strip_prefix("::") {
        Some(rest) => format!(":\\x3a{rest}"),
        None => line,
    }
}

/// Text cut to a number of columns, with a mark where it was cut.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let (head, _) = split_at_column(text, width.saturating_sub(1));
    format!("{}…", head.trim_end())
}

pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

fn wrap(text: &str, width: usize) -> Vec<String> {
    wrap_from(text, width, width)
}

/// Breaks at spaces, and within a word only where it is longer than a line.
fn wrap_from(text: &str, first: usize, others: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![];
    let mut line = String::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let mut word = word;
        loop {
            let width = if lines.is_empty() { first } else { others };
            let space = usize::from(!line.is_empty());
            if line.width() + space + word.width() <= width {
                line.push_str(if space == 1 { " " } else { "" });
                line.push_str(word);
                break;
            }
            if line.is_empty() {
                let (head, tail) = split_at_column(word, width);
                lines.push(head.to_owned());
                word = tail;
            } else {
                lines.push(std::mem::take(&mut line));
            }
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// The longest head that fits, at least one character of it.
fn split_at_column(text: &str, width: usize) -> (&str, &str) {
    let mut taken = 0;
    for (at, character) in text.char_indices() {
        taken += character.width().unwrap_or(0);
        if taken > width && at > 0 {
            return text.split_at(at);
        }
    }
    (text, "")
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_shell_reads_a_command_as_the_words_that_it_was() {
        let words =
            ["printf", "%s.", "plain", "two words", "{probe}", "$HOME", "it's", "a\"b", "", "-x", "*", "é", "c;d"];
        for width in [40, 60, 200] {
            let mut page = Page::new(&Style { width, ..Style::default() });
            page.command(4, &words.map(str::to_owned));
            let text = page.finish();
            assert!(text.lines().all(|line| line.width() <= width), "{text}");
            let output = Command::new("sh").args(["-c", &text]).output().expect("a shell");
            let expected: String = words[2..].iter().map(|word| format!("{word}.")).collect();
            assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{text}");
        }
    }

    #[test]
    fn what_would_do_something_to_a_terminal_is_no_command() {
        for hostile in ["a\nrm -rf x", "a\u{1b}[2J", "a\0b", "a\u{202e}b"] {
            let mut page = Page::new(&Style::default());
            page.command(0, &["echo".to_owned(), hostile.to_owned()]);
            let text = page.finish();
            assert!(text.lines().count() == 1 && text.is_ascii(), "{text:?}");
        }
    }

    #[test]
    fn lines_keep_to_the_width_and_lose_no_word() {
        let text = "a line of words and one averyveryverylongwordthatfitsonnoline and 日本語日本語日本語日本語 end";
        for width in 8..40 {
            let lines = wrap(text, width);
            assert!(lines.iter().all(|line| line.width() <= width), "{lines:?}");
            let joined: String = lines.concat().replace(' ', "");
            assert_eq!(joined, text.replace(' ', ""));
        }
    }

    #[test]
    fn no_wrapped_line_starts_a_command_of_a_log_processor() {
        for width in 40..80 {
            let mut page = Page::new(&Style { width, ..Style::default() });
            let text = "some words that fill the line ::error file=x::y and others ::add-mask::z and so on";
            page.labelled(4, ("inside   ", Tone::Plain), text);
            page.paragraph(2, Tone::Plain, "::warning::first");
            let text = page.finish();
            assert!(text.contains(":\\x3awarning"), "{text}");
            assert!(text.lines().all(|line| !line.trim_start().starts_with("::")), "{text}");
        }
    }

    #[test]
    fn a_cut_is_marked_and_fits() {
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("a bit longer", 6), "a bit…");
        assert_eq!(cut("日本語", 5), "日本…");
    }

    #[test]
    fn colours_are_written_on_request_only() {
        for colour in [false, true] {
            let mut page = Page::new(&Style { colour, ..Style::default() });
            page.labelled(0, ("FAIL  ", Tone::Bad), "x");
            assert_eq!(page.finish().contains('\x1b'), colour);
        }
    }
}

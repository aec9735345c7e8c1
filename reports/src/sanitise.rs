//! Text out of a sandbox made safe to show: once, where it enters the model.
//!
//! What stays is printable and has a width of its own. The rest becomes `\xNN` (bytes, ASCII controls) or `\u{…}`.
//! A backslash stays itself, so that text which is already escaped keeps its meaning and a second pass changes nothing.

use std::collections::BTreeMap;

use crate::{
    matrix::{Ablation, Double, Harness, Matrix, Summary},
    mutants::Mutant,
    results::{CheckResult, Counts, Fact, Results, Seeing, Target},
};

/// Longest free text of the model, in characters: some screens, never a megabyte.
pub const LIMIT: usize = 2_000;
/// Longest name: ids, slugs, words.
pub const NAME_LIMIT: usize = 200;
/// Room for the mark of a cut.
const MARK: usize = 32;

/// Makes hostile bytes one line of printable text of at most `limit` characters (and never less than the mark of a
/// cut needs). A cut is visible and says how many bytes of the input are missing.
pub fn text(bytes: impl AsRef<[u8]>, limit: usize) -> String {
    let bytes = bytes.as_ref();
    let mut out = Capped::new(bytes.len(), limit);
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            if !out.character(character) {
                return out.cut();
            }
        }
        for byte in chunk.invalid() {
            if !out.push(&format!("\\x{byte:02x}"), 1) {
                return out.cut();
            }
        }
    }
    out.text
}

/// Applies [`text`] to every text of the document.
pub fn results(results: &mut Results) {
    // Destructured whole, so that a new field cannot be forgotten here.
    let Results {
        schema,
        spec,
        target: Target { name, version, route, launched_as, argv },
        profile,
        status: _,
        counts: Counts { pass: _, fail: _, inconclusive: _, not_applicable: _, harness_error: _, should_fail: _ },
        untestable,
        checks,
        sensitivity,
        environment,
        started_at,
        wall_ms: _,
    } = results;
    for word in [schema, spec, name, route, launched_as, profile, started_at] {
        clean(word, NAME_LIMIT);
    }
    clean(version, LIMIT);
    all(argv, LIMIT);
    all(untestable, NAME_LIMIT);
    for check in checks {
        self::check(check);
    }
    for mutant in sensitivity {
        self::mutant(mutant);
    }
    *environment = std::mem::take(environment)
        .into_iter()
        .map(|(key, fact)| {
            let fact = match fact {
                Fact::Known(value) => Fact::Known(text(value, LIMIT)),
                Fact::Unavailable(why) => Fact::Unavailable(text(why, LIMIT)),
            };
            (text(key, NAME_LIMIT), fact)
        })
        .collect();
}

/// Applies [`text`] to every text of a kill matrix.
pub fn matrix(matrix: &mut Matrix) {
    let Matrix {
        schema,
        spec,
        harness: Harness { version, sha256, mutants_sha256 },
        kernel,
        identity,
        full: _,
        started_at,
        wall_ms: _,
        mutants,
        doubles,
        ablation,
        summary:
            Summary {
                mutants: _,
                killed: _,
                survived: _,
                collateral: _,
                unclear: _,
                void: _,
                failed: _,
                distinct: _,
                doubles: _,
                doubles_right: _,
            },
    } = matrix;
    for word in [schema, spec, version, sha256, mutants_sha256, kernel, identity, started_at] {
        clean(word, NAME_LIMIT);
    }
    mutants.iter_mut().for_each(mutant);
    for Double { name, expected, right: _, passed, failed, unclear, error } in doubles {
        clean(name, NAME_LIMIT);
        clean(expected, LIMIT);
        for ids in [passed, failed, unclear] {
            all(ids, NAME_LIMIT);
        }
        if let Some(error) = error {
            clean(error, LIMIT);
        }
    }
    if let Some(Ablation { parts: _, needed: _, spared: _, unexplained, stale }) = ablation {
        all(unexplained, NAME_LIMIT);
        all(stale, NAME_LIMIT);
    }
}

/// Applies [`text`] to every text of one result.
pub fn check(check: &mut CheckResult) {
    let CheckResult {
        id,
        slug,
        level: _,
        subject: _,
        verdict: _,
        reason,
        seen: _,
        control: _,
        observations,
        witness,
        mutants,
        duration_us: _,
    } = check;
    clean(id, NAME_LIMIT);
    clean(slug, NAME_LIMIT);
    all(reason, LIMIT);
    all(witness, LIMIT);
    all(mutants, NAME_LIMIT);
    for Seeing { attempt, inside, outside, control, outcome: _ } in observations {
        clean(attempt, NAME_LIMIT);
        for free in [inside, outside, control] {
            clean(free, LIMIT);
        }
    }
}

/// Applies [`text`] to every text of one mutant.
fn mutant(mutant: &mut Mutant) {
    let Mutant { slug, sentence, status: _, kills, reasons, expected, unclear, checked: _, micros: _, error } = mutant;
    clean(slug, NAME_LIMIT);
    clean(sentence, LIMIT);
    all(kills, NAME_LIMIT);
    all(expected, NAME_LIMIT);
    all(unclear, LIMIT);
    if let Some(error) = error {
        clean(error, LIMIT);
    }
    let cleaned = |(id, why): (String, String)| (text(id, NAME_LIMIT), text(why, LIMIT));
    *reasons = std::mem::take(reasons).into_iter().map(cleaned).collect::<BTreeMap<_, _>>();
}

fn all(texts: &mut [String], limit: usize) {
    for one in texts {
        clean(one, limit);
    }
}

fn clean(field: &mut String, limit: usize) {
    *field = text(&*field, limit);
}

/// Output that remembers where it can still be cut with room for the mark.
struct Capped {
    text: String,
    characters: usize,
    limit: usize,
    /// Bytes of the input, all of it and already shown.
    total: usize,
    used: usize,
    /// Length of `text` and of the used input at the last place with room for the mark.
    keep: (usize, usize),
}

impl Capped {
    fn new(total: usize, limit: usize) -> Self {
        Self { text: String::new(), characters: 0, limit: limit.max(MARK), total, used: 0, keep: (0, 0) }
    }

    fn character(&mut self, character: char) -> bool {
        let size = character.len_utf8();
        if commands_a_runner(&self.text, character) {
            return self.push(&format!("\\x{:02x}", u32::from(character)), size);
        }
        if is_plain(character) {
            return self.push(character.encode_utf8(&mut [0; 4]), size);
        }
        let code = u32::from(character);
        let escaped = if character.is_ascii() { format!("\\x{code:02x}") } else { format!("\\u{{{code:x}}}") };
        self.push(&escaped, size)
    }

    /// False where it does not fit.
    fn push(&mut self, piece: &str, input: usize) -> bool {
        self.characters += piece.chars().count();
        if self.characters > self.limit {
            return false;
        }
        self.text.push_str(piece);
        self.used += input;
        if self.characters <= self.limit - MARK {
            self.keep = (self.text.len(), self.used);
        }
        true
    }

    fn cut(mut self) -> String {
        let (len, used) = self.keep;
        self.text.truncate(len);
        self.text.push_str(&format!("… [{} more bytes]", self.total - used));
        self.text
    }
}

/// Log processors of CI services obey `::command::` at the start of a line (spaces before it do not help) and
/// `##[command]`, `##vso[…]`, `##teamcity[…]` anywhere. Neither can be formed out of a sandbox's text.
fn commands_a_runner(before: &str, character: char) -> bool {
    match character {
        '#' => before.ends_with('#'),
        ':' => before.trim_start_matches(' ') == ":",
        _ => false,
    }
}

/// Printable, with a width of its own, and not a blank in disguise.
///
/// The standard library's table of what `{:?}` escapes holds controls, bidi and other format characters, zero-width
/// ones, all blanks but the space, combining marks, private and unassigned code points.
fn is_plain(character: char) -> bool {
    match character {
        '"' | '\'' | '\\' => true,
        // Letters and a symbol by category, nothing at all to the eye.
        '\u{115f}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}' => false,
        _ => character.escape_debug().len() == 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn printable_text_of_every_script_stays() {
        for plain in
            ["read 3 bytes: \"ok\"", "größer", "日本語", "файл", "👍", "a\\x1bb", "</script><img onerror>", "]]>"]
        {
            assert_eq!(text(plain, 100), plain);
        }
    }

    #[test]
    fn what_moves_hides_or_breaks_text_becomes_visible() {
        for (hostile, shown) in [
            ("a\0b", "a\\x00b"),
            ("a\nb\r\tc", "a\\x0ab\\x0d\\x09c"),
            ("\x1b[31mred", "\\x1b[31mred"),
            ("\x1b]8;;http://x\x07y", "\\x1b]8;;http://x\\x07y"),
            ("\u{9b}2J\u{85}", "\\u{9b}2J\\u{85}"),
            ("abc\u{202e}cba\u{2066}", "abc\\u{202e}cba\\u{2066}"),
            ("pa\u{200b}ss\u{feff}", "pa\\u{200b}ss\\u{feff}"),
            ("a\u{2028}b\u{a0}c", "a\\u{2028}b\\u{a0}c"),
            ("e\u{301}", "e\\u{301}"),
            ("\u{3164}\u{2800}", "\\u{3164}\\u{2800}"),
            ("\u{e0041}\u{e000}", "\\u{e0041}\\u{e000}"),
        ] {
            assert_eq!(text(hostile, 100), shown);
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_shown_as_bytes() {
        assert_eq!(text(b"a\xff\xed\xa0\x80b", 100), "a\\xff\\xed\\xa0\\x80b");
    }

    #[test]
    fn commands_of_log_processors_cannot_be_formed() {
        assert_eq!(text("::error file=x::y", 100), ":\\x3aerror file=x::y");
        assert_eq!(text("  ::stop-commands::t", 100), "  :\\x3astop-commands::t");
        assert_eq!(text("x ##[error]y ##vso[z", 100), "x #\\x23[error]y #\\x23vso[z");
        assert_eq!(text("at 2001:db8::1 # SKIP", 100), "at 2001:db8::1 # SKIP");
    }

    #[test]
    fn a_megabyte_is_cut_with_a_mark_and_within_the_limit() {
        let cut = text("x".repeat(1 << 20), 100);
        assert_eq!(cut, format!("{}… [1048508 more bytes]", "x".repeat(68)));
        let escaped = text(vec![0xff; 1 << 20], LIMIT);
        assert!(escaped.chars().count() <= LIMIT);
        assert!(escaped.ends_with("more bytes]"));
        assert_eq!(text("x".repeat(100), 100), "x".repeat(100));
    }

    #[test]
    fn a_second_pass_changes_nothing() {
        for hostile in &testing::hostile() {
            let once = text(hostile, LIMIT);
            assert_eq!(text(&once, LIMIT), once);
        }
        let once = text("\u{202e}".repeat(5_000), LIMIT);
        assert_eq!(text(&once, LIMIT), once);
    }

    #[test]
    fn no_text_field_of_the_document_escapes_it() {
        for hostile in &testing::hostile() {
            let mut document = testing::every_text(hostile);
            results(&mut document);
            let value = serde_json::to_value(&document).expect("serialisable");
            // Names and free text are the only strings there are; each must be what `text` makes of it.
            testing::each_string(&value, &mut |string| {
                assert!(
                    string == &text(hostile, LIMIT) || string == &text(hostile, NAME_LIMIT) || testing::is_word(string),
                    "{string}"
                );
            });
        }
    }
}

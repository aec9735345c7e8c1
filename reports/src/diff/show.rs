//! A comparison for people: what is worse comes first.

use super::{Change, Diff, Side};
use crate::page::{Page, Style, Tone};

/// Column of what belongs to a change.
const BODY: usize = 6;

/// The comparison as text.
pub fn render(diff: &Diff, style: &Style) -> String {
    let mut page = Page::new(style);
    let (tone, words) = match diff.regressions.len() {
        0 => (Tone::Good, "nothing became worse".to_owned()),
        1 => (Tone::Bad, "1 thing became worse".to_owned()),
        number => (Tone::Bad, format!("{number} things became worse")),
    };
    page.line(tone, &words);
    page.gap();
    side(&mut page, "before", &diff.before);
    side(&mut page, "after", &diff.after);
    section(&mut page, "Worse", Tone::Bad, &diff.regressions);
    section(&mut page, "Different", Tone::Strong, &diff.changes);
    page.finish()
}

fn side(page: &mut Page, label: &str, side: &Side) {
    let text = format!("{} ({}), {}: {}", side.target, side.version, side.started_at, side.status_line);
    page.labelled(2, (&format!("{label:<8}"), Tone::Faint), &text);
}

fn section(page: &mut Page, title: &str, tone: Tone, changes: &[Change]) {
    if changes.is_empty() {
        return;
    }
    page.gap();
    page.line(Tone::Strong, title);
    for change in changes {
        page.hanging(2, (&format!("{}  ", change.kind.words()), tone), BODY, &change.of);
        page.paragraph(BODY, Tone::Plain, &format!("{} → {}", change.before, change.after));
    }
}

//! What the attempts of one requirement came to through a command line, inside and outside. It holds no verdict.

use crate::{
    page::{Page, Style, Tone},
    sanitise,
};

/// Column of what belongs to a launch, and to an attempt of it.
const ATTEMPT: usize = 2;
const BODY: usize = 11;

/// One launch of the command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launched {
    pub id: String,
    pub attempts: Vec<Tried>,
    /// What else was seen of it from outside, a line each.
    pub outside: Vec<String>,
    /// How it ended, and its last words on standard error.
    pub end: String,
    /// What kept the probe from telling everything.
    pub trouble: Vec<String>,
}

/// One attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    pub id: String,
    pub inside: String,
    pub outside: String,
}

/// The launches as text, under what was tried and the command line.
pub fn render(title: &str, command: &[String], launches: &[Launched], style: &Style) -> String {
    let mut page = Page::new(style);
    page.paragraph(0, Tone::Strong, &shown(title));
    page.command(2, command);
    for launch in launches {
        page.gap();
        page.paragraph(0, Tone::Plain, &shown(&launch.id));
        for tried in &launch.attempts {
            page.paragraph(ATTEMPT, Tone::Plain, &shown(&tried.id));
            labelled(&mut page, "inside", &tried.inside);
            labelled(&mut page, "outside", &tried.outside);
        }
        for line in &launch.outside {
            labelled(&mut page, "seen", line);
        }
        for line in &launch.trouble {
            labelled(&mut page, "trouble", line);
        }
        labelled(&mut page, "end", &launch.end);
    }
    page.finish()
}

fn labelled(page: &mut Page, label: &str, text: &str) {
    page.hanging(ATTEMPT, (&format!("{label:<9}"), Tone::Faint), BODY, &shown(text));
}

fn shown(text: &str) -> String {
    sanitise::text(text, sanitise::LIMIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_of_every_attempt_are_told_and_hostile_text_stays_text() {
        let tried = Tried { id: "name".into(), inside: "read \u{1b}[2J".into(), outside: "nothing".into() };
        let launched = Launched {
            id: "target".into(),
            attempts: vec![tried],
            outside: vec!["left: process 7 x".into()],
            end: "status 0".into(),
            trouble: vec!["no hello".into()],
        };
        let text = render("EGRESS-1 is tried through", &["x".into()], &[launched], &Style::default());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..5], ["EGRESS-1 is tried through", "  x", "", "target", "  name"], "{text}");
        for line in ["  outside  nothing", "  seen     left: process 7 x", "  trouble  no hello", "  end      status 0"]
        {
            assert!(lines.contains(&line), "{text}");
        }
        assert!(lines[5].starts_with("  inside   read ") && !text.contains('\u{1b}'), "{text}");
    }
}

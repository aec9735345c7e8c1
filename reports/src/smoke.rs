//! What a first try of a manifest showed, step by step. It holds no verdict.

use crate::{
    page::{Page, Style, Tone},
    sanitise,
};

/// Column of what belongs to a step.
const BODY: usize = 10;

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub holds: bool,
    /// What must hold.
    pub what: &'static str,
    /// What was found. It may quote the target.
    pub found: String,
}

impl Step {
    pub fn holds(what: &'static str, found: String) -> Self {
        Self { holds: true, what, found }
    }

    pub fn broken(what: &'static str, found: String) -> Self {
        Self { holds: false, what, found }
    }
}

/// The steps as text.
pub fn render(target: &str, steps: &[Step], style: &Style) -> String {
    let mut page = Page::new(style);
    let works = steps.iter().all(|step| step.holds);
    let (tone, words) = if works {
        (Tone::Good, format!("{target} works: this is no verdict, and `watertight check` gives one"))
    } else {
        (Tone::Bad, format!("{target} does not work yet"))
    };
    page.paragraph(0, tone, &sanitise::text(words, sanitise::LIMIT));
    page.gap();
    for step in steps {
        let (label, tone) = if step.holds { ("ok", Tone::Good) } else { ("BROKEN", Tone::Bad) };
        page.hanging(2, (&format!("{label:<8}"), tone), BODY, step.what);
        page.paragraph(BODY, Tone::Faint, &sanitise::text(&step.found, sanitise::LIMIT));
    }
    page.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_broken_step_is_said_in_the_first_line() {
        let steps =
            [Step::holds("the probe answers", "yes".into()), Step::broken("a path works", "\u{1b}[2Jno".into())];
        let text = render("mine", &steps, &Style::default());
        assert!(text.starts_with("mine does not work yet\n\n  ok "), "{text}");
        assert!(text.contains("BROKEN") && !text.contains('\u{1b}'), "{text}");
        assert!(render("mine", &steps[..1], &Style::default()).starts_with("mine works"));
    }
}

//! Broken sandboxes and what caught each: what is not as it must be comes first.

use super::ids;
use crate::{
    mutants::{Fate, Mutant},
    page::{Page, Style, Tone},
};

/// Column of what belongs to a mutant.
const BODY: usize = 6;

/// The same as a text of its own, the worst first.
pub fn render(mutants: &[Mutant], style: &Style) -> String {
    let mut mutants = mutants.to_vec();
    mutants.sort_by_key(|mutant| mutant.status);
    let mut page = Page::new(style);
    list(&mut page, &mutants);
    page.finish()
}

pub(super) fn list(page: &mut Page, mutants: &[Mutant]) {
    let (caught, other): (Vec<&Mutant>, Vec<&Mutant>) =
        mutants.iter().partition(|mutant| mutant.status == Fate::Killed);
    for mutant in other {
        uncaught(page, mutant);
    }
    let widest = caught.iter().map(|mutant| mutant.slug.len()).max().unwrap_or(0);
    for mutant in caught {
        let label = format!("{:<widest$}  ", mutant.slug);
        page.labelled(2, (&label, Tone::Good), &ids::in_order(mutant.kills.iter().map(String::as_str)));
        if page.style.verbose {
            page.paragraph(BODY, Tone::Plain, &mutant.sentence);
        }
    }
}

fn uncaught(page: &mut Page, mutant: &Mutant) {
    let label = format!("{}  ", mutant.status.name().to_uppercase());
    page.hanging(2, (&label, Tone::Bad), BODY, &format!("{}: {}", mutant.slug, mutant.sentence));
    if let Some(error) = &mutant.error {
        row(page, "why", error);
        return;
    }
    let missed: Vec<_> = mutant.missed().collect();
    if !missed.is_empty() {
        row(page, "did not fail", &ids::in_order(missed));
    }
    for id in mutant.collateral() {
        let reason = mutant.reasons.get(id).map_or("", String::as_str);
        row(page, "must not fail", &format!("{id}: {reason}"));
    }
    for unclear in &mutant.unclear {
        row(page, "not judged", unclear);
    }
}

fn row(page: &mut Page, label: &str, text: &str) {
    page.labelled(BODY, (&format!("{label:<15}"), Tone::Faint), text);
}

//! The edits of a target that open it: how many were caught, and what was not, first.

use super::ids;
use crate::{
    mutants::{Fate, Mutant},
    page::{Page, Tone},
    results::Results,
    words,
};

/// Column of what belongs to an edit.
const BODY: usize = 6;

/// Among the first lines, what was not caught: the passes above mean less then.
pub(super) fn first(page: &mut Page, results: &Results) {
    let uncaught: Vec<_> = results.uncaught().map(|mutant| mutant.slug.as_str()).collect();
    if !uncaught.is_empty() {
        let edits = words::number(results.sensitivity.len(), "edit");
        let text = format!(
            "Its passes say less than they seem to: of {edits} that open it, {} not caught as declared: {}.",
            match uncaught.len() {
                1 => "1 was".to_owned(),
                more => format!("{more} were"),
            },
            uncaught.join(", ")
        );
        page.paragraph(0, Tone::Bad, &text);
    }
}

/// Every edit, where any was run.
pub(super) fn write(page: &mut Page, results: &Results) {
    let all = results.sensitivity.len();
    if all == 0 {
        return;
    }
    let caught = all - results.uncaught().count();
    page.gap();
    let heading = format!("Sensitivity: {caught} of {all} edits of this target were caught by exactly their checks");
    page.paragraph(0, Tone::Strong, &heading);
    for mutant in results.uncaught() {
        uncaught(page, mutant);
    }
    let caught: Vec<_> = results.sensitivity.iter().filter(|mutant| mutant.status == Fate::Killed).collect();
    let widest = caught.iter().map(|mutant| mutant.slug.len()).max().unwrap_or(0);
    for mutant in caught {
        let label = format!("{:<widest$}  ", mutant.slug);
        page.labelled(2, (&label, Tone::Good), &in_order(mutant.kills.iter().map(String::as_str)));
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
        row(page, "did not fail", &in_order(missed));
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

/// Ids in the order of their numbers, in few words.
fn in_order<'a>(ids: impl IntoIterator<Item = &'a str>) -> String {
    let mut ids: Vec<&str> = ids.into_iter().collect();
    ids.sort_by_key(|id| id.split_once('-').map(|(area, number)| (area, number.parse::<u32>().unwrap_or(0))));
    ids::compact(ids)
}

#[cfg(test)]
mod tests {
    use crate::{
        mutants::Fate,
        results::Results,
        testing,
        text::{Style, render},
    };

    fn text(results: &Results) -> String {
        render(results, |_| None, &Style::default())
    }

    #[test]
    fn what_was_not_caught_stands_in_the_first_lines_and_before_what_was() {
        let mut results = testing::green();
        results.sensitivity = testing::edits();
        insta::assert_snapshot!(text(&results));
        assert_eq!(results.exit_code(), 3, "its verdict stays, and nobody takes it for a plain success");
    }

    #[test]
    fn where_all_were_caught_the_status_is_untouched() {
        let mut results = testing::green();
        results.sensitivity = testing::edits();
        results.sensitivity.retain(|mutant| mutant.status == Fate::Killed);
        assert_eq!(results.exit_code(), 0);
        let text = text(&results);
        assert!(text.contains("\nSensitivity: 1 of 1 edits") && !text.contains("say less"), "{text}");
        assert!(text.contains("\n  share-network  EGRESS-1..2, EGRESS-10\n"), "{text}");
    }

    #[test]
    fn a_failure_outweighs_an_edit_that_was_not_caught() {
        let mut results = testing::vsock_failed();
        results.sensitivity = testing::edits();
        assert_eq!(results.exit_code(), 1);
    }

    #[test]
    fn a_run_without_edits_says_nothing_of_them() {
        assert!(!text(&testing::green()).contains("ensitivity"));
    }
}

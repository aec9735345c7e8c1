//! The edits of a target that open it: how many were caught, and what was not, first.

use super::mutants;
use crate::{
    page::{Page, Tone},
    results::Results,
    words,
};

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
    mutants::list(page, &results.sensitivity);
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

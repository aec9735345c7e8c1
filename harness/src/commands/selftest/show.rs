//! What a selftest shows: progress on standard error, then the matrix: what is wrong first.

use std::sync::Mutex;

use watertight_reports::{
    matrix::Matrix,
    progress::Progress,
    text::{Style, in_order, mutants},
};

use crate::commands::output;

/// What is done so far. A log has a line for what is wrong, and for every tenth.
pub struct Done {
    progress: Mutex<(Progress, usize)>,
}

impl Done {
    pub fn new(quiet: bool) -> Self {
        Self { progress: Mutex::new((Progress::stderr(quiet, output::progress_width()), 0)) }
    }

    /// A mutant or double is done, and became this.
    pub fn one(&self, name: &str, what: &str, right: bool) {
        // No thread panics with the lock.
        let Ok(mut progress) = self.progress.lock() else { return };
        let (progress, done) = &mut *progress;
        *done += 1;
        let words = format!("{done} done: {name} {what}");
        if !right {
            progress.say(&words);
        } else if done.is_multiple_of(10) {
            progress.stage(&words, 0);
        } else {
            progress.step(&words);
        }
    }
}

pub fn text(matrix: &Matrix, style: &Style) -> String {
    let summary = &matrix.summary;
    let mut text = format!(
        "{}: {} of {} mutants killed by exactly their checks ({} kill sets), {} survived, {} collateral, {} unclear, \
         {} void, {} failed\n",
        if matrix.is_exact() { "exact" } else { "not exact" },
        summary.killed,
        summary.mutants,
        summary.distinct,
        summary.survived,
        summary.collateral,
        summary.unclear,
        summary.void,
        summary.failed,
    );
    text.push_str(&format!(
        "as {}; {}; {} ms\n",
        matrix.identity,
        if matrix.full {
            "every check on every mutant, and ROUTE-5 where anything listens beside the routes"
        } else {
            "each with its checks and a sample of the others"
        },
        matrix.wall_ms
    ));
    if let Some(ablation) = &matrix.ablation {
        text.push_str(&format!(
            "{} attempts and launches put out of action in turn: without {} a mutant survives, {} are spared with a reason\n",
            ablation.parts, ablation.needed, ablation.spared
        ));
        for (what, parts) in
            [("no mutant needs it", &ablation.unexplained), ("a reason for what is needed", &ablation.stale)]
        {
            for part in parts {
                text.push_str(&format!("  {part}: {what}\n"));
            }
        }
    }
    for double in &matrix.doubles {
        let error = double.error.as_ref().map_or(String::new(), |error| format!(": {error}"));
        let right = if double.right { "right" } else { "WRONG" };
        text.push_str(&format!("  {right}  {} {}{error}\n", double.name, double.expected));
        if !double.right {
            text.push_str(&format!("    passed {}\n", in_order(double.passed.iter().map(String::as_str))));
        }
    }
    text.push('\n');
    text + &mutants::render(&matrix.mutants, style)
}

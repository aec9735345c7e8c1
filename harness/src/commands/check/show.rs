//! What a run shows: progress on standard error, each target's document on standard output, and the exit status.

use std::io::{self, IsTerminal};

use watertight_reports::{progress::Progress, render::Format, results::Results, text};

use super::{
    Chosen, expect,
    jobs::Outcome,
    output::{self, say},
    reports::{self, Reports},
    stages::{Stages, Step},
};
use crate::{
    catalogue::Catalogue,
    commands::{HARNESS_ERROR, INCOMPLETE, file::Output, line},
    outcome,
    suite::suite,
    target::Target,
};

/// Collects what the jobs bring and shows it in the order in which the targets were named.
pub struct Show<'a> {
    line: &'a line::Check,
    catalogue: &'a Catalogue,
    progress: Option<Progress>,
    stages: Option<Stages>,
    outcomes: Vec<Option<Outcome>>,
    shown: usize,
    worst: u8,
    evidence: Option<Output>,
    reports: Option<Reports>,
}

impl<'a> Show<'a> {
    pub fn new(
        line: &'a line::Check,
        catalogue: &'a Catalogue,
        targets: usize,
        evidence: Option<Output>,
        reports: Reports,
    ) -> Self {
        let reports = Some(reports);
        let progress = Some(Progress::stderr(line.quiet, output::progress_width()));
        let outcomes = (0..targets).map(|_| None).collect();
        Self { line, catalogue, progress, stages: None, outcomes, shown: 0, worst: 0, evidence, reports }
    }

    /// A target has reached this stage.
    pub fn stage(&mut self, Chosen { target, checks, .. }: &Chosen, message: &str) {
        let stages = self.stages.get_or_insert_with(|| Stages::new(checks, io::stderr().is_terminal()));
        let Some(progress) = &mut self.progress else { return };
        match stages.reached(&target.name, message) {
            Step::Stage(words, total) => progress.stage(&words, total),
            Step::Launch => progress.launched(),
        }
    }

    pub fn tick(&mut self) {
        if let Some(progress) = &mut self.progress {
            progress.tick();
        }
    }

    /// A target is done.
    pub fn done(&mut self, index: usize, target: &Target, outcome: Outcome) {
        if let Some(stages) = &mut self.stages {
            stages.ended(&target.name);
        }
        let code = match &outcome {
            Ok(outcome) => self.judge(&outcome.results, target),
            Err(error) => {
                self.say(&format!("{}: {error}", target.name));
                INCOMPLETE
            }
        };
        self.worst = severity(self.worst, code);
        if let (Ok(outcome), true) = (&outcome, self.outcomes.len() > 1) {
            self.progress_line(&format!("{}: {}", target.name, outcome.results.status_line()));
        }
        self.outcomes[index] = Some(outcome);
        if self.line.format == Format::Text {
            self.show_texts();
        }
    }

    /// Writes what is left to write. The exit status of the whole.
    pub fn finish(mut self) -> u8 {
        self.progress = None;
        let suite = suite(self.catalogue);
        let several = self.outcomes.len() > 1;
        if self.line.format != Format::Text {
            let found: Vec<_> = self.found().map(|outcome| &outcome.results).collect();
            let style = output::style(self.line.verbose);
            // Where there is none, why was said already.
            if let Some(document) = reports::document(self.line.format, &found, several, &suite, style) {
                self.print(&document);
            }
        }
        if let Some(reports) = self.reports.take() {
            let found: Vec<_> = self.outcomes.iter().map(results).collect();
            for words in reports.write(&found, &suite, self.line.verbose) {
                say(&words);
                self.worst = severity(self.worst, HARNESS_ERROR);
            }
        }
        if let Some(file) = self.evidence.take() {
            // One document for one target, an array for several.
            let written = match self.found().map(|outcome| &outcome.evidence).collect::<Vec<_>>()[..] {
                [only] => file.json(only),
                ref all => file.json(&all),
            };
            if let Err(words) = written {
                say(&words);
                self.worst = severity(self.worst, HARNESS_ERROR);
            }
        }
        self.worst
    }

    /// How many of the targets have results: `nothing`, `1 of 3 targets`.
    pub fn judged(&self, of: usize) -> String {
        match (self.found().count(), of) {
            (0, _) => "nothing was".into(),
            (done, of) => format!("{done} of {of} targets were"),
        }
    }

    fn judge(&mut self, results: &Results, target: &Target) -> u8 {
        for mutant in results.uncaught() {
            self.say(&format!("{}: mutant {} {}", target.name, mutant.slug, mutant.status.name()));
        }
        if !self.line.expect {
            return results.exit_code();
        }
        let surprises = expect::surprises(results, target);
        for surprise in &surprises {
            self.say(&format!("{}: not as expected: {surprise}", target.name));
        }
        if surprises.is_empty() {
            let known = results.checks.iter().filter(|check| target.known_failures.contains_key(&check.id)).count();
            self.progress_line(&format!("{}: as expected, with {known} known failures", target.name));
        }
        expect::exit_code(results, &surprises)
    }

    fn found(&self) -> impl Iterator<Item = &outcome::Outcome> {
        self.outcomes.iter().flatten().flatten()
    }

    /// Prints the texts of all targets that are done and whose turn it is.
    fn show_texts(&mut self) {
        while let Some(Some(outcome)) = self.outcomes.get(self.shown) {
            let first = self.shown == 0;
            self.shown += 1;
            if let Ok(outcome) = outcome {
                let results = &outcome.results;
                let sentence = |id: &str| self.catalogue.requirement(id).map(|one| one.sentence.as_str());
                let text = text::render(results, sentence, &output::style(self.line.verbose));
                let text = if first { text } else { format!("\n{text}") };
                if let Some(progress) = &mut self.progress {
                    progress.erase();
                }
                self.print(&text);
            }
        }
    }

    fn print(&mut self, text: &str) {
        if let Err(error) = output::print(text) {
            self.say(&format!("cannot write the results: {error}"));
            self.worst = severity(self.worst, HARNESS_ERROR);
        }
    }

    /// Words that a quiet run says as well.
    fn say(&mut self, words: &str) {
        if let Some(progress) = &mut self.progress {
            progress.erase();
        }
        say(&words);
    }

    fn progress_line(&mut self, words: &str) {
        if let Some(progress) = &mut self.progress {
            progress.say(words);
        }
    }
}

/// A target's results, where there are some.
fn results(outcome: &Option<Outcome>) -> Option<&Results> {
    Some(&outcome.as_ref()?.as_ref().ok()?.results)
}

/// Of two exit codes the one that says more: a failed MUST, a harness error, incomplete, conformant.
fn severity(first: u8, second: u8) -> u8 {
    let rank = |code: u8| match code {
        1 => 3,
        HARNESS_ERROR => 2,
        0 => 0,
        _ => 1,
    };
    if rank(second) > rank(first) { second } else { first }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_codes_the_worse_one_stays() {
        let order = [0, 3, 4, 1];
        for (better, first) in order.iter().enumerate() {
            for (worse, second) in order.iter().enumerate() {
                assert_eq!(severity(*first, *second), order[better.max(worse)]);
            }
        }
    }
}

//! The words of a run's progress: which of its stages each running target has reached.

use std::collections::{BTreeMap, BTreeSet};

use crate::{check::Check, scenario::Scenario};

/// What one progress message means.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// A stage begins, of so many launches.
    Stage(String, u32),
    /// A launch of the same stage begins.
    Launch,
}

/// The stages of the targets that run now.
pub struct Stages {
    /// Ids of the launches that checks ask for by themselves.
    own: BTreeSet<String>,
    /// What each running target does.
    running: BTreeMap<String, String>,
    /// All of them stand in one line, which is rewritten; otherwise each change is a line of its own.
    together: bool,
}

/// The stage of those launches.
const OWN: &str = "starts and ends";

impl Stages {
    pub fn new(checks: &[&Check], together: bool) -> Self {
        let own = checks.iter().flat_map(|check| check.scenarios).map(|scenario: &Scenario| scenario.id()).collect();
        Self { own, running: BTreeMap::new(), together }
    }

    /// The target says that it does this now.
    pub fn reached(&mut self, target: &str, message: &str) -> Step {
        let (stage, total) = if self.own.contains(message) { (OWN, self.own.len() as u32) } else { (message, 0) };
        let before = self.running.insert(target.to_owned(), stage.to_owned());
        if before.as_deref() == Some(stage) {
            return Step::Launch;
        }
        if !self.together {
            return Step::Stage(format!("{target}: {stage}"), total);
        }
        // Launches are counted for one target alone: several have no common number.
        Step::Stage(self.words(), if self.running.len() == 1 { total } else { 0 })
    }

    /// The target is done.
    pub fn ended(&mut self, target: &str) {
        self.running.remove(target);
    }

    fn words(&self) -> String {
        let each = self.running.iter().map(|(target, stage)| format!("{target}: {stage}"));
        each.collect::<Vec<_>>().join(" | ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks;

    #[test]
    fn launches_of_their_own_are_one_stage_that_counts() {
        let mut stages = Stages::new(&checks::all(), true);
        let total = stages.own.len() as u32;
        assert!(total > 10);
        let first = stages.reached("reference", "controls before");
        assert_eq!(first, Step::Stage("reference: controls before".into(), 0));
        let begun = stages.reached("reference", "ends-exit");
        assert_eq!(begun, Step::Stage("reference: starts and ends".into(), total));
        assert_eq!(stages.reached("reference", "ends-kill"), Step::Launch);
        assert_eq!(stages.reached("reference", "judging"), Step::Stage("reference: judging".into(), 0));
    }

    #[test]
    fn targets_that_run_at_once_share_the_line() {
        let mut stages = Stages::new(&checks::all(), true);
        stages.reached("a", "target");
        assert_eq!(stages.reached("b", "ends-exit"), Step::Stage("a: target | b: starts and ends".into(), 0));
        assert_eq!(stages.reached("b", "ends-kill"), Step::Launch);
        stages.ended("a");
        assert_eq!(stages.reached("b", "judging"), Step::Stage("b: judging".into(), 0));
    }

    #[test]
    fn in_a_log_each_line_is_about_the_target_that_changed() {
        let mut stages = Stages::new(&checks::all(), false);
        stages.reached("a", "target");
        assert_eq!(stages.reached("b", "controls before"), Step::Stage("b: controls before".into(), 0));
    }
}

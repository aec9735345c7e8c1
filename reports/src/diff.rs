//! Two runs compared: what became worse, and what else is different.

mod compare;
mod show;
#[cfg(test)]
mod tests;

pub use compare::of;
pub use show::render;

use serde::Serialize;

/// The document's own version.
pub const SCHEMA: &str = "watertight/diff/v1";

/// What is different between two runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diff {
    pub schema: &'static str,
    pub before: Side,
    pub after: Side,
    /// What is worse: any of it makes the comparison fail.
    pub regressions: Vec<Change>,
    /// What is merely different, or better.
    pub changes: Vec<Change>,
}

/// One of the two.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Side {
    pub target: String,
    pub version: String,
    pub status_line: String,
    pub started_at: String,
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Change {
    pub kind: Kind,
    /// A requirement, an attempt, a mutant, a fact of the machine.
    pub of: String,
    pub before: String,
    pub after: String,
}

/// What kind of difference; the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A requirement fails that did not.
    NewlyFailing,
    /// A requirement is not judged any more.
    NewlyInconclusive,
    /// A requirement that was judged is called not applicable.
    NewlyNotApplicable,
    /// A requirement has no result any more.
    RequirementRemoved,
    /// A MUST became a SHOULD.
    LevelLowered,
    /// What shows that an attempt means something shows less.
    ControlWeakened,
    /// An attempt is not made any more, or cannot be made.
    AttemptLost,
    /// A mutant that was caught is not caught, or not there.
    MutantLost,
    /// Another sandbox was tested.
    OtherTarget,
    NewlyPassing,
    RequirementAdded,
    AttemptAdded,
    MutantAdded,
    OtherVersion,
    OtherSpec,
    OtherHarness,
    OtherKernel,
    OtherIdentity,
    OtherRoute,
}

impl Kind {
    /// Whether it makes a comparison fail.
    pub fn is_regression(self) -> bool {
        self <= Self::OtherTarget
    }

    /// In words, before what it is about.
    pub fn words(self) -> &'static str {
        match self {
            Self::NewlyFailing => "newly failing",
            Self::NewlyInconclusive => "newly inconclusive",
            Self::NewlyNotApplicable => "newly not applicable",
            Self::RequirementRemoved => "requirement removed",
            Self::LevelLowered => "level lowered",
            Self::ControlWeakened => "control weakened",
            Self::AttemptLost => "attempt lost",
            Self::MutantLost => "mutant lost",
            Self::OtherTarget => "other target",
            Self::NewlyPassing => "newly passing",
            Self::RequirementAdded => "requirement added",
            Self::AttemptAdded => "attempt added",
            Self::MutantAdded => "mutant added",
            Self::OtherVersion => "other version",
            Self::OtherSpec => "other text",
            Self::OtherHarness => "other harness",
            Self::OtherKernel => "other kernel",
            Self::OtherIdentity => "other identity",
            Self::OtherRoute => "other route",
        }
    }
}

impl Diff {
    /// Nothing became worse.
    pub fn holds(&self) -> bool {
        self.regressions.is_empty()
    }
}

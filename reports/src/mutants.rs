//! What became of broken sandboxes: the same words for the reference's in a selftest and for a target's own.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One broken sandbox, and what caught it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mutant {
    pub slug: String,
    pub sentence: String,
    pub status: Fate,
    /// Ids of the checks that failed on it.
    pub kills: Vec<String>,
    /// The first reason of each of them.
    pub reasons: BTreeMap<String, String>,
    /// Ids of the checks that must fail on it.
    pub expected: Vec<String>,
    /// Checks that could not be judged, with the verdict and its first reason.
    pub unclear: Vec<String>,
    /// How many checks were run on it.
    pub checked: u32,
    pub micros: u64,
    /// Why there is no more to say.
    pub error: Option<String>,
}

/// What became of a mutant. Only `Killed` is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It could not be run.
    Failed,
    /// The defence was never asked, so nothing is known.
    Void,
    /// A check that must fail on it did not, or none must.
    Survived,
    /// A check failed on it that must not.
    Collateral,
    /// A check could not be judged.
    Unclear,
    /// Exactly the checks failed that must.
    Killed,
}

impl Mutant {
    /// One of which nothing is known yet.
    pub fn new(slug: &str, sentence: &str, expected: Vec<String>) -> Self {
        Self {
            slug: slug.into(),
            sentence: sentence.into(),
            status: Fate::Failed,
            kills: vec![],
            reasons: BTreeMap::new(),
            expected,
            unclear: vec![],
            checked: 0,
            micros: 0,
            error: None,
        }
    }

    /// Ids of the checks that must fail on it and did not.
    pub fn missed(&self) -> impl Iterator<Item = &str> {
        self.expected.iter().filter(|id| !self.kills.contains(id)).map(String::as_str)
    }

    /// Ids of the checks that failed on it and must not.
    pub fn collateral(&self) -> impl Iterator<Item = &str> {
        self.kills.iter().filter(|id| !self.expected.contains(id)).map(String::as_str)
    }

    /// The worst that can be said, from what was found.
    pub fn judge(&self, applied: bool) -> Fate {
        if !applied {
            Fate::Void
        } else if self.expected.is_empty() || self.missed().next().is_some() {
            Fate::Survived
        } else if self.collateral().next().is_some() {
            Fate::Collateral
        } else if !self.unclear.is_empty() {
            Fate::Unclear
        } else {
            Fate::Killed
        }
    }
}

impl Fate {
    /// The word as every document writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Void => "void",
            Self::Survived => "survived",
            Self::Collateral => "collateral",
            Self::Unclear => "unclear",
            Self::Killed => "killed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(all: &[&str]) -> Vec<String> {
        all.iter().map(|id| (*id).to_owned()).collect()
    }

    #[test]
    fn a_mutant_is_killed_by_exactly_its_checks_and_by_nothing_else() {
        let of = |kills: &[&str], unclear: &[&str], applied| {
            let mutant = Mutant::new("x", "", ids(&["A-1", "A-2"]));
            Mutant { kills: ids(kills), unclear: ids(unclear), ..mutant }.judge(applied)
        };
        assert_eq!(of(&["A-1", "A-2"], &[], true), Fate::Killed);
        assert_eq!(of(&["A-1"], &[], true), Fate::Survived);
        assert_eq!(of(&["A-1", "A-2", "B-1"], &[], true), Fate::Collateral);
        assert_eq!(of(&["A-1", "B-1"], &[], true), Fate::Survived, "a survivor is the worse of the two");
        assert_eq!(of(&["A-1", "A-2"], &["B-1"], true), Fate::Unclear);
        let nobody = Mutant::new("x", "", vec![]).judge(true);
        assert_eq!(nobody, Fate::Survived, "nothing must catch it, and nothing does");
        assert_eq!(of(&["A-1", "A-2"], &[], false), Fate::Void, "what was not applied is never killed");
    }
}

//! Changes of a launch's words: input that must be refused, and mutants, which open the target on purpose.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{KnownFailure, User};
use crate::scenario::Prerequisite;

/// A change of the launch's words.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// Consecutive words to take out.
    #[serde(default)]
    pub remove: Vec<String>,
    /// Words to put in, where the removed ones were or else before `before`.
    #[serde(default)]
    pub add: Vec<String>,
    #[serde(default)]
    pub before: Option<String>,
}

/// The target edited so that it lacks something, and the checks that must say so.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mutant {
    /// What is wrong with it.
    pub sentence: String,
    /// Made one after the other.
    pub edits: Vec<Edit>,
    /// Requirements that the target holds to as it is, and does not with these edits: all of them, by id.
    pub caught_by: Vec<String>,
    /// The same where the harness is the machine's root, beside those: an ordinary user's world cannot plant everything.
    #[serde(default)]
    pub caught_by_root: Vec<String>,
    /// Two launches of it cannot be up at once, since they share the host's ports.
    #[serde(default)]
    pub one_at_a_time: bool,
}

/// Another usual configuration of the target: the same manifest with other words.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// What it is, in one sentence.
    pub summary: String,
    /// Made one after the other.
    #[serde(default)]
    pub edits: Vec<Edit>,
    /// As whom it is launched, where that is another one than the manifest says.
    #[serde(default)]
    pub user: Option<User>,
    /// Kernel features without which it must not run anything, where those are others than the manifest's.
    #[serde(default)]
    pub needs: Option<Vec<Prerequisite>>,
    /// Why it can be launched only where the harness is the machine's root.
    #[serde(default)]
    pub only_by_root: Option<String>,
    /// Environment of the launch, beside and before that of the manifest.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Files of the launch, beside and before those of the manifest.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// What it is known to fail, beside what the manifest itself says.
    #[serde(default)]
    pub known_failures: BTreeMap<String, KnownFailure>,
    /// Requirements of the manifest's known failures that this configuration holds to.
    #[serde(default)]
    pub holds: Vec<String>,
    #[serde(default)]
    pub one_at_a_time: bool,
}

impl Edit {
    /// Changes these words. Those that it looks for and that are not there come back.
    pub fn apply(&self, argv: &mut Vec<String>) -> Result<(), Vec<String>> {
        let at = if self.remove.is_empty() {
            let before = self.before.clone().unwrap_or_default();
            argv.iter().position(|word| *word == before).ok_or_else(|| vec![before])?
        } else {
            let at = argv.windows(self.remove.len()).position(|window| window == self.remove);
            let at = at.ok_or_else(|| self.remove.clone())?;
            argv.drain(at..at + self.remove.len());
            at
        };
        argv.splice(at..at, self.add.iter().cloned());
        Ok(())
    }
}

/// The words after these edits.
fn edited(edits: &[Edit], argv: &[String]) -> Result<Vec<String>, String> {
    let mut edited = argv.to_vec();
    for edit in edits {
        edit.apply(&mut edited).map_err(|words| format!("the words {words:?} do not stand in its argv"))?;
    }
    if !edited.iter().any(|word| word == "{probe}") {
        return Err("its edits take out {probe}, so nothing of ours would run in it".into());
    }
    Ok(edited)
}

impl Variant {
    /// The words of its launch.
    pub(super) fn apply(&self, argv: &[String]) -> Result<Vec<String>, String> {
        if self.summary.is_empty() {
            return Err("it has no summary that says what it is".into());
        }
        edited(&self.edits, argv)
    }
}

impl Mutant {
    /// The words of a launch after its edits, or why it is no mutant of them.
    pub(super) fn apply(&self, argv: &[String]) -> Result<Vec<String>, String> {
        let edited = edited(&self.edits, argv)?;
        if self.sentence.is_empty() {
            return Err("it has no sentence that says what is wrong with it".into());
        }
        if self.caught_by.is_empty() {
            return Err("its caught_by is empty, so that nothing would show that it ran".into());
        }
        if edited == argv {
            return Err("its edits change nothing".into());
        }
        Ok(edited)
    }

    /// Ids of the requirements that must fail on it.
    pub fn expected(&self, by_root: bool) -> Vec<String> {
        let of_root = self.caught_by_root.iter().filter(|_| by_root);
        self.caught_by.iter().chain(of_root).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        catalogue::Catalogue,
        target::{Target, TargetError},
    };

    fn target(mutant: &str) -> Result<Target, TargetError> {
        let text = format!(
            "name = 'x'\nsummary = 's'\nroute = 'none'\nversion = []\n[launch]\n\
             argv = ['box', '--net', 'none', '{{probe}}']\n[mutants.share-network]\n{mutant}\n"
        );
        Target::parse("x", &text)
    }

    #[test]
    fn the_edits_of_a_mutant_are_made_one_after_the_other() {
        let target = target(
            "sentence = 'S.'\nedits = [{ remove = ['none'], add = ['host'] }, { add = ['-v'], before = 'host' }]\n\
             caught_by = ['EGRESS-1']\ncaught_by_root = ['PRIV-8']",
        );
        let target = target.expect("valid");
        let mutant = &target.mutants["share-network"];
        assert_eq!(
            target.mutated("share-network", mutant).expect("valid").launch.argv,
            ["box", "--net", "-v", "host", "{probe}"]
        );
        assert_eq!(mutant.expected(false), ["EGRESS-1"]);
        assert_eq!(mutant.expected(true), ["EGRESS-1", "PRIV-8"]);
    }

    #[test]
    fn a_mutant_that_would_show_nothing_is_refused_by_name() {
        let caught = "caught_by = ['EGRESS-1']";
        for (mutant, words) in [
            (format!("sentence = 'S.'\nedits = [{{ remove = ['--no'] }}]\n{caught}"), "[\"--no\"] do not stand"),
            (
                format!("sentence = 'S.'\nedits = [{{ add = ['-v'], before = '-x' }}]\n{caught}"),
                "[\"-x\"] do not stand",
            ),
            (format!("sentence = 'S.'\nedits = []\n{caught}"), "change nothing"),
            (format!("sentence = ''\nedits = [{{ remove = ['none'] }}]\n{caught}"), "no sentence"),
            (format!("sentence = 'S.'\nedits = [{{ remove = ['{{probe}}'] }}]\n{caught}"), "take out {probe}"),
            ("sentence = 'S.'\nedits = [{ remove = ['none'] }]\ncaught_by = []".into(), "caught_by is empty"),
        ] {
            let error = target(&mutant).expect_err("refused").to_string();
            assert!(error.starts_with("manifest x: mutant share-network: ") && error.contains(words), "{error}");
        }
        assert!(matches!(target("sentence = 'S.'\nedits = []"), Err(TargetError::Syntax { .. })), "no caught_by");
    }

    #[test]
    fn a_variant_is_the_same_manifest_with_other_words_and_what_still_fits_it() {
        let text = "name = 'x'\nsummary = 's'\nroute = 'none'\nversion = []\n[launch]\nargv = ['box', '--net', '{probe}']\n\
            [variants.loose]\nsummary = 'Loose.'\nedits = [{ remove = ['--net'], add = ['--all'] }]\none_at_a_time = true\n\
            [mutants.share]\nsentence = 'S.'\nedits = [{ remove = ['--net'] }]\ncaught_by = ['EGRESS-1']\n\
            [mutants.say]\nsentence = 'S.'\nedits = [{ add = ['-v'], before = 'box' }]\ncaught_by = ['EGRESS-1']\n";
        let target = Target::parse("x", text).expect("valid");
        let loose = target.varied("loose").expect("a variant");
        assert_eq!((loose.name.as_str(), loose.summary.as_str()), ("x:loose", "Loose."));
        assert_eq!(loose.launch.argv, ["box", "--all", "{probe}"]);
        assert!(loose.one_at_a_time && loose.variants.is_empty());
        assert_eq!(loose.mutants.keys().collect::<Vec<_>>(), ["say"]);
        let error = target.varied("tight").expect_err("none").to_string();
        assert_eq!(error, "manifest x: variant tight: it has: loose");
        let broken = Target::parse("x", &text.replace("remove = ['--net'], add", "remove = ['--no'], add"));
        assert!(broken.is_err_and(|error| error.to_string().contains("variant loose: the words [\"--no\"]")));
    }

    #[test]
    fn what_must_catch_a_mutant_is_a_requirement_and_is_named_once() {
        let catalogue = Catalogue::load().expect("a catalogue");
        for name in Target::names() {
            for (slug, mutant) in Target::load(name).expect(name).mutants {
                let mut ids = mutant.expected(true);
                let unknown: Vec<_> = ids.iter().filter(|id| catalogue.requirement(id).is_none()).collect();
                assert!(unknown.is_empty(), "{name}: {slug}: {unknown:?}");
                let named = ids.len();
                ids.sort();
                ids.dedup();
                assert_eq!(ids.len(), named, "{name}: {slug}");
            }
        }
    }
}

//! The doubles: fake targets that nothing may take for a sandbox, each with the rule that shows it.

use watertight_reports::{
    matrix::Double,
    results::{Level, Verdict},
};

use crate::check::{Check, Rule};

/// Every double, and what must become of it.
pub const DOUBLES: [(&str, &str, Rightly); 6] = [
    ("open", "confines nothing: every deny-check fails", open),
    ("dead", "never runs the probe: nothing passes", dead),
    ("echo", "prints its input back: it does not hold", pretender),
    ("deny-all", "denies all and permits nothing: it does not hold", pretender),
    ("liar", "prints canned answers: it does not hold", pretender),
    ("polite-liar", "makes every permitted call and lies about the rest: it does not hold", pretender),
];

/// Whether these verdicts are those that the double must get.
pub type Rightly = fn(&[(&Check, Verdict)]) -> bool;

/// What became of a double that got these verdicts.
pub fn of(name: &str, expected: &str, rightly: Rightly, verdicts: &[(&Check, Verdict)]) -> Double {
    let ids = |wanted: fn(Verdict) -> bool| {
        verdicts.iter().filter(|(_, verdict)| wanted(*verdict)).map(|(check, _)| check.id.to_owned()).collect()
    };
    Double {
        name: name.to_owned(),
        expected: expected.to_owned(),
        right: !verdicts.is_empty() && rightly(verdicts),
        passed: ids(|verdict| verdict == Verdict::Pass),
        failed: ids(|verdict| verdict == Verdict::Fail),
        unclear: ids(|verdict| !matches!(verdict, Verdict::Pass | Verdict::Fail)),
        error: None,
    }
}

/// One that could not be run.
pub fn failed(name: &str, expected: &str, error: String) -> Double {
    Double { error: Some(error), ..of(name, expected, |_| false, &[]) }
}

fn open(verdicts: &[(&Check, Verdict)]) -> bool {
    verdicts.iter().all(|(check, verdict)| *verdict == Verdict::Fail || !matches!(check.rule, Rule::Denied))
}

fn dead(verdicts: &[(&Check, Verdict)]) -> bool {
    verdicts.iter().all(|(_, verdict)| !matches!(verdict, Verdict::Pass | Verdict::NotApplicable))
}

/// A MUST does not pass on it.
fn pretender(verdicts: &[(&Check, Verdict)]) -> bool {
    verdicts.iter().any(|(check, verdict)| check.level == Level::Must && *verdict != Verdict::Pass)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{checks, target::Target};

    #[test]
    fn every_double_of_the_manifests_is_here() {
        let doubles = Target::names().filter(|name| Target::load(name).is_ok_and(|target| target.double));
        let mut doubles: Vec<&str> = doubles.collect();
        let mut here: Vec<&str> = DOUBLES.iter().map(|(name, ..)| *name).collect();
        doubles.sort_unstable();
        here.sort_unstable();
        assert_eq!(here, doubles);
    }

    #[test]
    fn a_double_that_passes_everything_is_wrong_whichever_it_is() {
        let all: Vec<(&Check, Verdict)> = checks::all().into_iter().map(|check| (check, Verdict::Pass)).collect();
        for (name, expected, rightly) in DOUBLES {
            assert!(!of(name, expected, rightly, &all).right, "{name}");
            assert!(!of(name, expected, rightly, &[]).right, "{name}: nothing was checked");
        }
    }

    #[test]
    fn silence_is_right_for_the_dead_and_failures_for_the_open() {
        let of = |verdict| checks::all().into_iter().map(|check| (check, verdict)).collect::<Vec<(&Check, Verdict)>>();
        assert!(dead(&of(Verdict::HarnessError)) && !open(&of(Verdict::HarnessError)));
        assert!(open(&of(Verdict::Fail)) && pretender(&of(Verdict::Inconclusive)));
    }
}

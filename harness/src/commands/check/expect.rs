//! `--expect`: whether the failures are those that the manifest knows, and no others.

use watertight_reports::results::{Fact, Results, Verdict};

use super::Refusal;
use crate::{
    catalogue::Catalogue,
    commands::INCOMPLETE,
    target::{KnownFailure, Target},
};

/// Refuses entries that have expired, and such about requirements that do not exist.
pub fn in_date(targets: &[Target], catalogue: &Catalogue) -> Result<(), Refusal> {
    let today = KnownFailure::today();
    let mut words = vec![];
    for target in targets {
        for (id, known) in &target.known_failures {
            if catalogue.requirement(id).is_none() {
                words.push(format!("target {}: known failure {id}: there is no such requirement", target.name));
            } else if known.expired(today) {
                let (report, expires) = (&known.report, &known.expires);
                words.push(format!(
                    "target {}: known failure {id} expired on {expires}: look at {report}, then renew or remove it",
                    target.name
                ));
            }
        }
    }
    if words.is_empty() { Ok(()) } else { Err(Refusal::usage(words.join("\nwatertight: "))) }
}

/// What differs from the expectation, one line each: every requirement passes, or is not applicable, or is a known
/// failure and fails; a race may be won, and what only root's run fails passes in others.
pub fn surprises(results: &Results, target: &Target) -> Vec<String> {
    let mut surprises = vec![];
    let root = matches!(results.environment.get("identity"), Some(Fact::Known(who)) if who == "root");
    for check in &results.checks {
        let known = target.known_failures.get(&check.id).filter(|known| root || !known.by_root);
        match (check.verdict, known) {
            (Verdict::Pass | Verdict::NotApplicable, None) | (Verdict::Fail, Some(_)) => {}
            (Verdict::Pass, Some(known)) if known.race => {}
            (Verdict::Fail, None) => surprises.push(format!("{} failed, and is no known failure", check.id)),
            (Verdict::Pass | Verdict::NotApplicable, Some(known)) => surprises.push(format!(
                "{} is a known failure ({}) and did not fail: remove it from the manifest",
                check.id, known.report
            )),
            (Verdict::Inconclusive | Verdict::HarnessError, _) => {
                surprises.push(format!("{} was not judged", check.id));
            }
        }
    }
    surprises
}

/// The exit status with `--expect`: 0 means as expected; a manifest that is wrong about a green run is an error too.
pub fn exit_code(results: &Results, surprises: &[String]) -> u8 {
    match (surprises, results.exit_code()) {
        ([], _) if results.uncaught().next().is_some() => INCOMPLETE,
        ([], _) => 0,
        (_, 0) => 1,
        (_, own) => own,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use watertight_reports::{
        mutants::Mutant,
        results::{self, CheckResult, ControlKind, Counts, Level, SCHEMA, Seen, Status, Subject},
    };

    use super::*;

    fn results(verdicts: &[(&str, Level, Verdict)]) -> Results {
        let check = |(id, level, verdict): &(&str, Level, Verdict)| CheckResult {
            id: (*id).into(),
            slug: "x::y".into(),
            level: *level,
            subject: Subject::Isolation,
            verdict: *verdict,
            reason: vec![],
            seen: Seen::TwoSided,
            control: ControlKind::Unconfined,
            observations: vec![],
            witness: vec![],
            mutants: vec![],
            duration_us: 0,
        };
        let checks: Vec<_> = verdicts.iter().map(check).collect();
        Results {
            schema: SCHEMA.into(),
            spec: "1.0".into(),
            target: results::Target {
                name: "x".into(),
                version: String::new(),
                route: "none".into(),
                launched_as: "user".into(),
                argv: vec![],
            },
            profile: "core 1.0".into(),
            status: Status::of(&checks, true),
            counts: Counts::of(&checks),
            untestable: vec![],
            checks,
            sensitivity: vec![],
            environment: BTreeMap::new(),
            started_at: String::new(),
            wall_ms: 0,
        }
    }

    fn knowing(ids: &[&str], expires: &str) -> Target {
        let mut target = Target::load("bubblewrap").expect("a manifest");
        let known = |id: &str| KnownFailure {
            report: "https://example.org/1".into(),
            expires: expires.into(),
            race: id.starts_with("RACE"),
            by_root: id.starts_with("ROOT"),
        };
        target.known_failures = ids.iter().map(|id| ((*id).to_owned(), known(id))).collect();
        target
    }

    /// Exit status with `--expect`.
    fn code(verdicts: &[(&str, Level, Verdict)], known: &[&str]) -> u8 {
        let results = results(verdicts);
        exit_code(&results, &surprises(&results, &knowing(known, "2999-01-01")))
    }

    #[test]
    fn only_the_known_failures_exactly_are_as_expected() {
        use {Level::*, Verdict::*};
        assert_eq!(code(&[("A-1", Must, Pass)], &[]), 0);
        assert_eq!(code(&[("A-1", Must, Fail)], &["A-1"]), 0);
        assert_eq!(code(&[("A-1", Must, Fail), ("A-2", Must, NotApplicable)], &["A-1"]), 0);
        assert_eq!(code(&[("A-1", Must, Fail)], &[]), 1);
        assert_eq!(code(&[("A-1", Must, Fail), ("A-2", Must, Fail)], &["A-1"]), 1);
        assert_eq!(code(&[("A-1", Must, Pass)], &["A-1"]), 1, "stale");
        assert_eq!(code(&[("A-0", Must, Pass), ("A-1", Should, Fail)], &[]), 1, "a SHOULD is expected to pass as well");
        assert_eq!(code(&[("A-0", Must, Pass), ("A-1", Should, Fail)], &["A-1"]), 0);
        assert_eq!(code(&[("A-1", Must, Inconclusive)], &["A-1"]), 3);
        assert_eq!(code(&[("A-1", Must, HarnessError)], &["A-1"]), 4);
        assert_eq!(code(&[("A-1", Must, Fail), ("A-2", Must, Inconclusive)], &["A-1"]), 1);
        for (verdict, expected) in [(Pass, 0), (Fail, 0), (Inconclusive, 3), (NotApplicable, 1)] {
            assert_eq!(code(&[("A-0", Must, Pass), ("RACE-1", Must, verdict)], &["RACE-1"]), expected, "{verdict:?}");
        }
    }

    #[test]
    fn what_only_root_fails_is_expected_of_no_other_run() {
        let code = |identity: &str, verdict| {
            let mut results = results(&[("A-1", Level::Must, Verdict::Pass), ("ROOT-1", Level::Must, verdict)]);
            results.environment.insert("identity".into(), Fact::Known(identity.into()));
            exit_code(&results, &surprises(&results, &knowing(&["ROOT-1"], "2999-01-01")))
        };
        let user = "uid 1777, in a user namespace of its own";
        let runs = [("root", Verdict::Fail), ("root", Verdict::Pass), (user, Verdict::Pass), (user, Verdict::Fail)];
        assert_eq!(runs.map(|(identity, verdict)| code(identity, verdict)), [0, 1, 0, 1]);
    }

    #[test]
    fn a_mutant_that_is_not_caught_is_never_as_expected() {
        let mut results = results(&[("A-1", Level::Must, Verdict::Fail)]);
        results.sensitivity = vec![Mutant::new("share-network", "", vec!["A-2".into()])];
        assert_eq!(exit_code(&results, &surprises(&results, &knowing(&["A-1"], "2999-01-01"))), 3);
        assert_eq!(exit_code(&results, &surprises(&results, &knowing(&[], "2999-01-01"))), 1);
    }

    #[test]
    fn a_known_failure_expires_and_names_a_requirement() {
        let catalogue = Catalogue::load().expect("a catalogue");
        let words = |target: Target| in_date(&[target], &catalogue).err().map(|refusal| (refusal.code, refusal.words));
        assert_eq!(words(knowing(&["EGRESS-14"], "2999-01-01")), None);
        let (code, expired) = words(knowing(&["EGRESS-14"], "2001-01-01")).expect("refused");
        assert_eq!(code, 2);
        assert!(expired.contains("EGRESS-14 expired on 2001-01-01: look at https://example.org/1"), "{expired}");
        assert!(words(knowing(&["EGRESS-999"], "2999-01-01")).is_some_and(|(code, _)| code == 2));
    }
}

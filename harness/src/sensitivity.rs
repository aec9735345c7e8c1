//! A target's own mutants: edits that open it, which the checks must catch through its adapter too.

use std::time::Instant;

use watertight_reports::{
    each::each,
    mutants::Mutant as Row,
    results::{CheckResult, Verdict},
};

use crate::{
    check::Check,
    mutation::{BESIDE, Ground, SAMPLE},
    outcome::Run,
    run::Options,
    target::Mutant,
};

/// Runs the mutants of a target that has just come to these results, and judges them with the controls of its run.
pub fn of(run: &Run<'_>, results: &[CheckResult], ground: &Ground) -> Vec<Row> {
    let options = Options { soak: 1, ..run.options.clone() };
    // Only what passes on the target as it is can be lost by an edit.
    let passes = |check: &&&Check| results.iter().any(|one| one.id == check.id && one.verdict == Verdict::Pass);
    let passing: Vec<&'static Check> = run.checks.iter().filter(passes).copied().collect();
    let one = |(slug, mutant): &(&String, &Mutant)| {
        let began = Instant::now();
        let mut row = Row::new(slug, &mutant.sentence, mutant.expected(run.by_root));
        if let Err(why) = try_one(run, mutant, &options, ground, &passing, &mut row) {
            row.error = Some(why);
        }
        row.micros = began.elapsed().as_micros() as u64;
        row
    };
    let all: Vec<_> = run.target.mutants.iter().collect();
    each(&all, BESIDE, one)
}

/// Runs one, or says why that would show nothing.
fn try_one(
    run: &Run<'_>,
    mutant: &Mutant,
    options: &Options,
    ground: &Ground,
    passing: &[&'static Check],
    row: &mut Row,
) -> Result<(), String> {
    let checks = compared(&row.expected, passing)?;
    let target = run.target.mutated(&row.slug, mutant).map_err(|error| error.to_string())?;
    let evidence = ground.evidence(&row.slug, &target, &checks, &checks, options).map_err(|error| error.to_string())?;
    ground.judge(&checks, &evidence, true, row);
    Ok(())
}

/// The checks that must catch one, and of the others a sample: what does not pass without the edit says nothing with it.
fn compared(expected: &[String], passing: &[&'static Check]) -> Result<Vec<&'static Check>, String> {
    let lost = expected.iter().filter(|id| !passing.iter().any(|check| check.id == **id));
    let lost: Vec<&str> = lost.map(String::as_str).collect();
    if !lost.is_empty() {
        return Err(format!("without the edit, {} did not pass either: nothing can be said with it", lost.join(", ")));
    }
    let runs = |check: &&&Check| SAMPLE.contains(&check.id) || expected.iter().any(|id| id == check.id);
    Ok(passing.iter().filter(runs).copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks;

    #[test]
    fn what_must_catch_a_mutant_and_a_sample_are_compared_where_they_pass_without_the_edit() {
        let passing: Vec<_> = checks::all().into_iter().filter(|check| check.id != "LAUNCH-3").collect();
        let compared = compared(&["ROUTE-4".into(), "EGRESS-1".into()], &passing).expect("both pass");
        let ids: Vec<_> = compared.iter().map(|check| check.id).collect();
        assert!(ids.contains(&"ROUTE-4") && ids.contains(&"EGRESS-1"), "{ids:?}");
        assert!(SAMPLE.contains(&"LAUNCH-3") && !ids.contains(&"LAUNCH-3"), "it fails anyhow: {ids:?}");
        assert_eq!(ids.len(), SAMPLE.len());
    }

    #[test]
    fn a_mutant_whose_checks_fail_without_it_shows_nothing() {
        let passing: Vec<_> = checks::all().into_iter().filter(|check| check.id != "LAUNCH-3").collect();
        let refused = compared(&["LAUNCH-3".into(), "EGRESS-1".into()], &passing).err();
        assert!(refused.is_some_and(|why| why.starts_with("without the edit, LAUNCH-3 did not pass")));
    }
}

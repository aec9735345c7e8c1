//! What holds of every target that is not ours: it fails what is committed, its mutants are caught, and nothing is left.

use libtest_mimic::Failed;
use watertight::target::{Mutant, Target};
use watertight_reports::{mutants::Mutant as Row, results::Verdict};

use crate::{committed, place::Who, runs::Run};

/// The checks bite through this adapter too: on what each edit opens, and on nothing else.
pub fn every_mutant_is_caught(who: Who, run: &Run, least: usize) -> Result<(), Failed> {
    let declared = Target::load(&run.results.target.name)?.mutants;
    let ran = &run.results.sensitivity;
    let as_declared = |(slug, mutant): (&String, &Mutant), row: &Row| {
        *slug == row.slug && mutant.expected(who == Who::Root) == row.expected
    };
    if declared.len() < least
        || ran.len() != declared.len()
        || !declared.iter().zip(ran).all(|(one, row)| as_declared(one, row))
    {
        return Err(format!("{} of {} mutants were run: {ran:#?}", ran.len(), declared.len()).into());
    }
    let uncaught: Vec<_> = run.results.uncaught().collect();
    if uncaught.is_empty() { Ok(()) } else { Err(format!("{uncaught:#?}").into()) }
}

/// What a requirement comes to where the list says nothing: one that is waived is declared to be, which the results say.
const UNLISTED: [Verdict; 2] = [Verdict::Pass, Verdict::NotApplicable];

/// Every verdict is a pass, or what the list says.
pub fn fails_what_is_committed(who: Who, run: &Run) -> Result<(), Failed> {
    let known = committed::known_failures(&run.results.target.name, who)?;
    let wrong = run.results.checks.iter().filter(|check| {
        let expected = known.get(&check.slug).map_or(&UNLISTED[..], Vec::as_slice);
        !expected.contains(&check.verdict)
    });
    let wrong: Vec<_> =
        wrong.map(|check| format!("{} {:?}: {}", check.slug, check.verdict, check.reason.join("; "))).collect();
    if wrong.is_empty() && run.results.checks.len() == run.profile.checks().len() && run.exit.code() == Some(1) {
        return Ok(());
    }
    Err(format!("{}, {} checks\n{}", run.exit, run.results.checks.len(), wrong.join("\n")).into())
}

pub fn leaves_nothing(run: &Run) -> Result<(), Failed> {
    if run.left.is_empty() { Ok(()) } else { Err(run.left.join("\n").into()) }
}

//! The suite: every check against every target, one trial each, and what the framework promises about itself.
//!
//! Started as root it has everything twice: as root, and as an ordinary user (`user::`). It ignores nothing, and a run
//! without a trial fails.

#[path = "conformance/committed.rs"]
mod committed;
#[path = "conformance/frames.rs"]
mod frames;
#[path = "conformance/holds.rs"]
mod holds;
#[path = "conformance/kills.rs"]
mod kills;
#[path = "conformance/lacking.rs"]
mod lacking;
#[path = "conformance/machine.rs"]
mod machine;
#[path = "conformance/mutants.rs"]
mod mutants;
#[path = "conformance/place.rs"]
mod place;
#[path = "conformance/runs.rs"]
mod runs;
#[path = "conformance/sys.rs"]
mod sys;
#[path = "conformance/targets.rs"]
mod targets;
#[path = "conformance/weakened.rs"]
mod weakened;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use place::Who;

fn main() -> ExitCode {
    if let Some(code) = weakened::command() {
        return code;
    }
    let mut arguments = Arguments::from_args();
    // Runs share the machine: what one leaves behind would be held against another.
    arguments.test_threads = Some(1);
    let conclusion = libtest_mimic::run(&arguments, all());
    place::remove();
    if !arguments.list && conclusion.num_passed + conclusion.num_failed == 0 {
        eprintln!("no trial was run: look at the names with `--list`");
        return ExitCode::FAILURE;
    }
    conclusion.exit_code()
}

fn all() -> Vec<Trial> {
    Who::here().iter().flat_map(|who| of(*who)).collect()
}

fn of(who: Who) -> Vec<Trial> {
    let mut trials = targets::trials(who);
    trials.extend(mutants::trials(who));
    trials.push(trial(who, "suite::the_trials_are_those_committed".into(), move || committed::trials(who)));
    trials.push(trial(who, "suite::known_failures_name_checks".into(), committed::known_failures_name_checks));
    trials
        .push(trial(who, "suite::a_check_killed_at_any_moment_leaves_nothing".into(), move || kills::any_moment(who)));
    let without = "suite::without_a_check_its_mutant_survives_and_nothing_starts";
    trials.push(trial(who, without.into(), move || weakened::deleted(who)));
    let weak = "suite::with_a_check_that_accepts_anything_its_mutant_survives";
    trials.push(trial(who, weak.into(), move || weakened::accepts_anything(who)));
    for (name, body) in lacking::TRIALS {
        trials.push(trial(who, format!("suite::{name}"), move || body(who)));
    }
    if Who::here().contains(&Who::Root) {
        // Only root sees the machine's own links.
        trials.push(trial(who, "suite::no_frame_of_a_run_appears_on_the_machine".into(), move || frames::none(who)));
    }
    trials
}

/// A trial with this name; an ordinary user's have a prefix.
fn trial(who: Who, name: String, body: impl FnOnce() -> Result<(), Failed> + Send + 'static) -> Trial {
    Trial::test(format!("{}{name}", who.prefix()), body)
}

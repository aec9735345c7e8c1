//! Laws of what a rule reads: whatever the evidence, what is not there is recorded, and never read as silence.

use proptest::{prelude::*, sample::select};
use watertight_probe::observation::{Facts, Outcome};
use watertight_reports::{
    evidence::{AttemptRecord, LaunchKind},
    results::Verdict,
};

use super::{
    super::{is_control, ruling_verdict},
    arbitrary::{Run, SLUG, config, run, seen},
};
use crate::{case::Case, reach};

fn kind() -> impl Strategy<Value = LaunchKind> {
    select(vec![
        LaunchKind::ControlBefore,
        LaunchKind::Target,
        LaunchKind::ControlAfter,
        LaunchKind::Second,
        LaunchKind::NoInstance,
    ])
}

fn name() -> impl Strategy<Value = &'static str> {
    select(vec!["try-0", "try-1", "try-2"])
}

fn stored<'a>(run: &'a Run, kind: LaunchKind, name: &str) -> Option<&'a AttemptRecord> {
    run.evidence.of_kind(kind).find_map(|launch| launch.attempts.get(&format!("{SLUG}/{name}")))
}

/// What a case amounts to that required nothing: a pass only where all that it read was there.
fn verdict(case: &Case<'_>) -> Verdict {
    ruling_verdict(&case.ruling, !case.evidence().gaps.is_empty())
}

proptest! {
    #![proptest_config(config(48))]

    #[test]
    fn an_attempt_is_read_as_it_was_stored_and_without_a_report_nothing_passes(
        run in run(),
        kind in kind(),
        name in name(),
    ) {
        let mut case = Case::new(SLUG, &run.evidence);
        let record = case.attempt_in(kind, name);
        prop_assert_eq!(record, stored(&run, kind, name));
        let reported = record.is_some_and(|record| record.observation.is_some());
        prop_assert!(reported || verdict(&case) != Verdict::Pass);
        prop_assert!(verdict(&case) != Verdict::Fail, "what was not reported is no fault of the target's");
    }

    #[test]
    fn a_report_of_a_launch_that_is_broken_passes_nothing(mut run in run(), kind in kind(), name in name(), way in 0..3) {
        prop_assume!(kind != LaunchKind::Target);
        let launch = run.launch(kind);
        match way {
            0 => launch.hello = None,
            1 => launch.done = false,
            _ => launch.errors.push("line 3 is missing".into()),
        }
        for read in [true, false] {
            let mut case = Case::new(SLUG, &run.evidence);
            if read {
                case.attempt_in(kind, name);
                case.attempt_in(kind, name);
            } else {
                case.launch(kind);
            }
            let expected = if is_control(kind) { Verdict::Inconclusive } else { Verdict::HarnessError };
            let there = !read || stored(&run, kind, name).is_some();
            prop_assert_eq!(verdict(&case), if there { expected } else { Verdict::HarnessError });
            let said = [&case.ruling.missing[..], &case.ruling.control_faults].concat();
            let broken = said.iter().filter(|text| text.contains("launch ") && !text.starts_with("no report")).count();
            prop_assert_eq!(broken, usize::from(there), "it is said once: {:?}", said);
        }
    }

    #[test]
    fn facts_are_those_of_the_attempt_or_nothing_passes(run in run(), kind in kind(), name in name()) {
        let mut case = Case::new(SLUG, &run.evidence);
        match case.facts_in(kind, name) {
            Some(facts) => {
                let record = stored(&run, kind, name).expect("facts come from a record");
                prop_assert!(reach::belongs(&record.attempt, facts));
                let outcome = record.observation.as_ref().map(|observation| &observation.outcome);
                prop_assert_eq!(outcome, Some(&Outcome::Found { facts: facts.clone() }));
            }
            None => prop_assert_ne!(verdict(&case), Verdict::Pass),
        }
        prop_assert!(!is_control(kind) || verdict(&case) != Verdict::Fail, "a control is no fault of the target's");
    }

    #[test]
    fn an_exchange_that_was_not_had_says_why_or_passes_nothing(run in run(), kind in kind(), name in name()) {
        let mut case = Case::new(SLUG, &run.evidence);
        let exchange = case.exchange_in(kind, name);
        let record = stored(&run, kind, name);
        let outcome = record.and_then(|record| Some(&record.observation.as_ref()?.outcome));
        prop_assert_eq!(exchange.status, None, "none of these runs has an answer");
        let refused = matches!(outcome, Some(Outcome::Refused { .. })) && exchange.stopped.is_some();
        let had = matches!(outcome, Some(Outcome::Found { facts: Facts::Exchange { .. } }));
        prop_assert!(refused || had || verdict(&case) != Verdict::Pass, "{:?}", outcome);
    }

    #[test]
    fn silence_outside_is_no_pass_where_the_outside_record_has_gaps(mut run in run(), kind in kind(), name in name()) {
        run.evidence.gaps.push("the capture lost 1 frame".into());
        let mut case = Case::new(SLUG, &run.evidence);
        case.sightings_in(kind, name);
        prop_assert_ne!(verdict(&case), Verdict::Pass);
    }

    #[test]
    fn all_that_was_seen_outside_is_read_and_frames_alone_are_left_out(
        mut run in run(),
        number: prop::sample::Index,
        seen in proptest::collection::vec(seen(), 0..4),
    ) {
        let number = number.index(run.items.len());
        run.record(LaunchKind::Target, number).sightings = seen.clone();
        let mut case = Case::new(SLUG, &run.evidence);
        let name = &run.items[number].name;
        prop_assert_eq!(case.sightings_in(LaunchKind::Target, name), &seen[..]);
        let arrived: Vec<_> = seen.iter().filter(|one| one.fixture != "capture").collect();
        prop_assert_eq!(case.arrived(name), arrived);
    }
}

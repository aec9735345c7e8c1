//! Laws of the judge that hold for whatever evidence there is, not only for that which somebody thought of.

use proptest::{collection::vec, prelude::*, sample::select, strategy::ValueTree, test_runner::TestRunner};
use watertight_probe::observation::Outcome;
use watertight_reports::{
    evidence::{AttemptRecord, Exit, LaunchKind},
    results::{AttemptOutcome, Verdict},
};

use super::{
    super::{Judged, check as judge, combine},
    arbitrary::{OF_TARGET, Run, SLUG, Situation, config, controls, outcome, run, seen, situation, verdict},
    evidence::{BANNER, record, sighting},
};
use crate::{
    check::{Capability, Check, Need, Shows},
    planner::Planner,
    reach::{self, Reach},
};

fn no_plan(_: &mut Planner<'_>) {}

const CHECK: Check = Check::denied("TEST-1", SLUG, no_plan);

fn of(run: &Run) -> Verdict {
    judge(&CHECK, &run.items, &run.evidence).0.verdict
}

fn passes(judged: &Judged) -> bool {
    matches!(judged, Judged::Denied | Judged::AnsweredLocally | Judged::TimedOutUnseen)
}

/// Whether this control shows that the attempt means something.
fn lives((record, broken): &(Option<AttemptRecord>, bool), shows: Shows) -> bool {
    let reach = record.as_ref().map(|record| reach::of(record, &[BANNER.to_owned()]));
    let reached = match shows {
        Shows::Outside => matches!(reach, Some(Reach::Outside)),
        Shows::Inside => matches!(reach, Some(Reach::Outside | Reach::Inside(_))),
    };
    reached && !broken
}

fn kind(judged: &Judged) -> std::mem::Discriminant<Judged> {
    std::mem::discriminant(judged)
}

#[test]
fn the_laws_are_tried_on_runs_of_every_verdict() {
    let mut runner = TestRunner::deterministic();
    let mut verdicts = vec![];
    for _ in 0..200 {
        verdicts.push(of(&run().new_tree(&mut runner).expect("a run").current()));
    }
    for verdict in [Verdict::Pass, Verdict::Fail, Verdict::Inconclusive, Verdict::HarnessError] {
        let count = verdicts.iter().filter(|one| **one == verdict).count();
        assert!(count >= 10, "only {count} of {verdict:?}");
    }
}

proptest! {
    #![proptest_config(config(128))]

    #[test]
    fn what_was_seen_outside_got_through_whatever_is_inside(mut now in situation(), seen in seen()) {
        now.target.sightings.push(seen);
        prop_assert!(matches!(now.judged(), Judged::GotThrough(_)));
    }

    #[test]
    fn silence_is_never_a_denial(mut now in situation()) {
        now.target.observation = None;
        prop_assert!(!passes(&now.judged()));
    }

    #[test]
    fn an_attempt_that_never_began_is_never_a_denial(mut now in situation()) {
        now.target.began = false;
        prop_assert!(!passes(&now.judged()));
    }

    #[test]
    fn a_denial_has_a_living_control_on_every_side(now in situation()) {
        let alive = !now.controls.is_empty() && now.controls.iter().all(|control| lives(control, now.shows));
        prop_assert!(alive || !passes(&now.judged()));
    }

    #[test]
    fn one_more_control_never_makes_a_denial(now in situation(), more in controls(Shows::Outside)) {
        let before = now.judged();
        let mut after = now;
        let had = !after.controls.is_empty();
        after.controls.extend(more);
        prop_assert!(passes(&before) || !had || !passes(&after.judged()));
    }

    #[test]
    fn a_breach_is_told_alike_whatever_the_controls_say(
        now in situation(),
        controls in controls(Shows::Outside),
        gaps: bool,
        began: bool,
    ) {
        let judged = now.judged();
        let mut other = Situation { controls, gaps, ..now };
        other.target.began = began;
        prop_assert_eq!(matches!(judged, Judged::GotThrough(_)), matches!(other.judged(), Judged::GotThrough(_)));
    }

    #[test]
    fn the_order_of_the_controls_does_not_matter(
        (now, controls) in situation().prop_flat_map(|now| (Just(now.clone()), Just(now.controls).prop_shuffle())),
    ) {
        let shuffled = Situation { controls, ..now.clone() };
        prop_assert_eq!(kind(&now.judged()), kind(&shuffled.judged()));
    }

    #[test]
    fn gaps_take_away_what_relies_on_silence_and_nothing_else(mut now in situation()) {
        now.gaps = false;
        let whole = now.judged();
        now.gaps = true;
        let with_gaps = now.judged();
        if passes(&whole) && now.shows == Shows::Outside {
            prop_assert!(matches!(with_gaps, Judged::Undecided(_)), "{:?}", with_gaps);
        } else {
            prop_assert_eq!(with_gaps, whole);
        }
    }

    #[test]
    fn only_what_no_control_could_make_is_untestable(now in situation()) {
        let refused = |record: &AttemptRecord| {
            let outcome = record.observation.as_ref().map(|observation| &observation.outcome);
            record.sightings.is_empty() && matches!(outcome, Some(Outcome::Refused { .. }))
        };
        let nobody = now.controls.iter().all(|(record, broken)| !broken && record.as_ref().is_some_and(refused));
        prop_assert!(nobody || !matches!(now.judged(), Judged::Untestable(_)));
    }

    #[test]
    fn a_requirements_verdict_is_the_same_in_whatever_order_and_however_often(
        (verdicts, shuffled) in vec(verdict(), 0..8).prop_flat_map(|all| (Just(all.clone()), Just(all).prop_shuffle())),
    ) {
        let verdict = combine(&verdicts);
        prop_assert_eq!(combine(&shuffled), verdict);
        prop_assert_eq!(combine(&[verdicts, shuffled].concat()), verdict);
        prop_assert_eq!(combine(&[verdict]), verdict);
    }

    #[test]
    fn a_requirements_verdict_is_the_same_however_its_attempts_are_grouped(
        some in vec(verdict(), 1..5),
        others in vec(verdict(), 1..5),
    ) {
        let grouped = combine(&[combine(&some), combine(&others)]);
        prop_assert_eq!(combine(&[some, others].concat()), grouped);
    }
}

proptest! {
    #![proptest_config(config(48))]

    #[test]
    fn a_nonce_seen_outside_of_any_attempt_in_any_launch_of_the_target_fails(
        mut run in run(),
        number: prop::sample::Index,
        kind in select(OF_TARGET.to_vec()),
        seen in seen(),
    ) {
        let number = number.index(run.items.len());
        run.record(kind, number).sightings.push(seen);
        prop_assert_eq!(of(&run), Verdict::Fail);
    }

    #[test]
    fn no_more_evidence_turns_a_fail_into_anything_else(
        mut run in run(),
        more in run(),
        dead: bool,
        exit in select(vec![Exit::Status(0), Exit::Signal(9), Exit::Deadline]),
    ) {
        prop_assume!(of(&run) == Verdict::Fail);
        run.evidence.launches.extend(more.evidence.launches);
        run.evidence.gaps.extend(more.evidence.gaps);
        run.evidence.banners.extend(more.evidence.banners);
        let target = run.launch(LaunchKind::Target);
        target.done &= dead;
        target.exit = Some(exit);
        prop_assert_eq!(of(&run), Verdict::Fail);
    }

    #[test]
    fn a_run_passes_only_where_it_would_without_other_launches_of_the_target(mut run in run()) {
        let before = of(&run);
        run.evidence.launches.retain(|launch| launch.kind != LaunchKind::Second);
        prop_assert!(before != Verdict::Pass || of(&run) == Verdict::Pass);
    }

    #[test]
    fn silence_of_one_attempt_is_never_a_pass(mut run in run(), number: prop::sample::Index, made: bool) {
        let (number, key) = (number.index(run.items.len()), run.key(number.index(run.items.len())));
        // What no control can make may be left out, and then it need not be reported either.
        run.items[number].need = Need::Required;
        if made {
            run.record(LaunchKind::Target, number).observation = None;
        } else {
            run.launch(LaunchKind::Target).attempts.remove(&key);
        }
        prop_assert_ne!(of(&run), Verdict::Pass);
    }

    #[test]
    fn without_a_living_control_there_is_never_a_pass(
        mut run in run(),
        number: prop::sample::Index,
        side in select(vec![LaunchKind::ControlBefore, LaunchKind::ControlAfter]),
        outcome in proptest::option::of(outcome()),
    ) {
        let number = number.index(run.items.len());
        run.items[number].need = Need::Required;
        let mut dead = record(Shows::Outside, outcome, vec![]);
        dead.attempt = run.items[number].attempt.clone();
        prop_assume!(!lives(&(Some(dead.clone()), false), run.items[number].shows));
        *run.record(side, number) = dead;
        prop_assert_ne!(of(&run), Verdict::Pass);
    }

    #[test]
    fn an_untestable_attempt_that_is_required_is_never_a_pass(mut run in run(), number: prop::sample::Index) {
        let number = number.index(run.items.len());
        run.items[number].need = Need::Required;
        run.items[number].untestable = Some("no such kernel".into());
        prop_assert_ne!(of(&run), Verdict::Pass);
    }

    #[test]
    fn an_untestable_attempt_that_is_not_required_changes_no_verdict(mut run in run()) {
        let before = of(&run);
        let mut odd = run.items[0].clone();
        odd.name = "odd".into();
        odd.need = Need::WhereSupported;
        odd.untestable = Some("no such kernel".into());
        run.items.push(odd);
        let (result, untestable) = judge(&CHECK, &run.items, &run.evidence);
        prop_assert_eq!(result.verdict, before);
        prop_assert!(untestable.contains(&run.key(run.items.len() - 1)));
    }

    #[test]
    fn a_target_that_is_not_alive_never_passes(mut run in run(), way in 0..4) {
        match way {
            0 => run.evidence.launches.retain(|launch| launch.kind != LaunchKind::Target),
            1 => run.launch(LaunchKind::Target).hello = None,
            2 => run.launch(LaunchKind::Target).done = false,
            _ => run.launch(LaunchKind::Target).errors.push("line 3 is missing".into()),
        }
        prop_assert!(matches!(of(&run), Verdict::Fail | Verdict::HarnessError));
    }

    #[test]
    fn gaps_never_let_pass_what_relies_on_absence(mut run in run()) {
        run.evidence.gaps.push("the capture lost 1 frame".into());
        run.items.iter_mut().for_each(|item| item.need = Need::Required);
        prop_assume!(run.items.iter().any(|item| item.shows == Shows::Outside));
        prop_assert_ne!(of(&run), Verdict::Pass);
    }

    #[test]
    fn the_order_of_attempts_and_launches_does_not_matter(
        (run, items, launches) in run().prop_flat_map(|run| {
            let (items, launches) = (Just(run.items.clone()), Just(run.evidence.launches.clone()));
            (Just(run), items.prop_shuffle(), launches.prop_shuffle())
        }),
    ) {
        let mut shuffled = Run { items, ..run.clone() };
        shuffled.evidence.launches = launches;
        prop_assert_eq!(of(&shuffled), of(&run));
    }

    #[test]
    fn what_is_no_plain_pass_says_why(run in run()) {
        let (result, _) = judge(&CHECK, &run.items, &run.evidence);
        prop_assert!(result.verdict == Verdict::Pass || !result.reason.is_empty());
        let leaked = result.observations.iter().any(|one| one.outcome == AttemptOutcome::GotThrough);
        prop_assert_eq!(leaked, result.verdict == Verdict::Fail);
    }
}

const WAIVABLE: Check = Check { waived_by: Capability::ROUTES, ..CHECK };

/// The verdict on a target that declares these routes absent.
fn without(routes: &[Capability], run: &mut Run) -> Verdict {
    run.evidence.absent = routes.iter().map(|route| (route.name().to_owned(), "no network".to_owned())).collect();
    judge(&WAIVABLE, &run.items, &run.evidence).0.verdict
}

proptest! {
    #![proptest_config(config(48))]

    #[test]
    fn a_route_that_is_declared_absent_is_refused_or_not_waived(mut run in run()) {
        let waived = without(Capability::ROUTES, &mut run) == Verdict::NotApplicable;
        let refused = |number| {
            let record = run.clone().record(LaunchKind::Target, number).clone();
            let asked = record.sightings.iter().any(|seen| seen.fixture != "capture");
            let outcome = record.observation.map(|observation| observation.outcome);
            !asked && matches!(outcome, Some(Outcome::Refused { .. } | Outcome::Killed { signal: libc::SIGSYS }))
        };
        let refused = (0..run.items.len()).all(refused);
        prop_assert_eq!(waived, refused && run.launch(LaunchKind::Target).done);
    }

    #[test]
    fn a_declaration_alone_never_passes_and_never_outweighs_an_origin_that_was_asked(
        mut run in run(),
        number: prop::sample::Index,
    ) {
        prop_assert_ne!(without(Capability::ROUTES, &mut run), Verdict::Pass);
        let number = number.index(run.items.len());
        run.record(LaunchKind::Target, number).sightings.push(sighting("provider"));
        prop_assert_eq!(without(Capability::ROUTES, &mut run), Verdict::Fail);
    }

    #[test]
    fn a_requirement_about_two_routes_is_judged_as_ever_where_one_is_there(
        mut run in run(),
        route in select(Capability::ROUTES.to_vec()),
    ) {
        let verdict = of(&run);
        prop_assert_eq!(without(&[route], &mut run), verdict);
    }
}

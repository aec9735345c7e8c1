//! From attempts to a requirement's verdict: rules 3, 4 and 6.

use watertight_probe::plan::Attempt;
use watertight_reports::{
    evidence::{Evidence, LaunchKind},
    results::{AttemptOutcome, ControlKind, Level, Seen, Verdict},
};

use super::{
    super::{check as judge, combine, ruling_verdict},
    evidence::{denied, got_through, launch, recorded, target},
};
use crate::{
    case::{Case, Ruling},
    check::{Check, Item, Need, Shows},
    planner::Planner,
};

const VERDICTS: [Verdict; 4] = [Verdict::Pass, Verdict::Fail, Verdict::Inconclusive, Verdict::HarnessError];

#[test]
fn a_requirement_is_as_bad_as_its_worst_attempt_in_whatever_order() {
    for first in VERDICTS {
        for second in VERDICTS {
            for third in VERDICTS {
                let all = [first, second, third];
                let expected = [Verdict::Fail, Verdict::HarnessError, Verdict::Inconclusive, Verdict::Pass]
                    .into_iter()
                    .find(|verdict| all.contains(verdict));
                assert_eq!(Some(combine(&all)), expected, "{all:?}");
            }
        }
    }
    assert_eq!(combine(&[]), Verdict::Inconclusive, "nothing judged is no pass");
    for waived in [vec![Verdict::NotApplicable], vec![Verdict::Pass, Verdict::NotApplicable]] {
        assert_eq!(combine(&waived), Verdict::Inconclusive, "what was waived is no pass");
    }
}

#[test]
fn a_ruling_is_judged_by_what_is_certain_first() {
    for bits in 0..128u8 {
        let [breach, missing, control, fault, note, outside, gaps] =
            [1, 2, 4, 8, 16, 32, 64].map(|bit| bits & bit != 0);
        let some = |there: bool| if there { vec!["x".to_owned()] } else { vec![] };
        let ruling = Ruling {
            breaches: some(breach),
            faults: some(fault),
            control_faults: some(control),
            missing: some(missing),
            notes: some(note),
            looked_outside: outside,
        };
        let expected = match (breach, missing, control || (outside && gaps), fault) {
            (true, _, _, _) => Verdict::Fail,
            (false, true, _, _) => Verdict::HarnessError,
            (false, false, true, _) => Verdict::Inconclusive,
            (false, false, false, true) => Verdict::Fail,
            (false, false, false, false) => Verdict::Pass,
        };
        assert_eq!(ruling_verdict(&ruling, gaps), expected, "{ruling:?}, gaps: {gaps}");
    }
}

fn no_plan(_: &mut Planner<'_>) {}

const CHECK: Check = Check::denied("TEST-1", "test::one", no_plan);
const CONTROLLED: [LaunchKind; 3] = [LaunchKind::ControlBefore, LaunchKind::Target, LaunchKind::ControlAfter];

fn item(name: &str, need: Need) -> Item {
    let attempt = Attempt::Socket { family: 40, kind: 1, protocol: 0 };
    let mut item = Item::new(name, attempt, &CONTROLLED);
    item.need = need;
    item
}

/// Every item denied in the target; controls as `supported` says.
fn evidence(items: &[Item], supported: impl Fn(&str) -> bool) -> Evidence {
    let mut evidence = Evidence::default();
    for kind in CONTROLLED {
        let mut launch = launch(super::evidence::id(kind), kind);
        for item in items {
            let record = match kind {
                LaunchKind::Target => recorded(item.attempt.clone(), Some(denied(libc::EPERM)), vec![]),
                _ if supported(&item.name) => got_through(item),
                _ => recorded(item.attempt.clone(), Some(denied(libc::EAFNOSUPPORT)), vec![]),
            };
            launch.attempts.insert(format!("{}/{}", CHECK.slug, item.name), record);
        }
        evidence.launches.push(launch);
    }
    evidence
}

#[test]
fn an_untestable_attempt_is_left_out_only_where_it_is_not_required() {
    let items = |need| [item("sure", Need::Required), item("odd", need)];
    for (need, expected) in [(Need::Required, Verdict::Inconclusive), (Need::WhereSupported, Verdict::Pass)] {
        let items = items(need);
        let (result, untestable) = judge(&CHECK, &items, &evidence(&items, |name| name == "sure"));
        assert_eq!(result.verdict, expected, "{need:?}");
        assert_eq!(untestable, ["test::one/odd"], "it is named whichever it is");
    }
}

#[test]
fn a_requirement_of_which_nothing_could_be_tried_is_inconclusive() {
    let items = [item("odd", Need::WhereSupported), item("odder", Need::WhereSupported)];
    let (result, untestable) = judge(&CHECK, &items, &evidence(&items, |_| false));
    assert_eq!(result.verdict, Verdict::Inconclusive);
    assert_eq!(untestable.len(), 2);
    assert!(!result.reason.is_empty());
    let (result, _) = judge(&CHECK, &[], &evidence(&[], |_| true));
    assert_eq!(result.verdict, Verdict::Inconclusive, "a check without attempts");
}

#[test]
fn an_attempt_that_cannot_be_made_here_at_all_is_named_and_never_a_pass() {
    let mut odd = item("odd", Need::WhereSupported);
    odd.untestable = Some("no group to plant".into());
    let alone = [odd.clone()];
    let (result, untestable) = judge(&CHECK, &alone, &evidence(&alone, |_| true));
    assert_eq!((result.verdict, untestable), (Verdict::Inconclusive, vec!["test::one/odd".to_owned()]));
    odd.need = Need::Required;
    let required = [item("sure", Need::Required), odd.clone()];
    let (result, untestable) = judge(&CHECK, &required, &evidence(&required, |_| true));
    assert_eq!((result.verdict, untestable), (Verdict::Inconclusive, vec!["test::one/odd".to_owned()]));
    odd.need = Need::WhereSupported;
    let both = [item("sure", Need::Required), odd];
    let (result, untestable) = judge(&CHECK, &both, &evidence(&both, |_| true));
    assert_eq!((result.verdict, untestable), (Verdict::Pass, vec!["test::one/odd".to_owned()]));
    assert!(result.observations.iter().any(|one| one.outcome == AttemptOutcome::UntestableHere));
}

#[test]
fn a_target_that_did_not_answer_or_finish_or_lost_lines_gets_no_milder_verdict_than_harness_error() {
    let items = [item("sure", Need::Required)];
    for bits in 0..8u8 {
        let [answered, done, whole] = [1, 2, 4].map(|bit| bits & bit != 0);
        let mut evidence = evidence(&items, |_| true);
        let target = target(&mut evidence);
        target.done = done;
        target.hello = target.hello.take().filter(|_| answered);
        target.stderr = "sandbox: no such file\n".into();
        if !whole {
            target.errors.push("line 3 is missing".into());
        }
        let (result, _) = judge(&CHECK, &items, &evidence);
        let alive = answered && done && whole;
        let expected = if alive { Verdict::Pass } else { Verdict::HarnessError };
        assert_eq!(result.verdict, expected, "answered {answered}, done {done}, whole {whole}");
        let told = |words: &str| result.reason.iter().any(|line| line.contains(words));
        assert_eq!(told("sandbox: no such file"), !(answered && done), "its last words: {:?}", result.reason);
        assert_eq!(told("line 3 is missing"), !whole, "{:?}", result.reason);
    }
}

#[test]
fn one_dead_launch_of_the_target_among_several_is_enough_to_pass_nothing() {
    let items = [item("sure", Need::Required)];
    for dead_first in [true, false] {
        let mut evidence = evidence(&items, |_| true);
        let mut dead = launch("target-2", LaunchKind::Target);
        dead.hello = None;
        let at = if dead_first { 0 } else { evidence.launches.len() };
        evidence.launches.insert(at, dead);
        assert_eq!(judge(&CHECK, &items, &evidence).0.verdict, Verdict::HarnessError);
    }
}

#[test]
fn a_dead_target_makes_a_breach_of_a_should_a_harness_error_and_leaves_that_of_a_must() {
    for (level, expected) in [(Level::Must, Verdict::Fail), (Level::Should, Verdict::HarnessError)] {
        let check = Check { level, ..CHECK };
        let items = [item("sure", Need::Required)];
        let mut evidence = evidence(&items, |_| true);
        let target = target(&mut evidence);
        target.hello = None;
        target.attempts.insert("test::one/sure".into(), got_through(&items[0]));
        assert_eq!(judge(&check, &items, &evidence).0.verdict, expected, "{level:?}");
    }
}

#[test]
fn on_a_dead_target_only_a_proven_breach_stays_a_fail_and_what_was_not_found_does_not() {
    fn breach(case: &mut Case<'_>) {
        case.breach("seen");
    }
    fn fault(case: &mut Case<'_>) {
        case.require(false, "not found");
    }
    for (rule, dead, expected) in [
        (breach as fn(&mut Case<'_>), true, Verdict::Fail),
        (fault, true, Verdict::HarnessError),
        (fault, false, Verdict::Fail),
    ] {
        let check = Check::facts("TEST-3", "test::three", ControlKind::Twin, no_plan, rule);
        let mut evidence = evidence(&[], |_| true);
        target(&mut evidence).done = !dead;
        assert_eq!(judge(&check, &[], &evidence).0.verdict, expected, "dead: {dead}");
    }
}

#[test]
fn a_pass_on_silence_outside_is_inconclusive_where_the_outside_record_has_gaps() {
    fn silence(case: &mut Case<'_>) {
        assert!(case.arrived("inside").is_empty());
    }
    fn inside(case: &mut Case<'_>) {
        assert!(case.outcome("inside").is_some());
    }
    for (rule, gaps, expected) in [
        (silence as fn(&mut Case<'_>), true, Verdict::Inconclusive),
        (silence, false, Verdict::Pass),
        (inside, true, Verdict::Pass),
    ] {
        let check = Check::facts("TEST-1", "test::one", ControlKind::Twin, no_plan, rule);
        let items = [item("inside", Need::Required)];
        let mut evidence = evidence(&items, |_| true);
        if gaps {
            evidence.gaps.push("the capture lost 1 frame".into());
        }
        let result = judge(&check, &items, &evidence).0;
        assert_eq!(result.verdict, expected, "gaps: {gaps}");
        let told = result.reason.iter().any(|line| line.contains("silence there means nothing"));
        assert_eq!(told, expected == Verdict::Inconclusive, "{:?}", result.reason);
    }
}

#[test]
fn what_relies_on_a_broken_launch_of_a_control_is_inconclusive() {
    fn rule(case: &mut Case<'_>) {
        case.facts_in(LaunchKind::ControlBefore, "sure");
    }
    let facts = Check::facts("TEST-1", "test::one", ControlKind::Unconfined, no_plan, rule);
    let items = [item("sure", Need::Required)];
    for check in [&CHECK, &facts] {
        assert_eq!(judge(check, &items, &evidence(&items, |_| true)).0.verdict, Verdict::Pass);
        for way in 0..3 {
            let mut evidence = evidence(&items, |_| true);
            let control = &mut evidence.launches[0];
            match way {
                0 => control.hello = None,
                1 => control.done = false,
                _ => control.errors.push("line 2 is missing".into()),
            }
            assert_eq!(judge(check, &items, &evidence).0.verdict, Verdict::Inconclusive, "{way}");
        }
    }
}

#[test]
fn a_leak_in_any_other_launch_of_the_target_fails_and_silence_there_does_not_matter() {
    for (kind, leaks) in [(LaunchKind::Own, true), (LaunchKind::Second, true), (LaunchKind::Own, false)] {
        let items = [item("sure", Need::Required)];
        let mut evidence = evidence(&items, |_| true);
        let mut other = launch("another", kind);
        let silent = recorded(items[0].attempt.clone(), None, vec![]);
        other.attempts.insert("test::one/sure".into(), if leaks { got_through(&items[0]) } else { silent });
        evidence.launches.push(other);
        let expected = if leaks { Verdict::Fail } else { Verdict::Pass };
        assert_eq!(judge(&CHECK, &items, &evidence).0.verdict, expected, "{kind:?}");
    }
}

#[test]
fn an_attempt_of_a_rule_of_facts_is_as_required_or_not_where_the_rule_names_it() {
    fn rule(case: &mut Case<'_>) {
        case.breach("wrong: it was seen");
        case.control(false, "odd: the control");
    }
    let check = Check::facts("TEST-1", "test::one", ControlKind::Twin, no_plan, rule);
    let items = ["wrong", "odd", "fine", "silent"].map(|name| item(name, Need::Required));
    let mut evidence = evidence(&items, |_| true);
    target(&mut evidence).attempts.remove("test::one/silent");
    let outcomes: Vec<_> = judge(&check, &items, &evidence).0.observations.iter().map(|one| one.outcome).collect();
    let expected =
        [AttemptOutcome::NotAsRequired, AttemptOutcome::Undecided, AttemptOutcome::Recorded, AttemptOutcome::NoReport];
    assert_eq!(outcomes, expected);
}

#[test]
fn an_attempt_in_another_launch_than_the_targets_main_one_is_told_apart() {
    fn rule(_: &mut Case<'_>) {}
    let check = Check::facts("TEST-1", "test::one", ControlKind::Twin, no_plan, rule);
    let mut items = [item("sure", Need::Required)];
    items[0].also_in(LaunchKind::Second);
    let result = judge(&check, &items, &evidence(&items, |_| true)).0;
    let names: Vec<_> = result.observations.iter().map(|one| one.attempt.as_str()).collect();
    assert_eq!(names, ["test::one/sure", "test::one/sure (Second)"]);
}

#[test]
fn a_result_says_from_where_it_was_seen() {
    fn rule(_: &mut Case<'_>) {}
    const FACTS: Check = Check::facts("TEST-2", "test::two", ControlKind::KnownPositive, no_plan, rule);
    let inside = [item("inside", Need::Required)];
    let mut outside = inside.clone();
    outside[0].shows = Shows::Outside;
    let seen = |check: &Check, items: &[Item]| judge(check, items, &evidence(items, |_| true)).0.seen;
    assert_eq!(seen(&CHECK, &inside), Seen::InsideOnly);
    assert_eq!(seen(&CHECK, &outside), Seen::TwoSided);
    assert_eq!(seen(&FACTS, &inside), Seen::InsideOnly);
    assert_eq!(seen(&Check { ..FACTS }.witnessed(), &inside), Seen::TwoSided);
}

#[test]
fn what_was_observed_stands_in_the_result_with_its_control() {
    let items = [item("sure", Need::Required)];
    let (result, _) = judge(&CHECK, &items, &evidence(&items, |_| true));
    let [one] = result.observations.as_slice() else { panic!("{:?}", result.observations) };
    assert_eq!(one.attempt, "test::one/sure");
    assert_eq!((one.inside.as_str(), one.outside.as_str()), ("connect: EPERM", "nothing"));
    assert!(one.control.contains("the socket was made"), "{}", one.control);
    assert_eq!(one.outcome, AttemptOutcome::Denied);
    assert_eq!(result.duration_us, 7);
}

//! All checks that exist: none passes on a dead target, and every deny-check fails on an open one.

use watertight_reports::{
    evidence::{Evidence, Exit, LaunchKind},
    results::{ControlKind, Level, Verdict},
};

use super::{
    super::check as judge,
    evidence::{denied, got_through, is_control, items, layout, recorded, run, target},
};
use crate::{
    check::{Check, Item, Rule},
    checks,
};
use watertight_reports::evidence::AttemptRecord;

fn verdict(check: &Check, evidence: &Evidence) -> (Verdict, Vec<String>) {
    let (result, _) = judge(check, &items(check, &layout(), LaunchKind::Target), evidence);
    (result.verdict, result.reason)
}

fn deny_checks() -> Vec<&'static Check> {
    let all: Vec<_> = checks::all().into_iter().filter(|check| matches!(check.rule, Rule::Denied)).collect();
    assert!(all.len() >= 20, "only {} deny-checks", all.len());
    all
}

/// The controls of this item succeeded, and in the target it was denied.
fn confined(kind: LaunchKind, item: &Item) -> Option<AttemptRecord> {
    Some(if is_control(kind) {
        got_through(item)
    } else {
        recorded(item.attempt.clone(), Some(denied(libc::ENETUNREACH)), vec![])
    })
}

#[test]
fn every_deny_check_passes_where_all_is_denied_and_all_controls_live() {
    for check in deny_checks() {
        let (verdict, reason) = verdict(check, &run(check, confined));
        assert_eq!(verdict, Verdict::Pass, "{}: {reason:?}", check.slug);
    }
}

#[test]
fn every_deny_check_fails_where_all_gets_through() {
    for check in deny_checks() {
        let (verdict, _) = verdict(check, &run(check, |_, item| Some(got_through(item))));
        assert_eq!(verdict, Verdict::Fail, "{}", check.slug);
    }
}

#[test]
fn one_attempt_that_gets_through_is_enough_to_fail_whichever_it_is() {
    let mut tried = 0;
    for check in deny_checks() {
        for leak in items(check, &layout(), LaunchKind::Target).iter().filter(|item| item.untestable.is_none()) {
            let evidence = run(check, |kind, item| {
                if kind == LaunchKind::Target && item.name == leak.name {
                    return Some(got_through(item));
                }
                confined(kind, item)
            });
            assert_eq!(verdict(check, &evidence).0, Verdict::Fail, "{}/{}", check.slug, leak.name);
            tried += 1;
        }
    }
    assert!(tried > 150, "only {tried} attempts");
}

#[test]
fn one_attempt_without_a_living_control_is_enough_not_to_pass_whichever_it_is() {
    for check in deny_checks() {
        for dead in items(check, &layout(), LaunchKind::Target) {
            for launch in dead.launches.iter().filter(|kind| is_control(**kind)) {
                let evidence = run(check, |kind, item| {
                    if kind == *launch && item.name == dead.name {
                        return Some(recorded(item.attempt.clone(), Some(denied(libc::ECONNREFUSED)), vec![]));
                    }
                    confined(kind, item)
                });
                let (verdict, _) = verdict(check, &evidence);
                assert_eq!(verdict, Verdict::Inconclusive, "{}/{} in {launch:?}", check.slug, dead.name);
            }
        }
    }
}

#[test]
fn every_deny_check_has_a_control_before_and_after_for_each_attempt() {
    for check in deny_checks() {
        for item in items(check, &layout(), LaunchKind::Target) {
            let has = |kinds: [LaunchKind; 2]| kinds.iter().any(|kind| item.launches.contains(kind));
            let before = has([LaunchKind::ControlBefore, LaunchKind::RootBefore]);
            let after = has([LaunchKind::ControlAfter, LaunchKind::RootAfter]);
            assert!(before && after, "{}/{}", check.slug, item.name);
        }
    }
}

#[test]
fn a_deny_check_says_whose_control_it_has() {
    for check in deny_checks() {
        let root = |item: &Item| item.launches.contains(&LaunchKind::RootBefore);
        let all_as_root = items(check, &layout(), LaunchKind::Target).iter().all(root);
        assert_eq!(check.control == ControlKind::UnconfinedRoot, all_as_root, "{}", check.slug);
    }
}

#[test]
fn no_check_passes_where_nothing_was_recorded() {
    for check in checks::all() {
        let (verdict, reason) = verdict(check, &Evidence::default());
        assert_eq!(verdict, Verdict::HarnessError, "{}: {reason:?}", check.slug);
    }
}

#[test]
fn no_check_passes_on_a_target_that_ends_well_and_never_ran_the_probe() {
    for check in checks::all() {
        for exit in [Exit::Status(0), Exit::Status(1)] {
            let mut evidence = run(check, |kind, item| match kind {
                kind if is_control(kind) => Some(got_through(item)),
                _ => {
                    let mut silent = recorded(item.attempt.clone(), None, vec![]);
                    silent.began = false;
                    Some(silent)
                }
            });
            for launch in evidence.launches.iter_mut().filter(|launch| !is_control(launch.kind)) {
                launch.hello = None;
                launch.done = false;
                launch.exit = Some(exit);
            }
            let (verdict, reason) = verdict(check, &evidence);
            assert!(matches!(verdict, Verdict::HarnessError | Verdict::Fail), "{}: {verdict:?} {reason:?}", check.slug);
            // Where the suite blames the target, it is for a launch that reported success and ran nothing.
            let blamed = check.slug.starts_with("launch::") && exit == Exit::Status(0);
            assert!(verdict == Verdict::HarnessError || blamed, "{}: {reason:?}", check.slug);
            assert!(reason.iter().any(|line| line.contains("did not answer from inside")), "{}", check.slug);
        }
    }
}

#[test]
fn a_denial_by_a_workload_that_did_not_finish_is_a_harness_error() {
    for check in deny_checks() {
        let mut evidence = run(check, confined);
        target(&mut evidence).done = false;
        let (verdict, reason) = verdict(check, &evidence);
        assert_eq!(verdict, Verdict::HarnessError, "{}", check.slug);
        assert!(reason.iter().any(|line| line.contains("did not finish")), "{reason:?}");
    }
}

#[test]
fn a_breach_of_a_must_stays_a_fail_however_the_launch_ended() {
    for check in deny_checks().into_iter().filter(|check| check.level == Level::Must) {
        for (answered, done) in [(true, false), (false, false)] {
            let mut evidence = run(check, |_, item| Some(got_through(item)));
            let target = target(&mut evidence);
            target.done = done;
            target.hello = target.hello.take().filter(|_| answered);
            assert_eq!(verdict(check, &evidence).0, Verdict::Fail, "{}", check.slug);
        }
    }
}

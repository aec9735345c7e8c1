//! The table of deny-checks, written once more as the document has it: rows in order, the first that applies counts.

use watertight_probe::observation::Outcome;

use super::{
    super::{Evidenced, Judged, SIGSYS, attempt, verdict_of},
    evidence::{BANNER, denied, found_nothing, record, sighting, through},
};
use crate::check::{Need, Shows};
use watertight_reports::{evidence::AttemptRecord, results::Verdict};

/// What the probe reports, by the rows that tell it apart.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Inside {
    NoReport,
    Refused(i32),
    Signal(i32),
    TimedOut,
    Silent,
    HeardOther,
    HeardBanner,
    FoundNothing,
    Achieved,
    Absent,
    Broken,
}

const INSIDE: [Inside; 15] = [
    Inside::NoReport,
    Inside::Refused(libc::ECONNREFUSED),
    Inside::Refused(libc::ENETUNREACH),
    Inside::Refused(libc::EPERM),
    Inside::Refused(libc::EAFNOSUPPORT),
    Inside::Signal(SIGSYS),
    Inside::Signal(libc::SIGKILL),
    Inside::Signal(libc::SIGSEGV),
    Inside::TimedOut,
    Inside::Silent,
    Inside::HeardOther,
    Inside::HeardBanner,
    Inside::FoundNothing,
    Inside::Achieved,
    Inside::Broken,
];

/// What became of one control.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Control {
    Succeeded,
    NotMade,
    NoReport,
    Unsupported(i32),
    Refused,
    TimedOut,
    /// Its banner was read, and the fixture's ledger has nothing: the ledger is at fault.
    BannerAlone,
}

const CONTROLS: [Control; 10] = [
    Control::Succeeded,
    Control::NotMade,
    Control::NoReport,
    Control::Unsupported(libc::EAFNOSUPPORT),
    Control::Unsupported(libc::EPROTONOSUPPORT),
    Control::Unsupported(libc::ESOCKTNOSUPPORT),
    Control::Unsupported(libc::ENOSYS),
    Control::Refused,
    Control::TimedOut,
    Control::BannerAlone,
];

/// What the document says of an attempt.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Expected {
    Pass,
    AnsweredLocally,
    PassUnseen,
    Fail,
    Inconclusive,
    HarnessError,
    Untestable,
    /// Two controls fail in two ways: which one is named first is open, a pass or a fail it is not.
    Red,
}

#[derive(Clone, Copy, Debug)]
struct Situation<'a> {
    inside: Inside,
    outside: bool,
    began: bool,
    shows: Shows,
    gaps: bool,
    controls: &'a [Control],
}

/// The table and rules 2, 3 and 5 behind it.
fn document(now: Situation<'_>) -> Expected {
    let silence = |pass: Expected| match (now.gaps, now.shows) {
        (true, Shows::Outside) => Expected::Inconclusive,
        (true | false, _) => pass,
    };
    // Rows 1 and 2.
    if now.outside || matches!(now.inside, Inside::HeardBanner | Inside::Achieved) {
        return Expected::Fail;
    }
    // Row 3.
    if let Some(problem) = controls(now.controls) {
        return problem;
    }
    // Row 4.
    if !now.began {
        return Expected::HarnessError;
    }
    match (now.inside, now.shows) {
        (Inside::NoReport | Inside::Broken, _) => Expected::HarnessError,
        (Inside::Refused(_) | Inside::FoundNothing, _) => silence(Expected::Pass),
        (Inside::Signal(signal), _) if signal == libc::SIGSYS => silence(Expected::Pass),
        (Inside::Silent | Inside::HeardOther, _) => silence(Expected::AnsweredLocally),
        (Inside::TimedOut, Shows::Outside) => silence(Expected::PassUnseen),
        (Inside::TimedOut, Shows::Inside) | (Inside::Signal(_) | Inside::Absent, _) => Expected::Inconclusive,
        (Inside::HeardBanner | Inside::Achieved, _) => Expected::Fail,
    }
}

fn controls(all: &[Control]) -> Option<Expected> {
    if all.is_empty() {
        return Some(Expected::HarnessError);
    }
    let mut problems: Vec<Expected> = vec![];
    for control in all.iter().filter(|control| **control != Control::Succeeded) {
        let problem = match control {
            Control::NotMade => Expected::HarnessError,
            Control::Unsupported(_) => Expected::Untestable,
            Control::NoReport | Control::Refused | Control::TimedOut | Control::BannerAlone => Expected::Inconclusive,
            Control::Succeeded => continue,
        };
        problems.push(problem);
    }
    // Support that comes or goes during a run is no support, and no reason to leave the attempt out either.
    let mixed = problems.contains(&Expected::Untestable) && problems.len() < all.len();
    match problems.as_slice() {
        [] => None,
        [first, rest @ ..] if rest.iter().all(|other| other == first) && !mixed => Some(*first),
        _ => Some(Expected::Red),
    }
}

fn outcome(inside: Inside, shows: Shows) -> Option<Outcome> {
    Some(match inside {
        Inside::NoReport => return None,
        Inside::Refused(errno) => denied(errno),
        Inside::Signal(signal) => Outcome::Killed { signal },
        Inside::TimedOut => Outcome::TimedOut { step: "read".into() },
        Inside::Silent => Outcome::Silent { step: "connect".into() },
        Inside::HeardOther => Outcome::Heard { len: 2, sha256: String::new(), head: "hi".into() },
        Inside::HeardBanner => Outcome::Heard { len: 40, sha256: String::new(), head: format!("220 {BANNER}") },
        Inside::FoundNothing => found_nothing(shows),
        Inside::Achieved => through(shows),
        Inside::Absent => Outcome::Absent { what: "/proc".into(), errno: libc::ENOENT },
        Inside::Broken => Outcome::Broken { message: "lost".into() },
    })
}

fn control(of: Control, shows: Shows) -> Option<AttemptRecord> {
    let (outcome, seen) = match of {
        Control::NotMade => return None,
        Control::Succeeded => match shows {
            Shows::Outside => (Some(Outcome::Silent { step: "connect".into() }), true),
            Shows::Inside => (Some(through(shows)), false),
        },
        Control::NoReport => (None, false),
        Control::Unsupported(errno) => (Some(denied(errno)), false),
        Control::Refused => (Some(denied(libc::ECONNREFUSED)), false),
        Control::TimedOut => (Some(Outcome::TimedOut { step: "connect".into() }), false),
        Control::BannerAlone => (outcome(Inside::HeardBanner, shows), false),
    };
    Some(record(shows, outcome, if seen { vec![sighting("canary-tcp")] } else { vec![] }))
}

fn judged(now: Situation<'_>) -> Judged {
    let sightings = if now.outside { vec![sighting("canary-tcp")] } else { vec![] };
    let mut target = record(now.shows, outcome(now.inside, now.shows), sightings);
    target.began = now.began;
    let controls: Vec<_> = now.controls.iter().map(|one| control(*one, now.shows)).collect();
    let controls: Vec<_> = controls.iter().map(Option::as_ref).collect();
    attempt(Evidenced {
        shows: now.shows,
        target: Some(&target),
        controls: &controls,
        banners: &[BANNER.to_owned()],
        gaps: now.gaps,
    })
}

#[track_caller]
fn holds(now: Situation<'_>) {
    let judged = judged(now);
    for need in [Need::Required, Need::WhereSupported] {
        let (verdict, reason) = verdict_of(&judged, need);
        let says = |text: &str| reason.as_deref().is_some_and(|reason| reason.contains(text));
        let right = match document(now) {
            Expected::Pass => verdict == Some(Verdict::Pass) && reason.is_none(),
            Expected::AnsweredLocally => verdict == Some(Verdict::Pass) && says("answered-locally"),
            Expected::PassUnseen => verdict == Some(Verdict::Pass) && says("timed out"),
            Expected::Fail => verdict == Some(Verdict::Fail) && reason.is_some(),
            Expected::Inconclusive => verdict == Some(Verdict::Inconclusive) && reason.is_some(),
            Expected::HarnessError => verdict == Some(Verdict::HarnessError) && reason.is_some(),
            Expected::Untestable => match need {
                Need::Required => verdict == Some(Verdict::Inconclusive) && says("untestable here"),
                Need::WhereSupported => verdict.is_none(),
            },
            Expected::Red => !matches!(verdict, Some(Verdict::Pass | Verdict::Fail)),
        };
        assert!(right, "{now:?}, {need:?}: {:?} expected, {judged:?} judged", document(now));
    }
}

/// Each situation once, with these controls.
fn every_situation(controls: &[Control]) {
    for inside in INSIDE.into_iter().chain([Inside::Absent]) {
        for shows in [Shows::Outside, Shows::Inside] {
            for bits in 0..8u8 {
                let [outside, began, gaps] = [1, 2, 4].map(|bit| bits & bit != 0);
                holds(Situation { inside, outside, began, shows, gaps, controls });
            }
        }
    }
}

#[test]
fn every_outcome_with_every_pair_of_controls_is_judged_as_the_document_says() {
    for before in CONTROLS {
        for after in CONTROLS {
            every_situation(&[before, after]);
        }
    }
}

#[test]
fn a_single_control_counts_and_none_is_a_harness_error() {
    for control in CONTROLS {
        every_situation(&[control]);
    }
    every_situation(&[]);
}

#[test]
fn an_attempt_that_was_not_planned_is_a_harness_error() {
    let control = control(Control::Succeeded, Shows::Outside);
    let evidence =
        Evidenced { shows: Shows::Outside, target: None, controls: &[control.as_ref()], banners: &[], gaps: false };
    assert!(matches!(attempt(evidence), Judged::Error(_)));
}

#[test]
fn only_living_controls_on_every_side_ever_lead_to_a_pass() {
    for before in CONTROLS {
        for after in CONTROLS {
            for inside in INSIDE {
                for shows in [Shows::Outside, Shows::Inside] {
                    let now = Situation {
                        inside,
                        outside: false,
                        began: true,
                        shows,
                        gaps: false,
                        controls: &[before, after],
                    };
                    let (verdict, _) = verdict_of(&judged(now), Need::WhereSupported);
                    let alive = before == Control::Succeeded && after == Control::Succeeded;
                    assert!(alive || verdict != Some(Verdict::Pass), "{now:?}");
                }
            }
        }
    }
}

//! The table of deny-checks, written once more as the document has it: rows in order, the first that applies counts.

use watertight_probe::observation::{Facts, Outcome};

use super::{
    super::{Control as Unconfined, Evidenced, Judged, attempt, verdict_of},
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
    /// Facts of another kind of attempt.
    Foreign,
}

const INSIDE: [Inside; 16] = [
    Inside::NoReport,
    Inside::Refused(libc::ECONNREFUSED),
    Inside::Refused(libc::ENETUNREACH),
    Inside::Refused(libc::EPERM),
    Inside::Refused(libc::EAFNOSUPPORT),
    Inside::Signal(libc::SIGSYS),
    Inside::Signal(libc::SIGKILL),
    Inside::Signal(libc::SIGSEGV),
    Inside::TimedOut,
    Inside::Silent,
    Inside::HeardOther,
    Inside::HeardBanner,
    Inside::FoundNothing,
    Inside::Achieved,
    Inside::Broken,
    Inside::Foreign,
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
    /// It got through, and its launch did not finish.
    Broken,
    /// Its report has facts of another kind of attempt.
    Foreign,
}

const CONTROLS: [Control; 12] = [
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
    Control::Broken,
    Control::Foreign,
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
    if let Some(problem) = controls(now.controls, now.shows) {
        return problem;
    }
    // Row 4.
    if !now.began {
        return Expected::HarnessError;
    }
    match (now.inside, now.shows) {
        (Inside::NoReport | Inside::Broken | Inside::Foreign, _) => Expected::HarnessError,
        (Inside::Refused(_) | Inside::FoundNothing, _) => silence(Expected::Pass),
        (Inside::Signal(signal), _) if signal == libc::SIGSYS => silence(Expected::Pass),
        (Inside::Silent | Inside::HeardOther, _) => silence(Expected::AnsweredLocally),
        (Inside::TimedOut, Shows::Outside) => silence(Expected::PassUnseen),
        (Inside::TimedOut, Shows::Inside) | (Inside::Signal(_) | Inside::Absent, _) => Expected::Inconclusive,
        (Inside::HeardBanner | Inside::Achieved, _) => Expected::Fail,
    }
}

fn controls(all: &[Control], shows: Shows) -> Option<Expected> {
    if all.is_empty() {
        return Some(Expected::HarnessError);
    }
    let mut problems: Vec<Expected> = vec![];
    for control in all.iter().filter(|control| **control != Control::Succeeded) {
        let problem = match control {
            Control::NotMade => Expected::HarnessError,
            // Only where a canary would have seen it: what shows inside alone has no banner.
            Control::BannerAlone if shows == Shows::Outside => Expected::HarnessError,
            Control::Foreign => Expected::HarnessError,
            Control::Unsupported(_) => Expected::Untestable,
            Control::NoReport | Control::Refused | Control::TimedOut | Control::BannerAlone | Control::Broken => {
                Expected::Inconclusive
            }
            Control::Succeeded => continue,
        };
        problems.push(problem);
    }
    // Support that comes or goes during a run is no support, and no reason to leave the attempt out either.
    if problems.is_empty() {
        None
    } else if problems.contains(&Expected::HarnessError) {
        Some(Expected::HarnessError)
    } else if problems.len() == all.len() && problems.iter().all(|problem| *problem == Expected::Untestable) {
        Some(Expected::Untestable)
    } else {
        Some(Expected::Inconclusive)
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
        Inside::Foreign => Outcome::Found { facts: Facts::Changed },
    })
}

fn control(of: Control, shows: Shows) -> Option<AttemptRecord> {
    let (outcome, seen) = match of {
        Control::NotMade => return None,
        Control::Succeeded | Control::Broken => match shows {
            Shows::Outside => (Some(Outcome::Silent { step: "connect".into() }), true),
            Shows::Inside => (Some(through(shows)), false),
        },
        Control::NoReport => (None, false),
        Control::Unsupported(errno) => (Some(denied(errno)), false),
        Control::Refused => (Some(denied(libc::ECONNREFUSED)), false),
        Control::TimedOut => (Some(Outcome::TimedOut { step: "connect".into() }), false),
        Control::BannerAlone => (outcome(Inside::HeardBanner, shows), false),
        Control::Foreign => (outcome(Inside::Foreign, shows), false),
    };
    Some(record(shows, outcome, if seen { vec![sighting("canary-tcp")] } else { vec![] }))
}

fn judged(now: Situation<'_>) -> Judged {
    let sightings = if now.outside { vec![sighting("canary-tcp")] } else { vec![] };
    let mut target = record(now.shows, outcome(now.inside, now.shows), sightings);
    target.began = now.began;
    let controls: Vec<_> = now.controls.iter().map(|one| control(*one, now.shows)).collect();
    let broken = now.controls.iter().map(|one| *one == Control::Broken);
    let controls: Vec<_> =
        controls.iter().zip(broken).map(|(record, broken)| Unconfined { record: record.as_ref(), broken }).collect();
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
    let controls = [Unconfined { record: control.as_ref(), broken: false }];
    let evidence = Evidenced { shows: Shows::Outside, target: None, controls: &controls, banners: &[], gaps: false };
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

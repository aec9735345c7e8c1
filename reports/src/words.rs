//! The words that people read for the model's values, in one place.

use crate::{
    page::Tone,
    results::{ControlKind, Counts, Level, Seen, Status, Subject, Verdict},
};

/// As it stands at the head of a result: readable without colours.
pub(crate) fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "PASS",
        Verdict::Fail => "FAIL",
        Verdict::Inconclusive => "INCONCLUSIVE",
        Verdict::NotApplicable => "NOT APPLICABLE",
        Verdict::HarnessError => "HARNESS ERROR",
    }
}

pub(crate) fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Pass => Tone::Good,
        Verdict::Fail | Verdict::HarnessError => Tone::Bad,
        Verdict::Inconclusive => Tone::Doubtful,
        Verdict::NotApplicable => Tone::Faint,
    }
}

pub(crate) fn status_tone(status: Status) -> Tone {
    match status {
        Status::Conformant => Tone::Good,
        Status::Nonconformant => Tone::Bad,
        Status::Incomplete => Tone::Doubtful,
    }
}

pub(crate) fn level(level: Level) -> &'static str {
    match level {
        Level::Must => "MUST",
        Level::Should => "SHOULD",
    }
}

pub(crate) fn subject(subject: Subject) -> &'static str {
    match subject {
        Subject::Isolation => "isolation",
        Subject::Relay => "relay",
        Subject::Launcher => "launcher",
    }
}

pub(crate) fn about(subject: Subject) -> &'static str {
    match subject {
        Subject::Isolation => "the sandbox's own walls",
        Subject::Relay => "the relays that carry the permitted routes",
        Subject::Launcher => "what starts and ends the sandbox",
    }
}

pub(crate) fn seen(seen: Seen) -> &'static str {
    match seen {
        Seen::TwoSided => "seen from both sides",
        Seen::InsideOnly => "seen from inside only",
    }
}

/// What the control of this kind is.
pub(crate) fn control(control: ControlKind) -> &'static str {
    match control {
        ControlKind::Unconfined => {
            "unconfined: the same attempt, made by the same probe in the same world without a sandbox as the \
             launching user, succeeds"
        }
        ControlKind::UnconfinedRoot => {
            "unconfined as root: the same attempt, made by the same probe in the same world without a sandbox as the \
             world's root, succeeds"
        }
        ControlKind::Twin => "twin: the permitted sibling, made through the same target in the same launch, succeeds",
        ControlKind::KnownPositive => "known positive: the detector finds what was planted for it",
    }
}

/// The area of a requirement: `EGRESS` of `EGRESS-3`.
pub(crate) fn area(id: &str) -> &str {
    id.split_once('-').map_or(id, |(area, _)| area)
}

/// How many requirements came out how, in a line.
pub(crate) fn counts(counts: &Counts) -> String {
    format!(
        "{} pass, {} fail, {} inconclusive, {} harness error, {} not applicable; {} failed",
        counts.pass,
        counts.fail,
        counts.inconclusive,
        counts.harness_error,
        counts.not_applicable,
        number(counts.should_fail as usize, "SHOULD")
    )
}

/// `1 check`, `3 checks`.
pub(crate) fn number(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

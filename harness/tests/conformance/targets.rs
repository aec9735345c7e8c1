//! Trials about targets: each check's verdict is the expected one, and the doubles prove that verdicts can differ.

use std::collections::BTreeSet;

use libtest_mimic::{Failed, Trial};
use watertight::{
    check::{Check, Rule},
    checks, site,
};
use watertight_reports::{
    evidence::LaunchKind,
    results::{Status, Verdict},
};

use crate::{
    committed,
    holds::{every_mutant_is_caught, fails_what_is_committed, leaves_nothing},
    place::Who,
    runs::{self, OTHERS, PRETENDERS, Run},
    trial,
};

pub fn trials(who: Who) -> Vec<Trial> {
    let mut trials = vec![];
    let mut of = |target, name: &str, test: fn(Who, &Run) -> Result<(), Failed>| {
        trials.push(trial(who, format!("{target}::{name}"), move || with(target, who, |run| test(who, run))));
    };
    of("reference", "is_conformant", |_, run| has(run, Status::Conformant, 0));
    of("reference", "only_what_is_committed_is_untestable", |who, run| {
        committed::untestable(who, &run.results.untestable)
    });
    of("bubblewrap", "is_nonconformant", |_, run| has(run, Status::Nonconformant, 1));
    of("bubblewrap", "each_of_its_mutants_is_caught_by_exactly_its_checks", |who, run| {
        every_mutant_is_caught(who, run, 10)
    });
    of("open", "is_nonconformant", |_, run| has(run, Status::Nonconformant, 1));
    of("open", "is_heard_by_every_canary", |_, run| every_canary_hears(run));
    of("dead", "is_never_conformant", |_, run| never_conformant(run));
    for target in PRETENDERS {
        of(target, "is_never_conformant", |_, run| never_conformant(run));
    }
    for target in OTHERS {
        of(target, "fails_exactly_what_is_committed", fails_what_is_committed);
    }
    for target in ["unshare", "bubblewrap-exec", "hozo", "hozo-proxy", "agent-nook", "buddelkiste", "sandlock"] {
        of(target, "each_of_its_mutants_is_caught_by_exactly_its_checks", |who, run| {
            every_mutant_is_caught(who, run, 4)
        });
    }
    for target in ["reference", "bubblewrap", "open", "dead"].into_iter().chain(PRETENDERS).chain(OTHERS) {
        of(target, "leaves_nothing_on_the_machine", |_, run| leaves_nothing(run));
    }
    for check in checks::all() {
        trials.extend(verdicts(who, check));
    }
    trials
}

/// One check on every target that says something about it.
fn verdicts(who: Who, check: &'static Check) -> Vec<Trial> {
    let slug = check.slug;
    let mut trials = vec![];
    let mut of = |target, holds: fn(&str, Verdict) -> Result<(), String>| {
        let body = move |run: &Run| {
            let (verdict, reason) = verdict(run, slug)?;
            holds(slug, verdict).map_err(|expected| format!("{verdict:?}, expected {expected}\n{reason}").into())
        };
        trials.push(trial(who, format!("{target}::{slug}"), move || with(target, who, body)));
    };
    of("reference", |_, verdict| expect(verdict == Verdict::Pass, "Pass"));
    of("bubblewrap", |slug, verdict| {
        let known = committed::known_failures("bubblewrap", Who::Root)?;
        let expected = known.get(slug).map_or(&[Verdict::Pass][..], Vec::as_slice);
        expect(expected.contains(&verdict), &format!("{expected:?}"))
    });
    if matches!(check.rule, Rule::Denied) {
        of("open", |_, verdict| expect(verdict == Verdict::Fail, "Fail"));
    }
    of("dead", |_, verdict| expect(!matches!(verdict, Verdict::Pass | Verdict::NotApplicable), "anything but a pass"));
    trials
}

fn expect(holds: bool, expected: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(expected.to_owned()) }
}

fn with(target: &'static str, who: Who, test: impl FnOnce(&Run) -> Result<(), Failed>) -> Result<(), Failed> {
    match &*runs::of(target, who) {
        Ok(run) => test(run),
        Err(error) => Err(error.into()),
    }
}

/// A check's verdict, and what a reader needs to understand it.
fn verdict(run: &Run, slug: &str) -> Result<(Verdict, String), Failed> {
    let result = run.results.checks.iter().find(|check| check.slug == slug);
    let result = result.ok_or("there is no result of this check")?;
    let mut reason = result.reason.join("\n");
    for one in &result.observations {
        reason.push_str(&format!(
            "\n{}: {} | inside {} | outside {} | control {}",
            one.attempt, one.outcome, one.inside, one.outside, one.control
        ));
    }
    Ok((result.verdict, reason))
}

/// The status and the exit status, which agree.
fn has(run: &Run, status: Status, code: i32) -> Result<(), Failed> {
    if run.results.status == status && run.exit.code() == Some(code) && run.results.checks.len() == checks::all().len()
    {
        return Ok(());
    }
    Err(format!("{:?}, {}, expected {status:?}, exit status {code}", run.results.status, run.exit).into())
}

fn never_conformant(run: &Run) -> Result<(), Failed> {
    let conformant = run.results.status == Status::Conformant || run.exit.code() == Some(0);
    let all = run.results.checks.len() == checks::all().len();
    if !conformant && all { Ok(()) } else { Err(format!("{}, {}", run.results.status_line(), run.exit).into()) }
}

/// What the target's own probe did, unconfined, was heard by each kind of canary.
fn every_canary_hears(run: &Run) -> Result<(), Failed> {
    let evidence = run.evidence()?;
    let targets = evidence.launches.iter().filter(|launch| launch.kind == LaunchKind::Target);
    let sightings = targets.flat_map(|launch| launch.attempts.values()).flat_map(|attempt| &attempt.sightings);
    let heard: BTreeSet<&str> = sightings.map(|sighting| sighting.fixture.as_str()).collect();
    let deaf: Vec<_> = site::CANARIES.iter().filter(|canary| !heard.contains(*canary)).collect();
    if deaf.is_empty() { Ok(()) } else { Err(format!("{deaf:?} heard nothing; {heard:?} did").into()) }
}

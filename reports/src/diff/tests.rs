use super::*;
use crate::{
    bundle::shown::Shown,
    mutants::{Fate, Mutant},
    page::Style,
    results::{AttemptOutcome, ControlKind, Counts, Fact, Level, Seen, Status, Verdict},
    testing,
};

fn shown() -> Shown {
    Shown { results: testing::vsock_failed(), predicate: None, mutants: None, signed: None }
}

/// Changes, by what they are of.
type Named = Vec<(Kind, String)>;

/// What is worse, and what is merely different, after this was done to a run in which one requirement failed.
fn after(change: impl FnOnce(&mut Shown)) -> (Named, Named) {
    let (before, mut after) = (shown(), shown());
    change(&mut after);
    let checks = &after.results.checks;
    (after.results.counts, after.results.status) = (Counts::of(checks), Status::of(checks, true));
    let diff = of(&before, &after);
    let short = |changes: &[Change]| changes.iter().map(|one| (one.kind, one.of.clone())).collect();
    (short(&diff.regressions), short(&diff.changes))
}

fn first(kind: Kind, of: &str) -> Vec<(Kind, String)> {
    vec![(kind, of.to_owned())]
}

#[test]
fn a_run_equals_itself() {
    let diff = of(&shown(), &shown());
    assert!(diff.holds() && diff.changes.is_empty());
    assert!(render(&diff, &Style::default()).starts_with("nothing became worse\n"));
}

#[test]
fn verdicts_that_change_are_told_by_what_they_become() {
    let passing = shown().results.checks.iter().position(|check| check.verdict == Verdict::Pass).expect("a pass");
    let id = shown().results.checks[passing].id.clone();
    for (verdict, kind) in [
        (Verdict::Fail, Kind::NewlyFailing),
        (Verdict::Inconclusive, Kind::NewlyInconclusive),
        (Verdict::HarnessError, Kind::NewlyInconclusive),
        (Verdict::NotApplicable, Kind::NewlyNotApplicable),
    ] {
        let (worse, other) = after(|shown| shown.results.checks[passing].verdict = verdict);
        assert_eq!((worse, other), (first(kind, &id), vec![]), "{verdict:?}");
    }
    let failing = shown().results.checks.iter().position(|check| check.verdict == Verdict::Fail).expect("a failure");
    let id = shown().results.checks[failing].id.clone();
    let (worse, other) = after(|shown| shown.results.checks[failing].verdict = Verdict::Pass);
    assert_eq!((worse, other), (vec![], first(Kind::NewlyPassing, &id)));
}

#[test]
fn what_is_left_out_or_says_less_is_worse() {
    let id = shown().results.checks[0].id.clone();
    assert_eq!(after(|shown| drop(shown.results.checks.remove(0))).0, first(Kind::RequirementRemoved, &id));
    let must = shown().results.checks.iter().position(|check| check.level == Level::Must).expect("a MUST");
    let of_must = shown().results.checks[must].id.clone();
    let (worse, _) = after(|shown| shown.results.checks[must].level = Level::Should);
    assert_eq!(worse, first(Kind::LevelLowered, &of_must));
    let strong = |check: &crate::results::CheckResult| {
        check.seen == Seen::TwoSided && check.control == ControlKind::Unconfined && !check.observations.is_empty()
    };
    let at = shown().results.checks.iter().position(strong).expect("a check that is seen from both sides");
    let check = shown().results.checks[at].clone();
    assert_eq!(
        after(|shown| shown.results.checks[at].seen = Seen::InsideOnly).0,
        first(Kind::ControlWeakened, &check.id)
    );
    let weaker = after(|shown| shown.results.checks[at].control = ControlKind::KnownPositive).0;
    assert_eq!(weaker, first(Kind::ControlWeakened, &check.id));
    let attempt = check.observations[0].attempt.clone();
    let lost = after(|shown| drop(shown.results.checks[at].observations.remove(0))).0;
    assert_eq!(lost, first(Kind::AttemptLost, &attempt));
    let untestable = after(|shown| shown.results.checks[at].observations[0].outcome = AttemptOutcome::UntestableHere).0;
    assert_eq!(untestable, first(Kind::AttemptLost, &attempt));
    assert_eq!(after(|shown| shown.results.untestable.push("x::y/z".into())).0, first(Kind::AttemptLost, "x::y/z"));
}

#[test]
fn a_mutant_that_is_not_caught_any_more_is_worse() {
    let mutant = |status| Mutant { status, ..Mutant::new("open-door", "it is open", vec!["EGRESS-1".into()]) };
    let with = |mutants: Option<Vec<Mutant>>| Shown { mutants, ..shown() };
    let kinds = |before: &Shown, after: &Shown| {
        let diff = of(before, after);
        diff.regressions.iter().chain(&diff.changes).map(|one| one.kind).collect::<Vec<_>>()
    };
    let killed = with(Some(vec![mutant(Fate::Killed)]));
    for other in [Some(vec![mutant(Fate::Survived)]), Some(vec![mutant(Fate::Void)]), Some(vec![]), None] {
        assert_eq!(kinds(&killed, &with(other)), [Kind::MutantLost]);
    }
    assert_eq!(kinds(&with(None), &killed), [Kind::MutantAdded]);
    assert_eq!(kinds(&killed, &killed), []);
}

#[test]
fn where_and_with_what_it_ran_is_told_and_is_not_worse() {
    let (worse, other) = after(|shown| {
        shown.results.environment.insert("kernel".into(), Fact::Known("9.9".into()));
        shown.results.target.version = "2".into();
        shown.results.profile = "core 2.0".into();
    });
    assert_eq!(worse, []);
    let kinds: Vec<Kind> = other.into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, [Kind::OtherVersion, Kind::OtherSpec, Kind::OtherKernel]);
    let (worse, _) = after(|shown| shown.results.target.name = "another".into());
    assert_eq!(worse, first(Kind::OtherTarget, "target"));
}

#[test]
fn kinds_are_words_in_the_document_and_in_the_text() {
    let mut after = shown();
    after.results.checks.remove(0);
    let diff = of(&shown(), &after);
    let document = serde_json::to_value(&diff).expect("JSON");
    assert_eq!(document["regressions"][0]["kind"], "requirement-removed");
    assert_eq!(document["schema"], SCHEMA);
    let text = render(&diff, &Style::default());
    assert!(text.starts_with("1 thing became worse\n") && text.contains("requirement removed  "), "{text}");
}

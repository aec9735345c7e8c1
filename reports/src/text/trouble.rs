//! What is wrong, worst first: the requirement, why, both sides of each attempt, and what to do next.

use std::collections::HashMap;

use super::ids;
use crate::{
    page::{self, Page, Tone},
    results::{AttemptOutcome, CheckResult, ControlKind, Level, Results, Seeing, Verdict},
    words,
};

/// Most attempts and reasons shown of one check, unless all are asked for.
const SHOWN: usize = 4;
/// Columns of one seeing's text, unless all is asked for.
const LONG: usize = 240;
/// Checks that share a cause before they become one statement.
const SHARED: usize = 3;
/// Column of what belongs to a result.
const BODY: usize = 6;

/// Everything that keeps the run from being green, and SHOULDs that could not be judged.
pub(super) fn write<'s>(page: &mut Page, results: &Results, sentence: &impl Fn(&str) -> Option<&'s str>) {
    for verdict in [Verdict::Fail, Verdict::HarnessError, Verdict::Inconclusive] {
        let of = |level| results.checks.iter().filter(move |check| (check.verdict, check.level) == (verdict, level));
        // SHOULDs that failed have a place of their own.
        let shoulds = of(Level::Should).filter(|check| check.verdict != Verdict::Fail);
        let checks: Vec<_> = of(Level::Must).chain(shoulds).collect();
        for group in grouped(&checks) {
            page.gap();
            match group {
                Group::One(check) => one(page, check, sentence),
                Group::Many(cause, members) => many(page, results, &cause, &members),
            }
        }
    }
}

/// One result in full.
pub(super) fn one<'s>(page: &mut Page, check: &CheckResult, sentence: &impl Fn(&str) -> Option<&'s str>) {
    let head = format!(
        "{}  {}  ({}, {}, {})",
        check.id,
        check.slug,
        words::level(check.level),
        words::subject(check.subject),
        words::seen(check.seen)
    );
    page.hanging(0, (&format!("{}  ", words::verdict(check.verdict)), words::tone(check.verdict)), BODY, &head);
    if let Some(sentence) = sentence(&check.id) {
        page.paragraph(BODY, Tone::Strong, sentence);
    }
    let limit = if page.style.verbose { usize::MAX } else { SHOWN };
    for reason in check.reason.iter().take(limit) {
        row(page, "why", reason);
    }
    more(page, check.reason.len(), limit, "more reason");
    let relevant = relevant(check);
    for seen in relevant.iter().take(limit) {
        attempt(page, BODY, seen);
    }
    more(page, relevant.len(), limit, "more attempt");
    if relevant.iter().take(limit).any(|seen| seen.control.is_empty()) {
        row(page, "control", words::control(check.control));
    }
    for witness in check.witness.iter().take(limit) {
        row(page, "witness", witness);
    }
    more(page, check.witness.len(), limit, "more line");
    row(page, "next", &format!("watertight explain {}", check.id));
}

/// One attempt: what was tried, seen inside, seen outside, and its control.
pub(crate) fn seeing(page: &mut Page, indent: usize, seeing: &Seeing, control: ControlKind) {
    attempt(page, indent, seeing);
    if seeing.control.is_empty() {
        page.labelled(indent, ("  control  ", Tone::Faint), words::control(control));
    }
}

/// The same, and nothing where it has no control of its own: what its check's is can be told once.
fn attempt(page: &mut Page, indent: usize, seeing: &Seeing) {
    // What the rule of a whole check judges has no outcome of its own.
    let outcome = match seeing.outcome {
        AttemptOutcome::Recorded => String::new(),
        outcome => format!(": {}", outcome.word().replace('-', " ")),
    };
    page.labelled(indent, ("attempt    ", Tone::Faint), &format!("{}{outcome}", seeing.attempt));
    let limit = if page.style.verbose { usize::MAX } else { LONG };
    for (label, text) in [("inside", &seeing.inside), ("outside", &seeing.outside), ("control", &seeing.control)] {
        if label != "control" || !text.is_empty() {
            page.labelled(indent, (&format!("  {label:<9}"), Tone::Faint), &page::cut(text, limit));
        }
    }
}

fn row(page: &mut Page, label: &str, text: &str) {
    page.labelled(BODY, (&format!("{label:<11}"), Tone::Faint), text);
}

fn more(page: &mut Page, all: usize, limit: usize, noun: &str) {
    if all > limit {
        row(page, "", &format!("and {}; -v shows them", words::number(all - limit, noun)));
    }
}

/// The attempts that explain the verdict, the plainest evidence first; all of them where none stands out.
pub(crate) fn relevant(check: &CheckResult) -> Vec<&Seeing> {
    let rank = |seen: &Seeing| match seen.outcome {
        AttemptOutcome::GotThrough => Some(0),
        AttemptOutcome::NotAsRequired => Some(1),
        AttemptOutcome::NoReport => Some(2),
        AttemptOutcome::Undecided => Some(3),
        AttemptOutcome::UntestableHere if check.verdict != Verdict::Fail => Some(4),
        AttemptOutcome::Recorded => Some(5),
        AttemptOutcome::Denied
        | AttemptOutcome::AsRequired
        | AttemptOutcome::AnsweredLocally
        | AttemptOutcome::TimedOut
        | AttemptOutcome::UntestableHere => None,
    };
    let mut ranked: Vec<_> = check.observations.iter().filter_map(|seen| Some((rank(seen)?, seen))).collect();
    // Of attempts without an outcome of their own, those that the reasons name.
    let named = |seen: &Seeing| {
        // `slug/name (kind of launch)`.
        let name = seen.attempt.split_once('/').map_or("", |(_, name)| name);
        let name = name.split_once(" (").map_or(name, |(name, _)| name);
        check.reason.iter().any(|reason| reason.split_once(": ").is_some_and(|(start, _)| start == name))
    };
    if ranked.iter().all(|(rank, _)| *rank == 5) {
        let mut meant: Vec<_> = check.observations.iter().filter(|seen| named(seen)).collect();
        if meant.is_empty() {
            meant = check.observations.iter().collect();
        }
        return meant;
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    let certain = ranked.iter().any(|(rank, _)| *rank < 2);
    ranked.into_iter().filter(|(rank, _)| !certain || *rank < 2).map(|(_, seen)| seen).collect()
}

enum Group<'a> {
    One(&'a CheckResult),
    Many(String, Vec<&'a CheckResult>),
}

/// Checks of one verdict; those that share a cause together. A failure is always told by itself: it is evidence.
fn grouped<'a>(checks: &[&'a CheckResult]) -> Vec<Group<'a>> {
    let mut count: HashMap<&str, usize> = HashMap::new();
    for check in checks {
        let mut causes = causes(check);
        causes.sort_unstable();
        causes.dedup();
        for cause in causes {
            *count.entry(cause).or_default() += 1;
        }
    }
    let mut groups: Vec<Group<'a>> = vec![];
    for check in checks {
        // The last one of the most shared: the judge puts what concerns the whole launch last.
        let shared = causes(check).into_iter().max_by_key(|cause| count.get(cause).copied().unwrap_or(0));
        let shared = shared.filter(|cause| check.verdict != Verdict::Fail && count.get(cause) >= Some(&SHARED));
        let Some(cause) = shared else {
            groups.push(Group::One(check));
            continue;
        };
        let known = groups.iter_mut().find_map(|group| match group {
            Group::Many(known, members) if known == cause => Some(members),
            Group::Many(..) | Group::One(_) => None,
        });
        match known {
            Some(members) => members.push(check),
            None => groups.push(Group::Many(cause.to_owned(), vec![check])),
        }
    }
    groups
}

/// A check's reasons without the name of the attempt that stands before some.
fn causes(check: &CheckResult) -> Vec<&str> {
    let names: Vec<_> = check.observations.iter().filter_map(|seen| seen.attempt.split_once('/')).collect();
    let cause = |reason: &'_ String| -> usize {
        let name = reason.split_once(": ").map(|(name, _)| name);
        name.filter(|name| names.iter().any(|(_, known)| known == name)).map_or(0, |name| name.len() + 2)
    };
    check.reason.iter().map(|reason| &reason[cause(reason)..]).collect()
}

fn many(page: &mut Page, results: &Results, cause: &str, members: &[&CheckResult]) {
    let Some(first) = members.first() else { return };
    let label = format!("{}  ", words::verdict(first.verdict));
    let head = match members.len() {
        all if all == results.checks.len() => format!("every check ({all}), for one reason"),
        some => format!("{some} checks, for one reason"),
    };
    page.hanging(0, (&label, words::tone(first.verdict)), BODY, &head);
    row(page, "why", cause);
    // In the document's order, in which ids run on.
    let in_order = results.checks.iter().filter(|check| members.iter().any(|member| std::ptr::eq(*member, *check)));
    row(page, "checks", &ids::compact(in_order.map(|check| check.id.as_str())));
    if first.verdict == Verdict::HarnessError {
        let target = argument(&results.target.name);
        row(page, "next", &format!("watertight check {target} --evidence evidence.json"));
        row(page, "", "watertight doctor");
        row(page, "", &format!("watertight explain {}", first.id));
    } else {
        row(page, "next", &format!("watertight explain {}", first.id));
    }
}

/// A name that can be copied into a shell as it stands.
pub(crate) fn argument(name: &str) -> &str {
    let safe = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_' || byte == b'.';
    if !name.is_empty() && name.bytes().all(safe) && !name.starts_with('-') { name } else { "NAME" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        testing,
        text::{Style, render},
    };

    #[test]
    fn failures_are_told_one_by_one_even_where_they_share_a_reason() {
        let mut results = testing::dead();
        results.checks.iter_mut().for_each(|check| check.verdict = Verdict::Fail);
        let text = render(&results, |_| None, &Style::default());
        let told = text.lines().filter(|line| line.starts_with("FAIL  ")).count();
        assert_eq!(told, results.checks.len());
    }

    #[test]
    fn no_check_is_lost_when_causes_are_shared() {
        let results = testing::dead();
        let members: usize = grouped(&results.checks.iter().collect::<Vec<_>>())
            .iter()
            .map(|group| match group {
                Group::One(_) => 1,
                Group::Many(_, members) => members.len(),
            })
            .sum();
        assert_eq!(members, results.checks.len());
    }

    #[test]
    fn two_checks_with_one_cause_are_told_in_full() {
        let mut results = testing::dead();
        results.checks.truncate(2);
        let text = render(&results, |_| None, &Style::default());
        assert_eq!(text.matches("next       watertight explain ROUTE-").count(), 2, "{text}");
    }

    #[test]
    fn of_attempts_without_an_outcome_those_that_a_reason_names_are_shown() {
        let mut results = testing::small();
        let check = &mut results.checks[0];
        check.reason = vec!["datagram: nothing came back".into()];
        check.observations.iter_mut().for_each(|seen| {
            seen.outcome = AttemptOutcome::Recorded;
            seen.control = String::new();
        });
        check.observations[1].attempt.push_str(" (NoInstance)");
        check.observations[1].inside = "word ".repeat(100);
        let text = render(&results, |_| None, &Style::default());
        assert_eq!(text.matches("attempt    ").count(), 1, "{text}");
        assert!(text.contains("attempt    egress::vsock/datagram (NoInstance)\n"), "{text}");
        assert_eq!(text.matches("control    ").count(), 1, "once for all: {text}");
        assert!(text.matches("word").count() < 60 && text.contains('…'), "{text}");
    }

    #[test]
    fn a_name_that_a_shell_would_read_otherwise_is_not_put_into_a_command() {
        for (name, shown) in [("bubblewrap", "bubblewrap"), ("a;reboot", "NAME"), ("$(x)", "NAME"), ("--help", "NAME")]
        {
            let mut results = testing::dead();
            results.target.name = name.into();
            let text = render(&results, |_| None, &Style::default());
            assert!(
                text.contains(&format!("next       watertight check {shown} --evidence evidence.json\n")),
                "{text}"
            );
        }
    }
}

//! One requirement: its sentence, why it was judged so, every attempt with both sides and its control, its mutants.

use std::time::Duration;

use super::{Markup, Run, anchor, long, prose, tone};
use crate::{
    render::run::{Weight, control},
    results::{AttemptOutcome, CheckResult, Seeing},
    text, words,
};

pub(super) fn write(page: &mut Markup, run: Run<'_>, check: &CheckResult) {
    let tone = tone(check);
    let mut attributes = vec![("class", tone)];
    if let Some(id) = anchor(check) {
        attributes.insert(0, ("id", id));
    }
    if matches!(Weight::of(check), Weight::Red | Weight::Told) {
        attributes.push(("open", ""));
    }
    page.line();
    page.inside("details", &attributes, |page| {
        page.inside("summary", &[], |page| {
            page.element("span", &[("class", "id")], &check.id);
            page.inside("span", &[("class", "sentence")], |page| prose(page, run.sentence(check)));
            page.element("span", &[("class", &format!("pill {tone}"))], &words::verdict(check.verdict).to_lowercase());
        });
        meta(page, check);
        lines(page, "Why", &check.reason);
        attempts(page, check);
        lines(page, "Witness", &check.witness);
        lines(page, "What closes it", &run.closes(check).map(str::to_owned).into_iter().collect::<Vec<_>>());
        below(page, run, check);
    });
}

fn meta(page: &mut Markup, check: &CheckResult) {
    page.inside("p", &[("class", "meta")], |page| {
        page.element("code", &[], &check.slug);
        let time = text::elapsed(Duration::from_micros(check.duration_us));
        for word in [words::level(check.level), words::subject(check.subject), words::seen(check.seen), &time] {
            page.text(" · ");
            page.text(word);
        }
    });
}

/// More lines than this stand beside each other where there is room.
const MANY: usize = 5;

fn lines(page: &mut Markup, heading: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let class: &[_] = if lines.len() > MANY { &[("class", "many")] } else { &[] };
    page.inside("div", &[("class", "why")], |page| {
        page.element("h3", &[], heading);
        page.inside("ul", class, |page| {
            lines.iter().for_each(|line| page.inside("li", &[], |page| long(page, line)));
        });
    });
}

const COLUMNS: [&str; 4] = ["Attempt", "Inside", "Outside", "Control"];

fn attempts(page: &mut Markup, check: &CheckResult) {
    if check.observations.is_empty() {
        return;
    }
    let mut rows: Vec<&Seeing> = check.observations.iter().collect();
    rows.sort_by_key(|seen| weight(seen.outcome));
    page.inside("table", &[], |page| {
        page.inside("thead", &[], |page| {
            page.inside("tr", &[], |page| {
                COLUMNS.iter().for_each(|name| page.element("th", &[("scope", "col")], name));
            });
        });
        page.inside("tbody", &[], |page| rows.into_iter().for_each(|seen| attempt(page, check, seen)));
    });
}

fn attempt(page: &mut Markup, check: &CheckResult, seen: &Seeing) {
    let (class, pill) = match weight(seen.outcome) {
        0 => ("bad", "pill bad"),
        1 => ("doubt", "pill doubt"),
        _ => ("plain", "pill idle"),
    };
    page.inside("tr", &[("class", class)], |page| {
        page.inside("td", &[("data-label", COLUMNS[0])], |page| {
            // Under its check, an attempt needs no more than its own name.
            let name = seen.attempt.strip_prefix(&format!("{}/", check.slug)).unwrap_or(&seen.attempt);
            page.element("code", &[], name);
            if seen.outcome != AttemptOutcome::Recorded {
                page.text(" ");
                page.element("span", &[("class", pill)], &seen.outcome.word().replace('-', " "));
            }
        });
        let own = if seen.control.is_empty() { "the check’s, below" } else { control(check, seen) };
        for (label, text) in COLUMNS[1..].iter().zip([seen.inside.as_str(), &seen.outside, own]) {
            page.inside("td", &[("data-label", label)], |page| long(page, text));
        }
    });
}

/// What an attempt says about the verdict: 0 speaks against it, 1 leaves it open.
fn weight(outcome: AttemptOutcome) -> u8 {
    match outcome {
        AttemptOutcome::GotThrough | AttemptOutcome::NotAsRequired | AttemptOutcome::NoReport => 0,
        AttemptOutcome::Undecided | AttemptOutcome::UntestableHere => 1,
        AttemptOutcome::Denied
        | AttemptOutcome::AnsweredLocally
        | AttemptOutcome::TimedOut
        | AttemptOutcome::AsRequired
        | AttemptOutcome::Recorded => 2,
    }
}

fn below(page: &mut Markup, run: Run<'_>, check: &CheckResult) {
    page.inside("dl", &[("class", "below")], |page| {
        page.element("dt", &[], "Control");
        page.element("dd", &[], words::control(check.control));
        page.element("dt", &[], "Mutants");
        page.inside("dd", &[], |page| {
            if check.mutants.is_empty() {
                page.text("none of its own");
            } else {
                page.text("broken references on which this check must fail:");
                page.inside("ul", &[], |page| check.mutants.iter().for_each(|slug| mutant(page, run, slug)));
            }
        });
    });
}

fn mutant(page: &mut Markup, run: Run<'_>, slug: &str) {
    page.inside("li", &[], |page| {
        page.element("code", &[], slug);
        if let Some(fate) = run.fate(slug) {
            page.text(" ");
            let class = if fate == "killed" { "pill good" } else { "pill bad" };
            page.element("span", &[("class", class)], fate);
        }
        if let Some(sentence) = run.context.suite.mutants.get(slug) {
            page.text(" ");
            prose(page, sentence);
        }
    });
}

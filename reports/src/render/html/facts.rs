//! Who ran what, where and when, and whether the checks see what opens this target.

use std::time::Duration;

use super::{Markup, Run, long, section};
use crate::{
    mutants::{Fate, Mutant},
    results::Fact,
    text, words,
};

pub(super) fn write(page: &mut Markup, run: Run<'_>) {
    section(page, "The run", |page| {
        page.inside("div", &[("class", "facts")], |page| {
            group(page, "Who", &who(run));
            group(page, "What", &what(run));
            group(page, "When", &when(run));
            group(page, "Where", &place(run));
        });
        launch(page, &run.results.target.argv);
    });
}

type Row = (String, String);

fn row(name: &str, value: impl Into<String>) -> Row {
    (name.into(), value.into())
}

/// The launch for people who want to repeat it; few do, and it is long.
fn launch(page: &mut Markup, argv: &[String]) {
    if argv.is_empty() {
        return;
    }
    page.inside("details", &[("class", "launch plain")], |page| {
        page.element("summary", &[], "The launch, as it was executed");
        page.element("p", &[], &argv.join(" "));
    });
}

fn who(run: Run<'_>) -> Vec<Row> {
    let signed = match run.context.signature {
        Some(signature) => {
            vec![
                row("Signed", "as its bundle says; watertight verify tells whether it holds"),
                row("By key", signature.keys.join(", ")),
                row("Statement", format!("sha256:{}", signature.statement)),
            ]
        }
        None => vec![row("Signed", "this page is not; a bundle that watertight verify accepts vouches for its run")],
    };
    signed.into_iter().chain([row("Harness ran as", fact(run, "identity"))]).collect()
}

fn what(run: Run<'_>) -> Vec<Row> {
    let results = run.results;
    let target = &results.target;
    let matrix = run.context.matrix;
    let killed = matrix.values().filter(|fate| **fate == Fate::Killed).count();
    vec![
        row("Target", &target.name),
        row("Version", known(&target.version)),
        row("Route", &target.route),
        row("Launched as", &target.launched_as),
        row("Requirements", format!("CONFORMANCE.md {}, profile {}", results.spec, results.profile)),
        row(
            "Suite’s own test",
            match matrix.len() {
                0 => "not part of this page".into(),
                all => format!("{killed} of {} caught", words::number(all, "broken reference")),
            },
        ),
    ]
}

fn place(run: Run<'_>) -> Vec<Row> {
    let facts = run.results.environment.keys().filter(|name| !["identity", "filter"].contains(&name.as_str()));
    let mut rows: Vec<_> = facts.map(|name| row(name, fact(run, name))).collect();
    let untestable = &run.results.untestable;
    rows.push(row("Untestable here", if untestable.is_empty() { "nothing".into() } else { untestable.join(", ") }));
    rows
}

fn when(run: Run<'_>) -> Vec<Row> {
    let results = run.results;
    vec![
        row("Started", known(&results.started_at)),
        row("Took", text::elapsed(Duration::from_millis(results.wall_ms))),
        row("Exit status", results.exit_code().to_string()),
    ]
}

fn fact(run: Run<'_>, name: &str) -> String {
    match run.results.environment.get(name) {
        Some(Fact::Known(value)) => known(value).to_owned(),
        Some(Fact::Unavailable(why)) => format!("not known: {why}"),
        None => "not recorded".into(),
    }
}

fn known(text: &str) -> &str {
    if text.is_empty() { "not recorded" } else { text }
}

fn group(page: &mut Markup, heading: &str, rows: &[Row]) {
    page.inside("div", &[("class", "group")], |page| {
        page.element("h3", &[], heading);
        page.inside("dl", &[], |page| {
            for (name, value) in rows {
                page.element("dt", &[], &name.replace('_', " "));
                page.inside("dd", &[], |page| long(page, value));
            }
        });
    });
}

/// Edits of the target that open it, those first that were not caught.
pub(super) fn edits(page: &mut Markup, run: Run<'_>) {
    let mut edits: Vec<&Mutant> = run.results.sensitivity.iter().collect();
    if edits.is_empty() {
        return;
    }
    edits.sort_by_key(|mutant| mutant.status);
    section(page, "Edits of this target that open it", |page| {
        let text = "Each was run after the target. The checks named must fail on it, and no others.";
        page.element("p", &[], text);
        page.inside("dl", &[("class", "edits")], |page| edits.into_iter().for_each(|mutant| edit(page, mutant)));
    });
}

fn edit(page: &mut Markup, mutant: &Mutant) {
    let tone = if mutant.status == Fate::Killed { "pill good" } else { "pill bad" };
    page.inside("dt", &[], |page| {
        page.element("span", &[("class", tone)], mutant.status.name());
        page.element("code", &[], &mutant.slug);
    });
    page.inside("dd", &[], |page| {
        page.element("p", &[], &mutant.sentence);
        let ids = |ids: Vec<&str>| if ids.is_empty() { "nothing".into() } else { text::in_order(ids) };
        page.element("p", &[], &format!("Failed on it: {}.", ids(mutant.kills.iter().map(String::as_str).collect())));
        let missed: Vec<_> = mutant.missed().collect();
        if !missed.is_empty() {
            page.element("p", &[], &format!("Did not fail, and must: {}.", ids(missed)));
        }
        for id in mutant.collateral() {
            let reason = mutant.reasons.get(id).map_or("", String::as_str);
            page.element("p", &[], &format!("Failed, and must not: {id}: {reason}"));
        }
        for unclear in &mutant.unclear {
            page.element("p", &[], &format!("Not judged: {unclear}"));
        }
        if let Some(why) = &mutant.error {
            page.element("p", &[], &format!("Why: {why}"));
        }
    });
}

//! The scoreboard as Markdown and as one page.

use super::{
    html::head,
    markdown::{code, escaped},
    markup::Markup,
    run::class,
};
use crate::{
    results::Level,
    scoreboard::{Area, Failed, Row, Scoreboard},
};

const STYLE: &str = include_str!("scoreboard.css");
/// Nothing is loaded or executed, even if some text became markup.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";
const TITLE: &str = "Sandboxes that were checked";
/// Each paragraph of what a reader must know before comparing two rows.
const MEANING: [&str; 6] = [
    "A row is one run of one version in one configuration, on one kernel, started by one kind of user. It says nothing of \
     the same sandbox with other words on its command line.",
    "A cell is how many of an area's requirements held, of those that apply. Requirements weigh differently for different \
     uses: do not add cells up, and do not rank rows. They stand in the order of their names.",
    "What a manifest declares absent, such as a route to a provider, is not applicable and not counted. A sandbox that \
     is not meant to carry such a route loses nothing by it.",
    "Some rows are no sandboxes and never claimed to be: they show what the same checks say where nothing is confined.",
    "Every row comes from a bundle whose signature and whose every verdict were verified. The signature tells who vouches \
     for the record, not that the run took place.",
    "What did not hold is shown only where a public report or the sandbox's own documentation says so already. A run with \
     any other failure is not in this table.",
];

/// For a repository.
pub fn markdown(board: &Scoreboard) -> String {
    let areas = board.areas();
    let mut text = format!("# {TITLE}\n\n");
    for column in ["target", "version", "as", "kernel", "profile", "status"].iter().chain(&areas) {
        text.push_str(&format!("| {} ", escaped(column)));
    }
    text.push_str("|\n");
    text.push_str(&"| --- ".repeat(6 + areas.len()));
    text.push_str("|\n");
    for row in &board.rows {
        let target = format!("[{}]({})", escaped(&row.target), link(&row.bundle));
        let facts =
            [&row.version, &row.launched_as, &row.kernel, &row.profile].map(|fact| code(&fact.replace('|', "/")));
        text.push_str(&format!("| {target} | {} | {} ", facts.join(" | "), row.status.word()));
        for area in &areas {
            text.push_str(&format!("| {} ", cell(row, area)));
        }
        text.push_str("|\n");
    }
    text.push_str("\n## What did not hold\n\n");
    for row in board.rows.iter().filter(|row| !row.failed.is_empty()) {
        let each: Vec<_> = row.failed.iter().map(|one| format!("[{}]({})", name(one), link(&one.report))).collect();
        text.push_str(&format!("- {} {}: {}\n", escaped(&row.target), code(&row.version), each.join(", ")));
    }
    text.push_str("\n## How to read this\n\n");
    MEANING.iter().for_each(|paragraph| text.push_str(&format!("{paragraph}\n\n")));
    text.push_str("Verified runs:\n\n");
    for row in &board.rows {
        let (run, signers) = (code(&row.run), row.signers.join(", "));
        text.push_str(&format!(
            "- {}: run {run}, {}, signed by {}\n",
            escaped(&row.target),
            row.finished_at,
            escaped(&signers)
        ));
    }
    text
}

/// One page without scripts.
pub fn html(board: &Scoreboard) -> String {
    let mut page = Markup::new("<!doctype html>\n");
    page.inside("html", &[("lang", "en")], |page| {
        page.inside("head", &[], |page| head(page, &format!("{TITLE} (Watertight)"), POLICY, STYLE));
        page.line();
        page.inside("body", &[], |page| {
            page.element("h1", &[], TITLE);
            page.inside(
                "div",
                &[("class", "wide"), ("tabindex", "0"), ("role", "region"), ("aria-label", TITLE)],
                |page| {
                    table(page, board);
                },
            );
            page.element("h2", &[], "What did not hold");
            page.inside("dl", &[], |page| board.rows.iter().for_each(|row| failed(page, row)));
            page.element("h2", &[], "How to read this");
            MEANING.iter().for_each(|paragraph| page.element("p", &[], paragraph));
        });
        page.line();
    });
    page.finish()
}

fn table(page: &mut Markup, board: &Scoreboard) {
    let areas = board.areas();
    page.inside("table", &[], |page| {
        page.inside("thead", &[], |page| {
            page.inside("tr", &[], |page| {
                for column in ["target", "status"].iter().chain(&areas) {
                    page.element("th", &[("scope", "col")], column);
                }
            });
        });
        page.inside("tbody", &[], |page| {
            for row in &board.rows {
                page.line();
                page.inside("tr", &[], |page| line(page, row, &areas));
            }
        });
    });
}

fn line(page: &mut Markup, row: &Row, areas: &[&str]) {
    page.inside("th", &[("scope", "row")], |page| {
        page.element("a", &[("href", &link(&row.bundle))], &row.target);
        let facts = [&row.version, &row.launched_as, &row.kernel, &row.profile].map(String::as_str).join(", ");
        page.element("small", &[], &facts);
    });
    page.element("td", &[("class", class(row.status))], row.status.word());
    for area in areas {
        let text = cell(row, area);
        let tone = if found(row, area).is_some_and(|one| one.passed < one.applicable) { "bad" } else { "plain" };
        page.element("td", &[("class", tone)], &text);
    }
}

fn failed(page: &mut Markup, row: &Row) {
    if row.failed.is_empty() {
        return;
    }
    page.element("dt", &[], &format!("{}, {}", row.target, row.version));
    page.inside("dd", &[], |page| {
        for (index, one) in row.failed.iter().enumerate() {
            page.text(if index == 0 { "" } else { ", " });
            page.element("a", &[("href", &link(&one.report))], &name(one));
        }
    });
}

fn name(failed: &Failed) -> String {
    match failed.level {
        Level::Must => failed.id.clone(),
        Level::Should => format!("{} (SHOULD)", failed.id),
    }
}

fn found<'a>(row: &'a Row, area: &str) -> Option<&'a Area> {
    row.areas.iter().find(|one| one.name == area)
}

/// `16/17`; a dash where nothing of the area applies.
fn cell(row: &Row, area: &str) -> String {
    match found(row, area) {
        Some(Area { passed, applicable: all @ 1.., .. }) => format!("{passed}/{all}"),
        _ => "–".into(),
    }
}

/// What may stand as the address of a link: a path beside this document, or an https URL. Anything else leads nowhere.
fn link(text: &str) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || "-._~/%#?=&:+@".contains(character);
    let path = !text.contains(':') && !text.starts_with("//");
    if text.chars().all(plain) && (text.starts_with("https://") || path) { text.to_owned() } else { "#".into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        predicate::Kind,
        results::{Counts, Status},
        sanitise,
        scoreboard::SCHEMA,
    };

    fn row(target: &str, passed: u32) -> Row {
        let area = |name: &str, passed, applicable| Area { name: name.into(), passed, applicable };
        Row {
            target: target.into(),
            version: "1.2 | x".into(),
            kind: Kind::ThirdParty,
            route: "sockets".into(),
            launched_as: "an ordinary user".into(),
            profile: "core 1.0".into(),
            identity: "root".into(),
            kernel: "6.18.0".into(),
            status: if passed == 17 { Status::Conformant } else { Status::Nonconformant },
            counts: Counts::default(),
            areas: vec![area("EGRESS", passed, 17), area("AUTH", 0, 0)],
            failed: (passed..17)
                .map(|number| Failed {
                    id: format!("EGRESS-{number}"),
                    level: if number == 16 { Level::Should } else { Level::Must },
                    report: "https://example.org/issues/7".into(),
                })
                .collect(),
            finished_at: "2026-11-30T10:00:00Z".into(),
            run: "00ff".into(),
            statement: "ab".into(),
            signers: vec!["acme".into()],
            bundle: format!("{target}/00ff"),
        }
    }

    fn board() -> Scoreboard {
        Scoreboard { schema: SCHEMA.into(), rows: vec![row("alpha", 17), row("beta", 15)] }
    }

    #[test]
    fn a_table_shows_every_area_of_every_row_and_where_failures_are_known_from() {
        insta::assert_snapshot!(markdown(&board()));
        insta::assert_snapshot!(html(&board()));
    }

    #[test]
    fn hostile_names_and_links_stay_text() {
        for hostile in crate::testing::hostile() {
            let mut board = board();
            let text = sanitise::text(&hostile, sanitise::NAME_LIMIT);
            for row in &mut board.rows {
                for field in [&mut row.target, &mut row.version, &mut row.bundle, &mut row.run, &mut row.signers[0]] {
                    field.clone_from(&text);
                }
                row.failed.iter_mut().for_each(|one| one.report.clone_from(&text));
            }
            let page = html(&board);
            for tag in ["<script", "<img", "href=\"javascript", "href=\"data", "href=\"http:"] {
                assert!(!page.to_lowercase().contains(tag), "{hostile:?}: {page}");
            }
            let rows = markdown(&board).lines().filter(|line| line.starts_with("| ")).count();
            assert_eq!(rows, 4, "{hostile:?}");
        }
    }

    #[test]
    fn only_paths_and_https_are_linked_to() {
        for good in ["reference/00ff", "https://example.org/a?b=c#d", "bubblewrap.hardened/1"] {
            assert_eq!(link(good), good);
        }
        for bad in
            ["javascript:alert(1)", "//example.org", "http://example.org", "a b", "a)b", "data:text/html,x", "a\"b"]
        {
            assert_eq!(link(bad), "#", "{bad}");
        }
    }
}

//! The catalogue of requirements, for people and for programs.

use serde::Serialize;

use crate::{
    json,
    page::{self, Style},
    results::{Level, Subject},
    words,
};

/// One requirement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    pub id: String,
    /// The smallest profile that has it.
    pub profile: String,
    pub level: Level,
    pub subject: Subject,
    pub slug: String,
    pub sentence: String,
    /// Broken references that its check must catch.
    pub mutants: Vec<String>,
}

/// One line each, the sentence cut to the width; whole and below where the style is verbose.
pub fn text(rows: &[Row], style: &Style) -> String {
    let width = |cell: fn(&Row) -> &str| rows.iter().map(|row| page::columns(cell(row))).max().unwrap_or(0);
    let id = width(|row| &row.id);
    let level = width(|row| words::level(row.level));
    let subject = width(|row| words::subject(row.subject));
    let slug = width(|row| &row.slug);
    let mut text = String::new();
    for row in rows {
        let head = format!(
            "{:<id$}  {:<level$}  {:<subject$}  {:<slug$}",
            row.id,
            words::level(row.level),
            words::subject(row.subject),
            row.slug
        );
        let taken = page::columns(&head) + 2;
        if style.verbose || style.width < taken + LEAST {
            text.push_str(head.trim_end());
            text.push('\n');
        }
        if style.verbose {
            let mut sentence = page::Page::new(style);
            sentence.paragraph(4, page::Tone::Plain, &row.sentence);
            text.push_str(&sentence.finish());
        } else if style.width >= taken + LEAST {
            text.push_str(&format!("{head}  {}\n", page::cut(&row.sentence, style.width - taken)));
        }
    }
    text
}

/// One target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TargetRow {
    pub name: String,
    pub route: String,
    /// What it is, in one sentence.
    pub summary: String,
    /// A double of the suite, which nobody would use as a sandbox.
    pub double: bool,
    /// Edits that open it, which `check --with-mutants` tries.
    pub mutants: Vec<String>,
}

/// Sandboxes first, then the doubles of the suite.
pub fn targets_text(rows: &[TargetRow], style: &Style) -> String {
    let mut page = page::Page::new(style);
    let name = rows.iter().map(|row| page::columns(&row.name)).max().unwrap_or(0);
    let route = rows.iter().map(|row| page::columns(&row.route)).max().unwrap_or(0);
    for (double, heading) in [
        (false, "Sandboxes"),
        (true, "Doubles: fake targets that test the suite itself, and must not come out conformant"),
    ] {
        let of_kind: Vec<_> = rows.iter().filter(|row| row.double == double).collect();
        if of_kind.is_empty() {
            continue;
        }
        page.gap();
        page.paragraph(0, page::Tone::Strong, heading);
        for row in of_kind {
            let head = format!("{:<name$}  {:<route$}  ", row.name, row.route);
            let mutants = match row.mutants.len() {
                0 => String::new(),
                1 => " 1 mutant.".into(),
                count => format!(" {count} mutants."),
            };
            page.labelled(2, (&head, page::Tone::Plain), &format!("{}{mutants}", row.summary));
        }
    }
    page.finish()
}

/// An array of objects with `name`, `route`, `summary`, `double` and `mutants`.
pub fn targets_json(rows: &[TargetRow]) -> String {
    json::render(rows)
}

/// Columns that a sentence needs to say anything; narrower windows do without it.
const LEAST: usize = 12;

/// An array of objects with `id`, `profile`, `level`, `subject`, `slug` and `sentence`.
pub fn json(rows: &[Row]) -> String {
    json::render(rows)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing;

    #[test]
    fn the_catalogue_is_a_table_that_fits() {
        for width in [60, 80, 120] {
            let table = text(&testing::rows(), &Style { width, ..Style::default() });
            assert!(table.lines().all(|line| page::columns(line) <= width), "{table}");
            assert_eq!(table.lines().count(), testing::rows().len());
            insta::assert_snapshot!(format!("catalogue_{width}"), table);
        }
    }

    #[test]
    fn verbose_gives_whole_sentences() {
        insta::assert_snapshot!(text(&testing::rows(), &Style { verbose: true, ..Style::default() }));
    }

    #[test]
    fn programs_get_the_same_as_an_array() {
        let value: serde_json::Value = serde_json::from_str(&json(&testing::rows())).expect("JSON");
        assert_eq!(value.as_array().map(Vec::len), Some(testing::rows().len()));
        insta::assert_snapshot!(json(&testing::rows()[..2]));
    }

    fn targets() -> Vec<TargetRow> {
        let row = |name: &str, summary: &str, double| TargetRow {
            name: name.into(),
            route: "sockets".into(),
            summary: summary.into(),
            double,
            mutants: if double { vec![] } else { vec!["share-network".into(), "share-run".into()] },
        };
        let long = "bubblewrap, as an agent's launcher uses it: private network, the host's programs read-only.";
        vec![row("dead", "Exits 0 without running anything.", true), row("bubblewrap", long, false)]
    }

    #[test]
    fn doubles_stand_apart_from_sandboxes() {
        insta::assert_snapshot!(targets_text(&targets(), &Style::default()));
    }

    #[test]
    fn programs_get_every_target() {
        let value: serde_json::Value = serde_json::from_str(&targets_json(&targets())).expect("JSON");
        assert_eq!((&value[0]["name"], &value[0]["double"]), (&"dead".into(), &true.into()));
        assert_eq!((&value[0]["mutants"], value[1]["mutants"].as_array().map(Vec::len)), (&json!([]), Some(2)));
    }
}

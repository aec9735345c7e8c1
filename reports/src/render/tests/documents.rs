//! Documents of every format and every kind of run as files, for the validators that `scripts/reports` starts.

use std::{fs, path::PathBuf};

use super::{shown, shown_at};
use crate::{
    json,
    render::Format,
    results::{Fact, Results, Status},
    sanitise, testing,
};

/// Where they are written; nowhere that stays, where nobody asks for them.
const DIRECTORY: &str = "WATERTIGHT_DOCUMENTS";

fn runs() -> Vec<(String, Results)> {
    let mut cut = Results { status: Status::Incomplete, ..testing::small() };
    cut.environment.insert("filter".into(), Fact::Known("EGRESS-14".into()));
    let mut named: Vec<(String, Results)> = [
        ("conformant", testing::green()),
        ("nonconformant", testing::vsock_failed()),
        ("harness-error", testing::dead()),
        // Every verdict, not-applicable and inconclusive among them, and edits of the target.
        ("mixed", testing::mixed()),
        ("filtered", cut),
    ]
    .map(|(name, results)| (name.to_owned(), results))
    .into();
    for (number, hostile) in testing::hostile().iter().enumerate() {
        let mut results = testing::every_text(hostile);
        sanitise::results(&mut results);
        named.push((format!("hostile-{number}"), results));
    }
    named
}

#[test]
fn every_document_of_every_kind_of_run_is_written() {
    let temporary = std::env::temp_dir().join(format!("watertight-documents-{}", std::process::id()));
    let asked = std::env::var_os(DIRECTORY).map(PathBuf::from);
    let directory = asked.as_ref().unwrap_or(&temporary);
    fs::create_dir_all(directory).expect("a directory");
    let mut written = 0;
    for (name, results) in runs() {
        fs::write(directory.join(format!("{name}.results")), json::render(&results)).expect("written");
        for format in Format::ALL {
            // A third party's, so that both kinds of place are looked at.
            let text = match name.as_str() {
                "mixed" => shown_at("harness/targets/bubblewrap.toml", &results, |run| format.render(run)),
                _ => shown(&results, |run| format.render(run)),
            };
            fs::write(directory.join(format!("{name}.{}.{}", format.name(), format.extension())), text)
                .expect("written");
            written += 1;
        }
    }
    assert_eq!(written, (5 + testing::hostile().len()) * Format::ALL.len());
    if asked.is_none() {
        fs::remove_dir_all(temporary).expect("removed");
    }
}

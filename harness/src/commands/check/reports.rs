//! `--report FORMAT=FILE`: one run in several formats at once.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use watertight_reports::{
    render::{Format, Suite},
    results::Results,
    text::Style,
};

use super::Refusal;
use crate::{commands::file::Output, suite::shown, target::Target};

/// Stands for the target's name in the name of a file.
const TARGET: &str = "{target}";
/// Columns of a text in a file.
const WIDTH: usize = 100;

/// The files that are asked for, open.
pub struct Reports(Vec<Report>);

struct Report {
    format: Format,
    /// One target's own, by its number, or all targets'.
    target: Option<usize>,
    file: Output,
}

impl Reports {
    /// Opened before the run, so that no run is lost to a wrong name. `taken` is written to by something else.
    pub fn open(asked: &[(Format, PathBuf)], targets: &[Target], taken: Option<&Path>) -> Result<Self, Refusal> {
        let mut files = vec![];
        let mut paths: BTreeSet<PathBuf> = taken.map(Path::to_owned).into_iter().collect();
        let mut add = |format, target, path: PathBuf| {
            if !paths.insert(path.clone()) {
                return Err(Refusal::usage(format!("two documents would be written to {}", path.display())));
            }
            let file = Output::open(&path).map_err(Refusal::usage)?;
            files.push(Report { format, target, file });
            Ok(())
        };
        for (format, path) in asked {
            match path.to_str().filter(|text| text.contains(TARGET)) {
                Some(text) => {
                    for (number, target) in targets.iter().enumerate() {
                        add(*format, Some(number), text.replace(TARGET, &target.name).into())?;
                    }
                }
                None => {
                    one_at_most(*format, targets)?;
                    add(*format, None, path.clone())?;
                }
            }
        }
        Ok(Self(files))
    }

    /// Writes what was found, by the target's number. What could not be written, in words.
    pub fn write(self, found: &[Option<&Results>], suite: &Suite, verbose: bool) -> Vec<String> {
        let style = Style { width: WIDTH, colour: false, verbose };
        let mut failed = vec![];
        for Report { format, target, file } in self.0 {
            let wanted: Vec<&Results> = match target {
                Some(number) => found.get(number).copied().flatten().into_iter().collect(),
                None => found.iter().copied().flatten().collect(),
            };
            // Why there are none was said already.
            let several = target.is_none() && found.len() > 1;
            let Some(document) = document(format, &wanted, several, suite, style) else { continue };
            // Other commands of a step add to the same summary.
            let written =
                if format == Format::GithubSummary { file.append(&document) } else { file.replace(&document) };
            failed.extend(written.err());
        }
        failed
    }
}

/// Refuses a format that shows one target, where there are several.
pub fn one_at_most(format: Format, targets: &[Target]) -> Result<(), Refusal> {
    if targets.len() < 2 || format.holds_several() {
        return Ok(());
    }
    Err(Refusal::usage(format!(
        "{} shows one target, and {} are named: use --report {}=FILE with {TARGET} in the file's name",
        format.name(),
        targets.len(),
        format.name()
    )))
}

/// The document of these results: of the only target's, or of what was found of several. Nothing where there is none.
pub fn document(format: Format, results: &[&Results], several: bool, suite: &Suite, style: Style) -> Option<String> {
    shown(results, suite, &BTreeMap::new(), None, style, |runs| match (several, runs) {
        (false, []) => None,
        (false, [only, ..]) => Some(format.render(*only)),
        (true, all) => format.render_several(all),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(names: &[&str]) -> Vec<Target> {
        names.iter().map(|name| Target::load(name).expect(name)).collect()
    }

    #[test]
    fn a_name_with_a_place_for_the_target_is_a_file_for_each() {
        let directory = tempfile::tempdir().expect("a directory");
        let asked = [(Format::Html, directory.path().join("{target}.html"))];
        let reports = Reports::open(&asked, &targets(&["dead", "open"]), None).ok().expect("opened");
        assert_eq!(reports.0.len(), 2);
        assert!(directory.path().join("dead.html").is_file() && directory.path().join("open.html").is_file());
    }

    #[test]
    fn what_would_be_lost_is_refused_before_the_run() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("report");
        let refused = |asked: &[(Format, PathBuf)], names: &[&str], taken: Option<&Path>| {
            let refusal = Reports::open(asked, &targets(names), taken).err().expect("refused");
            assert_eq!(refusal.code, 2);
            refusal.words
        };
        let twice = [(Format::Html, path.clone()), (Format::Json, path.clone())];
        assert!(refused(&twice, &["dead"], None).starts_with("two documents would be written to "));
        assert!(refused(&twice[..1], &["dead"], Some(&path)).starts_with("two documents would be written to "));
        let words = refused(&twice[..1], &["dead", "open"], None);
        assert!(words.contains("html shows one target, and 2 are named"), "{words}");
        let nowhere = [(Format::Json, PathBuf::from("/nonexistent/report"))];
        assert!(refused(&nowhere, &["dead"], None).starts_with("cannot write /nonexistent/report: "));
    }
}

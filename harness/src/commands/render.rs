//! `watertight render` and `watertight badge`: the results of an earlier run in another format.

use std::{collections::BTreeMap, process::ExitCode};

use watertight_reports::{mutants::Fate, render::Format, results::Results};

use super::{
    HARNESS_ERROR, USAGE,
    file::Output,
    line::{Badge, Document, Render},
    load::{self, Loaded},
    output,
};
use crate::{
    catalogue::Catalogue,
    suite::{shown, suite},
};

pub fn run(line: &Render) -> ExitCode {
    match line.selftest.as_deref().map(load::matrix).transpose() {
        Ok(matrix) => show(&line.document, line.format, matrix.as_ref()),
        Err(words) => super::refuse(&words, USAGE),
    }
}

pub fn badge(line: &Badge) -> ExitCode {
    let format = if line.json { Format::BadgeJson } else { Format::BadgeSvg };
    show(&line.document, format, None)
}

fn show(line: &Document, format: Format, matrix: Option<&BTreeMap<String, Fate>>) -> ExitCode {
    let catalogue = match Catalogue::load() {
        Ok(catalogue) => catalogue,
        Err(error) => return super::refuse(&error, HARNESS_ERROR),
    };
    let document = match rendered(line, format, matrix, &catalogue) {
        Ok(document) => document,
        Err(words) => return super::refuse(&words, USAGE),
    };
    let Some(path) = &line.out else { return super::show(&document, 0) };
    match Output::open(path) {
        Ok(file) => match file.replace(&document) {
            Ok(()) => ExitCode::SUCCESS,
            Err(words) => super::refuse(&words, HARNESS_ERROR),
        },
        Err(words) => super::refuse(&words, USAGE),
    }
}

fn rendered(
    line: &Document,
    format: Format,
    matrix: Option<&BTreeMap<String, Fate>>,
    catalogue: &Catalogue,
) -> Result<String, String> {
    let Loaded { mut results, matrix: own, signature } = load::results(&line.results)?;
    let matrix = matrix.unwrap_or(&own);
    if let Some(name) = &line.target {
        results.retain(|one| one.target.name == *name);
        if results.is_empty() {
            return Err(format!("{}: it has no results of a target {name:?}", line.results.display()));
        }
    }
    let all: Vec<&Results> = results.iter().collect();
    let document =
        shown(&all, &suite(catalogue), matrix, signature.as_ref(), output::style(false), |runs| match runs {
            [only] => Some(format.render(*only)),
            several => format.render_several(several),
        });
    document.ok_or_else(|| one_only(format, &results))
}

/// Why a format cannot show these results.
fn one_only(format: Format, results: &[Results]) -> String {
    let names: Vec<_> = results.iter().map(|one| one.target.name.as_str()).collect();
    format!(
        "{} shows one target, and there are {} ({}): choose one with --target",
        format.name(),
        results.len(),
        names.join(", ")
    )
}

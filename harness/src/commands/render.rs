//! `watertight render` and `watertight badge`: the results of an earlier run in another format.

use std::{collections::BTreeMap, path::Path, process::ExitCode};

use serde::Deserialize;
use watertight_reports::{
    bundle::shown::Shown,
    mutants::{Fate, Mutant},
    render::Format,
    results::Results,
};

use super::{
    HARNESS_ERROR, USAGE,
    file::Output,
    line::{Badge, Document, Render},
    load, output,
};
use crate::{
    catalogue::Catalogue,
    suite::{shown, suite},
};

pub fn run(line: &Render) -> ExitCode {
    let matrix = line.selftest.as_deref().map_or_else(|| Ok(kept_matrix(&line.document.results)), matrix);
    match matrix {
        Ok(matrix) => show(&line.document, line.format, &matrix),
        Err(words) => super::refuse(&words, USAGE),
    }
}

pub fn badge(line: &Badge) -> ExitCode {
    let format = if line.json { Format::BadgeJson } else { Format::BadgeSvg };
    show(&line.document, format, &BTreeMap::new())
}

fn show(line: &Document, format: Format, matrix: &BTreeMap<String, Fate>) -> ExitCode {
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
    matrix: &BTreeMap<String, Fate>,
    catalogue: &Catalogue,
) -> Result<String, String> {
    let mut results = load::results(&line.results)?;
    if let Some(name) = &line.target {
        results.retain(|one| one.target.name == *name);
        if results.is_empty() {
            return Err(format!("{}: it has no results of a target {name:?}", line.results.display()));
        }
    }
    let all: Vec<&Results> = results.iter().collect();
    let document = shown(&all, &suite(catalogue), matrix, None, output::style(false), |runs| match runs {
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

/// What became of each mutant in the kill matrix of a bundle, where it has one.
fn kept_matrix(path: &Path) -> BTreeMap<String, Fate> {
    let mutants = Shown::open(path).ok().and_then(|bundle| bundle.mutants).unwrap_or_default();
    mutants.into_iter().map(|mutant| (mutant.slug, mutant.status)).collect()
}

/// What became of each mutant in a selftest.
fn matrix(path: &Path) -> Result<BTreeMap<String, Fate>, String> {
    /// The part of that document that is needed here.
    #[derive(Deserialize)]
    struct Matrix {
        mutants: Vec<Mutant>,
    }
    let shown = path.display();
    let text = load::text(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
    let matrix: Matrix = serde_json::from_str(&text)
        .map_err(|error| format!("{shown}: {error}; it must be what `watertight selftest --json` printed"))?;
    Ok(matrix.mutants.into_iter().map(|mutant| (mutant.slug, mutant.status)).collect())
}

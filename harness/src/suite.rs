//! What this program knows of its suite, for the documents that show a run.

use std::collections::BTreeMap;

use watertight_reports::{
    each::{each, processors},
    mutants::{Fate, Mutant},
    render::{Context, Format, Requirement, Run, Signature, Suite},
    results::Results,
    text::Style,
};

use crate::{catalogue::Catalogue, remedies, selftest::MUTANTS, target::Target};

/// The requirements, what is not claimed, and the mutants.
pub fn suite(catalogue: &Catalogue) -> Suite {
    let requirements = catalogue.requirements.iter().map(|requirement| {
        let known = Requirement {
            sentence: requirement.sentence.clone(),
            about: requirement.about.clone(),
            closes: remedies::of(&requirement.id).unwrap_or_default().to_owned(),
            line: requirement.line,
        };
        (requirement.id.clone(), known)
    });
    Suite {
        program: env!("CARGO_PKG_VERSION").into(),
        spec: catalogue.version.clone(),
        requirements: requirements.collect(),
        not_claimed: catalogue.not_claimed.clone(),
        mutants: MUTANTS.iter().map(|mutant| (mutant.slug.into(), mutant.sentence.into())).collect(),
    }
}

/// What is made of runs with these results, each with what is known beside it.
pub fn shown<T>(
    results: &[&Results],
    suite: &Suite,
    matrix: &BTreeMap<String, Fate>,
    signature: Option<&Signature>,
    style: Style,
    make: impl FnOnce(&[Run<'_>]) -> T,
) -> T {
    let manifests: Vec<_> = results.iter().map(|one| manifest(&one.target.name)).collect();
    let context = |manifest| Context { suite, manifest, signature, matrix, style };
    let contexts: Vec<_> = manifests.iter().map(|manifest| context(manifest.as_deref())).collect();
    let runs: Vec<_> = results.iter().zip(&contexts).map(|(results, context)| Run { results, context }).collect();
    make(&runs)
}

/// The documents that lie in a bundle beside its results, by name: whoever has these can make them again, byte for byte.
pub const KEPT: [(&str, Format); 9] = [
    ("badge.json", Format::BadgeJson),
    ("badge.svg", Format::BadgeSvg),
    ("ctrf.json", Format::Ctrf),
    ("full.sarif", Format::SarifFull),
    ("github.sarif", Format::Sarif),
    ("junit.xml", Format::Junit),
    ("report.html", Format::Html),
    ("report.md", Format::Markdown),
    ("report.txt", Format::Text),
];

/// Makes them.
pub fn kept(results: &Results, catalogue: &Catalogue, mutants: &[Mutant]) -> Vec<(String, Vec<u8>)> {
    let matrix = mutants.iter().map(|mutant| (mutant.slug.clone(), mutant.status)).collect();
    shown(&[results], &suite(catalogue), &matrix, None, Style::default(), |runs| {
        let document = |(name, format): &(&str, Format)| {
            let documents = runs.iter().map(|run| format.render(*run));
            ((*name).to_owned(), documents.collect::<String>().into_bytes())
        };
        each(&KEPT, processors(), document)
    })
}

/// Where the manifest of a third party's sandbox stands in this repository. The reference's failures are about its own
/// text and code.
fn manifest(target: &str) -> Option<String> {
    let known = target != "reference" && Target::names().any(|name| name == target);
    known.then(|| format!("harness/targets/{target}.toml"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn every_manifest_is_where_documents_point_to() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for target in Target::names().filter(|name| *name != "reference") {
            assert!(root.join(manifest(target).expect("known")).is_file(), "{target}");
        }
        assert_eq!((manifest("reference"), manifest("../../etc/passwd")), (None, None));
    }

    #[test]
    fn every_requirement_has_its_line_in_the_text() {
        let suite = suite(&Catalogue::load().expect("a catalogue"));
        assert!(!suite.requirements.is_empty() && !suite.not_claimed.is_empty() && !suite.mutants.is_empty());
        let lines: Vec<_> = crate::catalogue::TEXT.lines().collect();
        for (id, requirement) in &suite.requirements {
            assert!(lines[requirement.line - 1].starts_with(&format!("**{id}** ")), "{id}");
        }
    }
}

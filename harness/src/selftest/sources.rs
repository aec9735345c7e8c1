//! Holds the list of mutants to the sources of `CONFORMANCE.md`: what was reported is broken somewhere, or it is said why not.

use std::collections::BTreeMap;

use super::{Mutant, expected};
use crate::{
    catalogue::{Became, Catalogue, Source, SourceTable},
    checks,
};

const LIST: &str = include_str!("sources.txt");

/// Mutants of a source, or why there are none.
type Answer = Result<Vec<&'static str>, &'static str>;

fn answers() -> BTreeMap<&'static str, Answer> {
    let mut answers = BTreeMap::new();
    for line in LIST.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (id, answer) = match line.split_once(": ").filter(|(id, _)| !id.contains('=')) {
            Some((id, slugs)) => (id, Ok(slugs.split(' ').collect())),
            None => {
                let (id, reason) = line.split_once(" = ").expect("`ID: SLUG…` or `ID = REASON`");
                (id, Err(reason))
            }
        };
        assert!(answers.insert(id, answer).is_none(), "{id} stands twice");
    }
    answers
}

fn name(source: &Source) -> String {
    match source.of {
        SourceTable::First => source.id.clone(),
        SourceTable::Cases => format!("case {}", source.id),
    }
}

/// Requirements that came of a source.
fn requirements(source: &Source) -> Vec<&str> {
    source
        .became
        .iter()
        .filter_map(|became| match became {
            Became::Requirement(id) => Some(id.as_str()),
            Became::Rule(_) | Became::Excluded(_) => None,
        })
        .collect()
}

#[test]
fn every_source_of_a_requirement_is_a_mutant_or_says_why_not() {
    let (catalogue, answers) = (Catalogue::load().expect("a catalogue"), answers());
    let of_requirements: Vec<String> =
        catalogue.sources.iter().filter(|source| !requirements(source).is_empty()).map(name).collect();
    let silent: Vec<_> = of_requirements.iter().filter(|id| !answers.contains_key(id.as_str())).collect();
    assert!(silent.is_empty(), "sources.txt has nothing of {silent:?}");
    let unknown: Vec<_> = answers.keys().filter(|id| !of_requirements.iter().any(|one| one == *id)).collect();
    assert!(unknown.is_empty(), "no requirement came of {unknown:?}");
    assert!(of_requirements.len() > 100, "{}", of_requirements.len());
}

#[test]
fn each_mutant_of_a_source_is_caught_by_a_check_of_one_of_its_requirements() {
    let (catalogue, answers, checks) = (Catalogue::load().expect("a catalogue"), answers(), checks::all());
    let mut wrong = vec![];
    for source in &catalogue.sources {
        let Some(Ok(slugs)) = answers.get(name(source).as_str()) else { continue };
        for slug in slugs {
            let mutant = Mutant::named(slug).unwrap_or_else(|| panic!("{}: no mutant is called {slug}", name(source)));
            let kills = expected::kills(mutant, &checks, true, true);
            let requirements = requirements(source);
            if !requirements.iter().any(|id| kills.contains(id)) {
                wrong.push(format!("{} came to be {requirements:?}, and {slug} is caught by {kills:?}", name(source)));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_reason_says_something_or_points_to_one_that_does() {
    let answers = answers();
    for (id, answer) in &answers {
        let Err(reason) = answer else { continue };
        match reason.strip_prefix("as ") {
            Some(other) => {
                assert!(matches!(answers.get(other), Some(Err(_))), "{id} is as {other}, which has no reason")
            }
            None => assert!(reason.len() > 40, "{id}: {reason}"),
        }
    }
}

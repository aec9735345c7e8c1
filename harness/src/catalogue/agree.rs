//! Holds the checks against the text: a run does not start while they say different things.

use std::collections::BTreeMap;

use watertight_reports::results::Level;

use super::{Catalogue, Requirement};
use crate::{check::Check, profile::Profile};

/// Every disagreement between the text and the checks, in words.
pub(super) fn problems(catalogue: &Catalogue, checks: &[&Check]) -> Vec<String> {
    let mut problems = twice(checks, "id", |check| check.id);
    problems.extend(twice(checks, "slug", |check| check.slug));
    for check in checks {
        problems.extend(form(check));
        match catalogue.requirement(check.id) {
            Some(requirement) => problems.extend(differs(catalogue, requirement, check)),
            None => problems.push(format!("{} ({}) is not in CONFORMANCE.md", check.id, check.slug)),
        }
    }
    problems.extend(untested(catalogue, checks));
    problems.extend(profiles(catalogue));
    problems
}

/// Where the text's profiles are not those of the checks.
fn profiles(catalogue: &Catalogue) -> Vec<String> {
    let (text, code): (Vec<_>, Vec<_>) = (
        catalogue.profiles.iter().map(|one| (one.name.as_str(), one.version.as_str())).collect(),
        Profile::ALL.iter().map(|one| (one.name(), one.version())).collect(),
    );
    if text != code {
        return vec![format!("the profiles are {text:?} in CONFORMANCE.md and {code:?} here")];
    }
    let areas = |profile: Profile| {
        let mut areas: Vec<&str> = profile.checks().iter().map(|check| check.area()).collect();
        areas.dedup();
        areas
    };
    let differ = catalogue.profiles.iter().zip(Profile::ALL).filter(|(text, code)| text.areas != areas(*code));
    differ
        .map(|(text, code)| {
            let (name, line) = (&text.name, text.line);
            format!(
                "the profile {name} has the areas {:?} in CONFORMANCE.md:{line} and {:?} here",
                text.areas,
                areas(code)
            )
        })
        .collect()
}

fn twice(checks: &[&Check], what: &str, of: fn(&Check) -> &'static str) -> Vec<String> {
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    for check in checks {
        *count.entry(of(check)).or_default() += 1;
    }
    count
        .into_iter()
        .filter(|(_, times)| *times > 1)
        .map(|(name, _)| format!("the {what} {name} is used twice"))
        .collect()
}

/// What a check must have whatever the text says.
fn form(check: &Check) -> Vec<String> {
    let mut problems = vec![];
    let prefix = format!("{}::", check.area().to_lowercase());
    if !check.slug.starts_with(&prefix) {
        problems.push(format!("the slug {} of {} does not start with {prefix}", check.slug, check.id));
    }
    if check.mutants.is_empty() && check.mutants_of_root.is_empty() {
        problems.push(format!("{} ({}) names no mutant that it must catch", check.id, check.slug));
    }
    problems
}

fn differs(catalogue: &Catalogue, requirement: &Requirement, check: &Check) -> Vec<String> {
    let Requirement { id, line, .. } = requirement;
    let mut problems = vec![];
    if requirement.level != check.level {
        problems.push(format!(
            "{id} is {:?} in CONFORMANCE.md:{line} and {:?} in its check",
            requirement.level, check.level
        ));
    }
    if requirement.subject != check.subject {
        problems.push(format!(
            "{id} is about {:?} in CONFORMANCE.md:{line} and about {:?} in its check",
            requirement.subject, check.subject
        ));
    }
    let waived = catalogue.waived_by(id);
    if waived != check.waived_by {
        problems
            .push(format!("{id} is waived by {waived:?} in CONFORMANCE.md and by {:?} in its check", check.waived_by));
    }
    if catalogue.is_of_relays(id) != check.of_relays {
        problems.push(format!("CONFORMANCE.md and the check disagree whether {id} is waived where `relay` is absent"));
    }
    if catalogue.unchecked.contains_key(id) {
        problems.push(format!("{id} has a check, and CONFORMANCE.md says that it has none"));
    }
    problems
}

/// Every MUST that is neither checked nor excluded with a reason.
fn untested(catalogue: &Catalogue, checks: &[&Check]) -> Vec<String> {
    let tested = |id: &str| checks.iter().any(|check| check.id == id) || catalogue.unchecked.contains_key(id);
    let musts = catalogue.requirements.iter().filter(|one| one.level == Level::Must);
    musts
        .filter(|one| !tested(&one.id))
        .map(|one| {
            format!("{} of CONFORMANCE.md:{} has neither a check nor a reason for having none", one.id, one.line)
        })
        .collect()
}

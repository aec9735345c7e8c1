//! `watertight list`: the requirements, or the targets.

use std::process::ExitCode;

use watertight_reports::list::{self, Row, TargetRow};

use super::{HARNESS_ERROR, line::List, output};
use crate::{
    catalogue::Catalogue,
    checks,
    profile::Profile,
    selftest::{MUTANTS, expected},
    target::Target,
};

pub fn run(line: &List) -> ExitCode {
    let style = output::style(line.verbose);
    let document = if line.targets {
        targets().map(|rows| if line.json { list::targets_json(&rows) } else { list::targets_text(&rows, &style) })
    } else {
        requirements(line.profile).map(|rows| if line.json { list::json(&rows) } else { list::text(&rows, &style) })
    };
    match document {
        Ok(document) => super::show(&document, 0),
        Err(words) => super::refuse(&words, HARNESS_ERROR),
    }
}

fn requirements(profile: Option<Profile>) -> Result<Vec<Row>, String> {
    let checks = checks::all();
    let catalogue = Catalogue::load().map_err(|error| error.to_string())?;
    // The smallest profile first.
    let profile_of = |area: &str| {
        let has = catalogue.profiles.iter().find(|one| one.areas.iter().any(|own| own == area));
        has.map_or(String::new(), |one| one.name.clone())
    };
    let asked = |requirement: &crate::catalogue::Requirement| {
        profile.is_none_or(|profile| Profile::named(&profile_of(requirement.area())).is_some_and(|own| own <= profile))
    };
    let row = |requirement: crate::catalogue::Requirement| {
        let check = checks.iter().find(|check| check.id == requirement.id);
        Row {
            profile: profile_of(requirement.area()),
            level: requirement.level,
            subject: requirement.subject,
            slug: check.map_or("not checked", |check| check.slug).into(),
            sentence: requirement.sentence,
            mutants: MUTANTS
                .iter()
                .filter(|mutant| expected::kills(mutant, &checks, true, true).contains(requirement.id.as_str()))
                .map(|mutant| mutant.slug.to_owned())
                .collect(),
            id: requirement.id,
        }
    };
    Ok(catalogue.requirements.iter().filter(|one| asked(one)).cloned().map(row).collect())
}

fn targets() -> Result<Vec<TargetRow>, String> {
    let row = |name: &str| {
        let target = Target::load(name).map_err(|error| error.to_string())?;
        let route = target.route.name().into();
        let mutants = target.mutants.into_keys().collect();
        Ok(TargetRow { name: target.name, route, summary: target.summary, double: target.double, mutants })
    };
    Target::names().map(row).collect()
}

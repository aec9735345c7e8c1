//! The catalogue: `CONFORMANCE.md` as data, and whether the checks agree with it.

mod agree;
mod parse;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use thiserror::Error;
use watertight_reports::results::{Level, Subject};

use crate::{
    check::{Capability, Check},
    checks,
};

/// The normative text, as it was when this program was built.
pub const TEXT: &str = include_str!("../../CONFORMANCE.md");

/// What `CONFORMANCE.md` says, in its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Catalogue {
    /// Version of the text: `1.0`.
    pub version: String,
    /// The profiles, in their order.
    pub profiles: Vec<Profiled>,
    pub requirements: Vec<Requirement>,
    /// Which requirements are waived where a target lacks all of these capabilities.
    pub waivers: BTreeMap<Vec<Capability>, Vec<String>>,
    /// Requirements that no check tests, each with the reason.
    pub unchecked: BTreeMap<String, String>,
    /// What nobody may conclude from a conformant run, one thing each.
    pub not_claimed: Vec<String>,
    pub sources: Vec<Source>,
}

/// One profile, as the text has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profiled {
    /// `isolation`.
    pub name: String,
    /// `1.0`.
    pub version: String,
    /// The areas whose requirements it has, those of a profile that it contains among them.
    pub areas: Vec<String>,
    pub line: usize,
}

/// One numbered requirement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// `EGRESS-3`.
    pub id: String,
    pub level: Level,
    pub subject: Subject,
    /// The one sentence that binds.
    pub sentence: String,
    /// What is attempted, the control, the witness and the source.
    pub about: String,
    /// Where it stands in `CONFORMANCE.md`, from 1.
    pub line: usize,
}

impl Requirement {
    /// `EGRESS` of `EGRESS-3`.
    pub fn area(&self) -> &str {
        self.id.split_once('-').map_or(&self.id, |(area, _)| area)
    }
}

/// One entry of a table of sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub of: SourceTable,
    /// `A3n` of the first system, or the case `A14`: the two tables number apart.
    pub id: String,
    pub says: String,
    pub became: Vec<Became>,
    pub line: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SourceTable {
    /// The first system's review record.
    First,
    /// Public reports.
    Cases,
}

/// What became of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Became {
    Requirement(String),
    /// A rule of judgement answers it.
    Rule(String),
    Excluded(String),
}

/// `CONFORMANCE.md` cannot be read as a catalogue.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum CatalogueError {
    #[error("CONFORMANCE.md has no line \"{0}\"")]
    Missing(&'static str),
    #[error("CONFORMANCE.md:{line}: {problem}")]
    At { line: usize, problem: String },
}

impl Catalogue {
    /// Reads the text that was built in.
    pub fn load() -> Result<Self, CatalogueError> {
        Self::parse(TEXT)
    }

    /// The text that was built in, where this program's checks agree with it; else every disagreement.
    pub fn agreed() -> Result<Self, Vec<String>> {
        let catalogue = Self::load().map_err(|error| vec![error.to_string()])?;
        catalogue.agree(&checks::all())?;
        Ok(catalogue)
    }

    /// Reads this text. An error names the line.
    pub fn parse(text: &str) -> Result<Self, CatalogueError> {
        parse::catalogue(text)
    }

    /// The requirement with this id.
    pub fn requirement(&self, id: &str) -> Option<&Requirement> {
        self.requirements.iter().find(|requirement| requirement.id == id)
    }

    /// What a target must lack so that this requirement is waived; nothing where it never is.
    pub fn waived_by(&self, id: &str) -> &[Capability] {
        let mut of_routes = self.waivers.iter().filter(|(routes, _)| **routes != [Capability::Relay]);
        of_routes.find(|(_, ids)| ids.iter().any(|one| one == id)).map_or(&[], |(routes, _)| routes)
    }

    /// Whether this requirement is waived where a target has no relay of ours.
    pub fn is_of_relays(&self, id: &str) -> bool {
        self.waivers.get(&vec![Capability::Relay]).is_some_and(|ids| ids.iter().any(|one| one == id))
    }

    /// Whether the checks test what the text requires, and nothing else. Every disagreement is told, one a line.
    pub fn agree(&self, checks: &[&Check]) -> Result<(), Vec<String>> {
        let problems = agree::problems(self, checks);
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }
}

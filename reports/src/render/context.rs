//! What documents say beside the results: the requirements' own words, who signed, what the suite's mutants became.

use std::collections::BTreeMap;

use crate::{mutants::Fate, text::Style};

/// What this program knows of the suite: the same for all runs that it shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suite {
    /// Version of the program.
    pub program: String,
    /// Version of its `CONFORMANCE.md`. Results of another one are shown without sentences and lines.
    pub spec: String,
    /// What that text says, by id.
    pub requirements: BTreeMap<String, Requirement>,
    /// What a conformant target is not claimed to be, one thing each.
    pub not_claimed: Vec<String>,
    /// What is wrong with each broken reference, by slug.
    pub mutants: BTreeMap<String, String>,
}

/// One numbered requirement of `CONFORMANCE.md`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// The one sentence that binds.
    pub sentence: String,
    /// What is attempted, the control, the witness and the source.
    pub about: String,
    /// What closes a failure of it, for whoever maintains the target.
    pub closes: String,
    /// Where it stands, from 1.
    pub line: usize,
}

/// Who vouches for the results, as their bundle says: no document verifies it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// SHA-256 of the statement that is said to be signed, in hexadecimal.
    pub statement: String,
    /// Ids of the keys that are said to have signed it.
    pub keys: Vec<String>,
}

/// What is known about one run beside its results.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    pub suite: &'a Suite,
    /// The target's manifest as a path from its repository's root: where documents that need a place in a file point
    /// to. Without one they point to the requirement in `CONFORMANCE.md`.
    pub manifest: Option<&'a str>,
    /// Nothing where none is known: a document inside a bundle is there before it is signed.
    pub signature: Option<&'a Signature>,
    /// What became of the broken references in a selftest, by slug; empty where none is known.
    pub matrix: &'a BTreeMap<String, Fate>,
    /// Of documents that are laid out in columns.
    pub style: Style,
}

//! The step about the kill matrix: whether it shows of these checks that they can fail.

use std::collections::BTreeMap;

use super::{
    code::Code,
    gate::{Rejection, Strictness, refuse, require},
    judge::Judge,
    policy::{Demand, Policy},
};
use crate::{
    matrix::Matrix,
    mutants::Fate,
    predicate::{Matrix as Stated, Predicate},
    sanitise,
    signing::digest::Digest,
};

/// The matrix is the one that was signed, of the same harness and text, and every mutant in it was caught.
pub fn matrix(
    predicate: &Predicate,
    kept: Option<&(Digest, Matrix)>,
    policy: &Policy,
    judge: &impl Judge,
    strictness: &impl Strictness,
) -> Result<(), Rejection> {
    let (Some(named), Some((digest, document))) = (&predicate.mutation_matrix, kept) else {
        let neither = predicate.mutation_matrix.is_none() && kept.is_none();
        return require(strictness, neither && !policy.demands(Demand::Matrix), Code::MatrixMissing, || {
            "the statement names no kill matrix, or the bundle does not hold the one that it names".into()
        });
    };
    let found = Stated::of(document, *digest);
    require(strictness, found.sha256 == named.sha256, Code::MatrixDigest, || {
        format!("payload/matrix.json has the digest {}, and another was signed", found.sha256)
    })?;
    require(strictness, found == *named, Code::MatrixDigest, || {
        "payload/matrix.json says other things of itself than the statement does".into()
    })?;
    require(strictness, named.harness_sha256 == predicate.harness.sha256, Code::MatrixHarness, || {
        "the kill matrix was made by another program than the run".into()
    })?;
    require(strictness, named.spec == predicate.spec.version, Code::MatrixSpec, || {
        format!("the kill matrix is about CONFORMANCE.md {}", sanitise::text(&named.spec, sanitise::NAME_LIMIT))
    })?;
    let mut expected = judge.mutants(document.identity == "root", document.full);
    for row in &document.mutants {
        let slug = &row.slug;
        let known = expected.remove(&row.slug);
        require(strictness, known.is_some_and(|ids| same(&ids, &row.expected)), Code::Mutctl, || {
            format!("mutant {slug} is not there in this version, is there twice, or other checks must catch it")
        })?;
        let fate = if row.status == Fate::Killed { row.judge(true) } else { row.status };
        require(strictness, fate == Fate::Killed, Code::Mutctl, || {
            format!("mutant {slug} was not caught: {}", fate.name())
        })?;
    }
    if let Some((slug, ids)) = first(&expected) {
        refuse(strictness, Code::Mutctl, format!("the matrix leaves out mutant {slug}, which {ids} must catch"))?;
    }
    let seen_through = |name: &str| document.doubles.iter().any(|double| double.name == name && double.right);
    let missed = judge.doubles().into_iter().find(|name| !seen_through(name));
    let wrong = missed.or_else(|| document.doubles.iter().find(|double| !double.right).map(|one| one.name.clone()));
    require(strictness, wrong.is_none(), Code::Mutctl, || {
        format!("the matrix does not show that the double {} was seen through", wrong.unwrap_or_default())
    })
}

fn first(left: &BTreeMap<String, Vec<String>>) -> Option<(&String, String)> {
    left.first_key_value().map(|(slug, ids)| (slug, ids.join(", ")))
}

fn same(one: &[String], other: &[String]) -> bool {
    let sorted = |ids: &[String]| {
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        ids
    };
    sorted(one) == sorted(other)
}

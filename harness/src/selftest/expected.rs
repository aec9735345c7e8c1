//! Which checks must catch a mutant: those that name it, and those that name what it implies.

use std::collections::BTreeSet;

use super::mutants::Mutant;
use crate::check::Check;

/// Ids of the checks that must fail on this mutant, and no others.
pub fn kills(mutant: &Mutant, checks: &[&'static Check], by_root: bool) -> BTreeSet<&'static str> {
    let mut seen = BTreeSet::new();
    let mut kills = BTreeSet::new();
    collect(mutant, checks, by_root, &mut seen, &mut kills);
    kills
}

fn collect(
    mutant: &Mutant,
    checks: &[&'static Check],
    by_root: bool,
    seen: &mut BTreeSet<&'static str>,
    kills: &mut BTreeSet<&'static str>,
) {
    // One that implies itself in a circle is looked at once.
    if !seen.insert(mutant.slug) {
        return;
    }
    let names = |check: &&&Check| {
        check.mutants.contains(&mutant.slug) || (by_root && check.mutants_of_root.contains(&mutant.slug))
    };
    kills.extend(checks.iter().filter(names).map(|check| check.id));
    for implied in mutant.implies.iter().filter_map(|slug| Mutant::named(slug)) {
        collect(implied, checks, by_root, seen, kills);
    }
}

/// Whether one of these checks names this very mutant.
pub fn is_named(mutant: &Mutant, checks: &[&'static Check]) -> bool {
    checks.iter().any(|check| check.mutants.contains(&mutant.slug) || check.mutants_of_root.contains(&mutant.slug))
}

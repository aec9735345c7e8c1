//! Which checks must catch a mutant: those that name it, and those that name what it implies.

use std::collections::BTreeSet;

use super::mutants::Mutant;
use crate::check::Check;

/// The check that tries every port. It takes as much processor time as all others together.
pub const EVERY_PORT: &str = "ROUTE-5";

/// Ids of the checks that must fail on this mutant, and no others. Unless the selftest is a full one, [`EVERY_PORT`] is run
/// only on mutants that it names itself.
pub fn kills(mutant: &Mutant, checks: &[&'static Check], by_root: bool, full: bool) -> BTreeSet<&'static str> {
    let mut seen = BTreeSet::new();
    let mut kills = BTreeSet::new();
    collect(mutant, checks, by_root, &mut seen, &mut kills);
    kills.retain(|id| full || *id != EVERY_PORT || checks.iter().any(|check| check.id == *id && names(check, mutant)));
    kills
}

/// Whether this check names this very mutant, for one identity or the other.
fn names(check: &Check, mutant: &Mutant) -> bool {
    check.mutants.contains(&mutant.slug) || check.mutants_of_root.contains(&mutant.slug)
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
    checks.iter().any(|check| names(check, mutant))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks;

    #[test]
    fn every_port_is_tried_on_what_only_implies_an_open_one_in_a_full_selftest_alone() {
        let of = |slug, full| kills(Mutant::named(slug).expect("a mutant"), &checks::all(), true, full);
        for named in ["open-a-third-port", "share-network"] {
            assert!(of(named, false).contains(EVERY_PORT) && of(named, true).contains(EVERY_PORT), "{named}");
        }
        let (quick, full) = (of("forward-host-tcp-v4", false), of("forward-host-tcp-v4", true));
        assert!(full.contains(EVERY_PORT) && !quick.contains(EVERY_PORT));
        assert_eq!(full.len(), quick.len() + 1, "nothing else is left out");
    }
}

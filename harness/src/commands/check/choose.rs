//! Which targets and which checks are meant.

use super::Refusal;
use crate::{
    check::Check,
    checks,
    commands::nearest::{hint, nearest},
    doctor::programs,
    profile::Profile,
    target::{Target, TargetError},
};

/// The target with this name; another name gets the nearest one and all of them as its answer.
pub fn target(name: &str) -> Result<Target, Refusal> {
    Target::load(name).map_err(|error| match error {
        TargetError::Unknown(name) => {
            let meant = hint(&nearest(&name, Target::names()));
            let all: Vec<_> = Target::names().collect();
            Refusal::usage(format!("there is no target {name:?}{meant} There are: {}", all.join(", ")))
        }
        other => Refusal::usage(other.to_string()),
    })
}

/// Every sandbox that comes with the program, whose programs are there and that root or this ordinary user can launch, in
/// each of its configurations. Beside them, what the others lack.
pub fn installed(root: bool) -> Result<(Vec<Target>, Vec<String>), Refusal> {
    let (mut there, mut left_out) = (vec![], vec![]);
    for name in Target::names() {
        let target = target(name)?;
        if target.double {
            continue;
        }
        let lacks: Vec<&str> = programs::missing(&target).into_iter().map(|(program, _)| program).collect();
        if lacks.is_empty() {
            let variants = target.variants.keys().map(|variant| target.varied(variant));
            let variants =
                variants.collect::<Result<Vec<_>, _>>().map_err(|error| Refusal::usage(error.to_string()))?;
            for target in [target].into_iter().chain(variants) {
                if root || target.only_by_root.is_none() {
                    there.push(target);
                } else {
                    left_out.push(format!("{} (only root can launch it)", target.name));
                }
            }
        } else {
            left_out.push(format!("{name} (not installed: {})", lacks.join(", ")));
        }
    }
    Ok((there, left_out))
}

/// Refuses targets that declare no mutants, where they are to be run.
pub fn have_mutants(targets: &[Target]) -> Result<(), Refusal> {
    let without = targets.iter().filter(|target| target.mutants.is_empty());
    let words: Vec<_> = without
        .map(|target| {
            let instead = match target.name.as_str() {
                "reference" => "those of the reference are run by `watertight selftest`",
                _ => "`[mutants.SLUG]` in its manifest says what to edit and what must catch it",
            };
            format!("--with-mutants: target {} declares no mutants; {instead}", target.name)
        })
        .collect();
    if words.is_empty() { Ok(()) } else { Err(Refusal::usage(words.join("\nwatertight: "))) }
}

/// The checks of the profile that the filter leaves: one by its whole id or slug, else all that contain it. Case does not matter.
pub fn checks(profile: Profile, filter: Option<&str>) -> Result<Vec<&'static Check>, Refusal> {
    let all = profile.checks();
    let Some(filter) = filter else { return Ok(all) };
    let wanted = filter.to_lowercase();
    let names = |check: &Check| [check.id.to_lowercase(), check.slug.to_lowercase()];
    let exact = all.iter().find(|check| names(check).contains(&wanted));
    let chosen: Vec<_> = match exact {
        Some(check) => vec![*check],
        None => all.iter().filter(|check| names(check).iter().any(|name| name.contains(&wanted))).copied().collect(),
    };
    if chosen.is_empty() || wanted.is_empty() {
        let elsewhere = checks::all().into_iter().find(|check| names(check).contains(&wanted)).map(Profile::of);
        if let Some(other) = elsewhere {
            let name = other.name();
            return Err(Refusal::usage(format!("{filter} is of the profile {name}: add --profile {name}")));
        }
        let known = all.iter().flat_map(|check| [check.id, check.slug]);
        let meant = hint(&nearest(filter, known));
        return Err(Refusal::usage(format!(
            "no check has {filter:?} in its id or slug{meant}\nwatertight: `watertight list` shows them all"
        )));
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_id_or_slug_means_that_one_and_a_part_means_all_that_have_it() {
        let ids = |filter| {
            checks(Profile::Core, Some(filter)).map(|all| all.iter().map(|check| check.id).collect::<Vec<_>>())
        };
        assert_eq!(ids("egress-1").ok(), Some(vec!["EGRESS-1"]));
        assert_eq!(ids("egress::vsock").ok().map(|all| all.len()), Some(1));
        let dns = ids("dns::").ok().unwrap_or_default();
        assert!(dns.len() > 3 && dns.iter().all(|id| id.starts_with("DNS-")), "{dns:?}");
        for profile in Profile::ALL {
            assert_eq!(checks(profile, None).ok().map(|all| all.len()), Some(profile.checks().len()));
        }
    }

    #[test]
    fn mutants_are_asked_only_of_targets_that_declare_some() {
        let all = |names: &[&str]| names.iter().map(|name| Target::load(name).expect(name)).collect::<Vec<_>>();
        assert!(have_mutants(&all(&["bubblewrap"])).is_ok());
        let refusal = have_mutants(&all(&["bubblewrap", "reference", "dead"])).expect_err("refused");
        assert_eq!(refusal.code, 2);
        for words in ["target reference declares no mutants", "`watertight selftest`", "target dead declares"] {
            assert!(refusal.words.contains(words), "{}", refusal.words);
        }
        assert!(!refusal.words.contains("bubblewrap"), "{}", refusal.words);
    }

    #[test]
    fn a_filter_that_matches_nothing_is_refused() {
        for filter in ["", "egress-999", "nonsense"] {
            assert!(checks(Profile::Isolation, Some(filter)).is_err_and(|refusal| refusal.code == 2), "{filter:?}");
        }
    }

    #[test]
    fn whoever_asks_for_a_check_of_another_profile_is_told_which() {
        let refused = checks(Profile::Core, Some("ipc-1")).err().map(|refusal| refusal.words).unwrap_or_default();
        assert_eq!(refused, "ipc-1 is of the profile isolation: add --profile isolation");
        assert_eq!(checks(Profile::Isolation, Some("ipc-1")).ok().map(|all| all.len()), Some(1));
    }
}

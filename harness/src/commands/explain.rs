//! `watertight explain`: one requirement in full.

use std::process::ExitCode;

use watertight_probe::nonce::RunNonce;
use watertight_reports::{
    evidence::LaunchKind,
    explain::{self, ExplainInput, Says},
};

use super::{
    HARNESS_ERROR, USAGE, attempt, check, doctor,
    line::Explain,
    load,
    nearest::{hint, nearest},
    output,
};
use crate::{
    catalogue::{Catalogue, Requirement},
    check::{Capability, Check},
    checks,
    planner::{Allocator, Planner},
    profile::Profile,
    remedies,
    selftest::Mutant,
    target::{Route, Target, User},
};

pub fn run(line: &Explain) -> ExitCode {
    let catalogue = match Catalogue::load() {
        Ok(catalogue) => catalogue,
        Err(error) => return super::refuse(&error, HARNESS_ERROR),
    };
    let checks = checks::all();
    let Some((requirement, check)) = find(&line.id, &catalogue, &checks) else {
        return super::refuse(&unknown(&line.id, &catalogue, &checks), USAGE);
    };
    let target = match line.target.as_deref().map(check::target).transpose() {
        Ok(target) => target,
        Err(words) => return super::refuse(&words, USAGE),
    };
    let bundle = match line.bundle.as_deref().map(load::shown).transpose() {
        Ok(bundle) => bundle,
        Err(error) => return super::refuse(&error, USAGE),
    };
    let last = bundle.as_ref().map(|shown| shown.results.checks.iter().find(|one| one.id == requirement.id));
    if let Some(None) = last {
        return super::refuse(&format!("the bundle has no result for {}", requirement.id), USAGE);
    }
    let waived_by = catalogue.waived_by(&requirement.id);
    let Some(check) = check else {
        let reason = catalogue.unchecked.get(&requirement.id).map_or("", String::as_str);
        let text = format!("{}\n\n  {}\n\n  No check tests it: {reason}\n", requirement.id, requirement.sentence);
        return super::show(&text, 0);
    };
    let says = target.as_ref().map(|target| Says {
        name: target.name.as_str(),
        lines: says(target, &requirement.id, waiving(&catalogue, target, &requirement.id)),
        by_hand: by_hand(target, &requirement.id),
    });
    let mut waivers = waived_by.iter().map(|capability| name(*capability)).collect::<Vec<_>>().join(" and ");
    if catalogue.is_of_relays(&requirement.id) {
        waivers.push_str(", or relay");
    }
    let input = ExplainInput {
        id: &requirement.id,
        slug: check.slug,
        profile: Profile::of(check).name(),
        level: requirement.level,
        subject: requirement.subject,
        sentence: &requirement.sentence,
        paragraph: &requirement.about,
        attempts: attempts(check),
        control: check.control,
        closes: remedies::of(&requirement.id).unwrap_or_default(),
        mutants: mutants(check),
        waived_by: (!waived_by.is_empty()).then_some(waivers.as_str()),
        target: says,
        last: last.flatten(),
    };
    super::show(&explain::render(&input, &output::style(false)), 0)
}

/// That there is none, and what may have been meant.
pub fn unknown(id: &str, catalogue: &Catalogue, checks: &[&Check]) -> String {
    let names = catalogue.requirements.iter().map(|one| one.id.as_str());
    let meant = hint(&nearest(id, names.chain(checks.iter().map(|check| check.slug))));
    format!("there is no requirement {id:?}{meant}\nwatertight: `watertight list` shows them all")
}

/// The requirement with this id, or whose check has this slug; case does not matter.
pub fn find<'a>(
    id: &str,
    catalogue: &'a Catalogue,
    checks: &[&'static Check],
) -> Option<(&'a Requirement, Option<&'static Check>)> {
    let same = |other: &str| other.eq_ignore_ascii_case(id.trim());
    let check = checks.iter().copied().find(|check| same(check.id) || same(check.slug));
    let requirement = match check {
        Some(check) => catalogue.requirement(check.id),
        None => catalogue.requirements.iter().find(|requirement| same(&requirement.id)),
    };
    Some((requirement?, check))
}

/// The mutants that the check names, each with its sentence.
fn mutants(check: &Check) -> Vec<(String, String)> {
    let named = check.mutants.iter().chain(check.mutants_of_root).filter_map(|slug| Mutant::named(slug));
    named.map(|mutant| (mutant.slug.to_owned(), mutant.sentence.to_owned())).collect()
}

/// Every attempt of the check with what it does, and the launches of its own.
fn attempts(check: &Check) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = vec![];
    for (kind, suffix) in [(LaunchKind::Target, ""), (LaunchKind::NoInstance, " (no instance configured)")] {
        let layout = doctor::layout(true);
        let run = RunNonce::from_bytes([0; 32]);
        for item in Planner::plan(check, "explain", kind, &layout, &run, &mut Allocator::default()) {
            if item.launches.contains(&kind) && !all.iter().any(|(name, _)| *name == item.name) {
                all.push((item.name, format!("{}{suffix}", attempt::words(&item.attempt))));
            }
        }
    }
    all.extend(check.scenarios.iter().map(|scenario| (scenario.id(), attempt::scenario(*scenario))));
    all
}

/// The command line that shows both sides of its attempts through this target: without the manifest, where that has nothing
/// that a command line cannot say.
fn by_hand(target: &Target, id: &str) -> Vec<String> {
    let way = matches!(target.route, Route::Sockets | Route::None) && target.user != User::AgentByRoot;
    if !target.files.is_empty() || target.plan_in_file || !way {
        return ["watertight", "check", &target.name, "--filter", id, "--verbose"].map(str::to_owned).into();
    }
    let mut words: Vec<String> = ["watertight", "try", id].map(str::to_owned).into();
    if let Some(file) = target.adapter.as_ref().and_then(|adapter| adapter.file.as_ref()) {
        words.extend(["--adapter".to_owned(), file.clone()]);
    }
    let flags = [
        (target.as_root(false), "--as-root"),
        (target.init_in_cgroup, "--init-in-cgroup"),
        (target.unseen.is_some(), "--unseen"),
    ];
    words.extend(flags.iter().filter(|(set, _)| *set).map(|(_, flag)| (*flag).to_owned()));
    words.push("--".into());
    if !target.environment.is_empty() {
        words.push("env".into());
        words.extend(target.environment.iter().map(|(name, value)| format!("{name}={value}")));
    }
    for word in &target.launch.argv {
        match word.as_str() {
            "{instance}" => words.extend(target.launch.instance.iter().cloned()),
            word => words.push(word.to_owned()),
        }
    }
    words
}

/// What waives this requirement for a target, if it declares that absent.
fn waiving<'a>(catalogue: &'a Catalogue, target: &Target, id: &str) -> &'a [Capability] {
    let of_relays = catalogue.is_of_relays(id) && target.absent.contains_key(&Capability::Relay);
    if of_relays { &[Capability::Relay] } else { catalogue.waived_by(id) }
}

/// What a manifest says about one requirement.
fn says(target: &Target, id: &str, waived_by: &[Capability]) -> Vec<String> {
    let mut lines = vec![format!("{} Route: {}.", target.summary, target.route.name())];
    let absent: Vec<String> = waived_by
        .iter()
        .filter_map(|capability| Some(format!("`{}` ({})", name(*capability), target.absent.get(capability)?)))
        .collect();
    // A requirement about several routes is judged on those that are there.
    lines.push(if !waived_by.is_empty() && absent.len() == waived_by.len() {
        format!("It declares {} absent: this requirement is not applicable to it.", absent.join(" and "))
    } else {
        "This requirement applies to it.".into()
    });
    lines.push(match target.known_failures.get(id) {
        Some(known) => format!("It is a known failure: {}, until {}.", known.report, known.expires),
        None => "It is no known failure.".into(),
    });
    let own = checks::all().into_iter().find(|check| check.id == id).map(Profile::of).unwrap_or_default();
    let profile = if own > target.profile { format!(" --profile {}", own.name()) } else { String::new() };
    lines.push(format!("`watertight check {}{profile} --filter {id}` tries it.", target.name));
    let catches = target.mutants.iter().filter(|(_, mutant)| mutant.expected(true).iter().any(|one| one == id));
    let catches: Vec<_> = catches.map(|(slug, mutant)| format!("{slug} ({})", mutant.sentence)).collect();
    lines.push(match (target.mutants.len(), catches.is_empty()) {
        (0, _) => "It declares no mutants of its own.".into(),
        (count, true) => format!("None of its {count} mutants is for this requirement."),
        (count, false) => format!("Of its {count} mutants, it must fail on: {}", catches.join("; ")),
    });
    lines
}

fn name(capability: Capability) -> &'static str {
    match capability {
        Capability::Provider => "provider",
        Capability::Instance => "instance",
        Capability::Relay => "relay",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_can_be_explained_by_id_and_slug_in_any_case() {
        let (catalogue, checks) = (Catalogue::load().expect("a catalogue"), checks::all());
        for check in &checks {
            for name in [check.id.to_lowercase(), check.slug.to_uppercase()] {
                let found = find(&name, &catalogue, &checks).expect("known");
                assert_eq!((found.0.id.as_str(), found.1.map(|one| one.slug)), (check.id, Some(check.slug)));
            }
        }
        assert!(find("EGRESS-999", &catalogue, &checks).is_none());
    }

    #[test]
    fn every_check_has_attempts_in_words() {
        for check in checks::all() {
            let attempts = attempts(check);
            assert!(!attempts.is_empty() || check.witnessed, "{}", check.id);
            assert!(attempts.iter().all(|(_, words)| words.len() > 10), "{attempts:?}");
        }
    }

    #[test]
    fn a_manifest_tells_waivers_and_known_failures() {
        let mut target = Target::load("bubblewrap").expect("a manifest");
        target.absent.insert(Capability::Instance, "it has one route".into());
        let lines = says(&target, "ROUTE-2", &[Capability::Instance]).join("\n");
        assert!(lines.contains("declares `instance` (it has one route) absent"), "{lines}");
        assert!(lines.contains("no known failure"), "{lines}");
    }

    #[test]
    fn what_a_command_line_cannot_say_is_tried_by_the_manifests_name() {
        let target = Target::load("srt-proxy").expect("a manifest");
        assert_eq!(by_hand(&target, "EGRESS-5").join(" "), "watertight check srt-proxy --filter EGRESS-5 --verbose");
        let catalogue = Catalogue::load().expect("the text");
        assert_eq!(waiving(&catalogue, &target, "SOCKET-1"), [Capability::Relay]);
        assert_eq!(waiving(&catalogue, &target, "AUTH-1"), [Capability::Provider]);
    }

    #[test]
    fn what_is_launched_in_a_way_of_its_own_is_tried_in_that_way() {
        for (name, as_root) in [("chroot", true), ("runc:root", true), ("runc", false)] {
            let command = by_hand(&Target::load(name).expect("a manifest"), "PRIV-1").join(" ");
            let begins = if as_root { "watertight try PRIV-1 --as-root -- " } else { "watertight try PRIV-1 -- " };
            assert!(command.starts_with(begins), "{command}");
        }
        for (name, flags) in
            [("lxc", "--as-root --init-in-cgroup"), ("runsc", "--unseen"), ("docker", "--adapter docker.py --as-root")]
        {
            let command = by_hand(&Target::load(name).expect("a manifest"), "PRIV-1").join(" ");
            assert!(command.starts_with(&format!("watertight try PRIV-1 {flags} -- ")), "{command}");
        }
        for by_name in ["podman", "firejail:root"] {
            let command = by_hand(&Target::load(by_name).expect("a manifest"), "PRIV-1").join(" ");
            assert_eq!(command, format!("watertight check {by_name} --filter PRIV-1 --verbose"));
        }
    }

    #[test]
    fn a_manifest_tells_which_of_its_mutants_a_requirement_must_fail_on() {
        let target = Target::load("bubblewrap").expect("a manifest");
        let (count, lines) = (target.mutants.len(), |id| says(&target, id, &[]).join("\n"));
        let egress = lines("EGRESS-1");
        assert!(egress.contains(&format!("Of its {count} mutants, it must fail on: ")), "{egress}");
        assert!(egress.contains("share-network ("), "{egress}");
        assert!(lines("CANCEL-1").contains(&format!("None of its {count} mutants is for this")));
        let none = says(&Target::load("reference").expect("a manifest"), "EGRESS-1", &[]).join("\n");
        assert!(none.contains("no mutants of its own"), "{none}");
    }
}

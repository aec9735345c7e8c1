//! Lists that are committed: the trials, the known failures of a target, and what cannot be attempted here.

use std::{collections::BTreeMap, fs, path::PathBuf, process::Command};

use libtest_mimic::Failed;
use watertight::{checks, profile::Profile};
use watertight_reports::results::Verdict;

use crate::{place::Who, runs::OTHERS};

/// The trials are those of `trials.txt`: one that is lost would fail nothing.
pub fn trials(who: Who) -> Result<(), Failed> {
    let committed = read("trials.txt")?;
    // An ordinary user has the part that needs no root.
    let everybody = Who::here().contains(&Who::Root);
    let expected: Vec<&str> = committed.lines().filter(|line| everybody || line.starts_with(who.prefix())).collect();
    let output = Command::new(std::env::current_exe()?).arg("--list").output()?;
    let listed = String::from_utf8(output.stdout)?;
    let listed: Vec<&str> = listed.lines().collect();
    if listed == expected {
        return Ok(());
    }
    let lost: Vec<_> = expected.iter().filter(|name| !listed.contains(name)).collect();
    let new: Vec<_> = listed.iter().filter(|name| !expected.contains(name)).collect();
    Err(format!("not those of trials.txt; no more: {lost:?}; new: {new:?}. `scripts/trials` writes it anew").into())
}

/// Behind this line of a target's list stands what it fails of that which the isolation profile adds.
const ISOLATION: &str = "[isolation]";

/// What a target is run against: core alone where its list says nothing of more. One without a list is one of ours.
pub fn profile(target: &str) -> Result<Profile, String> {
    let name = format!("expected/{}.txt", target.replace(':', "-"));
    match read(&name) {
        Ok(text) if content(&text).any(|line| line == ISOLATION) => Ok(Profile::Isolation),
        Ok(_) => Ok(Profile::Core),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Profile::Isolation),
        Err(error) => Err(format!("{name}: {error}")),
    }
}

/// What a target is known to fail, and the verdicts that are right then: two where the target itself has a race.
/// Anything else passes.
pub fn known_failures(target: &str, who: Who) -> Result<BTreeMap<String, Vec<Verdict>>, String> {
    let name = format!("expected/{}.txt", target.replace(':', "-"));
    let text = read(&name).map_err(|error| format!("{name}: {error}"))?;
    let mut known = BTreeMap::new();
    for line in content(&text).filter(|line| *line != ISOLATION) {
        let mut words = line.splitn(3, ' ');
        let (Some(slug), Some(verdict), Some(_reason)) = (words.next(), words.next(), words.next()) else {
            return Err(format!("{name}: `{line}` is not `SLUG VERDICT REASON`"));
        };
        let verdicts: Result<_, serde_json::Error> =
            verdict.split("-or-").map(|verdict| serde_json::from_value(verdict.into())).collect();
        let verdicts = verdicts.map_err(|error| format!("{name}: `{line}`: {error}"))?;
        // `@root`: only where the harness is the machine's root; `@user`: only where it is not.
        let (slug, of) = slug.split_once('@').map_or((slug, None), |(slug, of)| (slug, Some(of)));
        let holds = match of {
            None => true,
            Some("root") => who == Who::Root,
            Some("user") => who != Who::Root,
            Some(of) => return Err(format!("{name}: `{line}`: there is no harness of {of}")),
        };
        if holds {
            known.insert(slug.to_owned(), verdicts);
        }
    }
    Ok(known)
}

pub fn known_failures_name_checks() -> Result<(), Failed> {
    of_checks(["bubblewrap"].into_iter().chain(OTHERS))
}

/// What these targets are known to fail are checks.
pub fn of_checks(targets: impl IntoIterator<Item = &'static str>) -> Result<(), Failed> {
    let slugs: Vec<&str> = checks::all().iter().map(|check| check.slug).collect();
    for target in targets {
        let known = known_failures(target, Who::Root)?;
        let unknown: Vec<&String> = known.keys().filter(|slug| !slugs.contains(&slug.as_str())).collect();
        if known.is_empty() || !unknown.is_empty() {
            return Err(format!("{target}: {} known failures; of no check: {unknown:?}", known.len()).into());
        }
    }
    Ok(())
}

/// What cannot be attempted on this machine is what is committed for kernels of its kind.
pub fn untestable(who: Who, found: &[String]) -> Result<(), Failed> {
    let name = format!("untestable/{}.txt", who.name());
    let (text, kind) = (read(&name)?, kernel()?);
    let mut committed: Option<Vec<&str>> = None;
    for line in content(&text) {
        match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            Some(section) if section == kind => committed = Some(vec![]),
            Some(_) if committed.is_some() => break,
            Some(_) => {}
            None => committed.iter_mut().for_each(|lines| lines.push(line)),
        }
    }
    let mut found: Vec<&str> = found.iter().map(String::as_str).collect();
    found.sort_unstable();
    if committed.is_some_and(|mut lines| {
        lines.sort_unstable();
        lines == found
    }) {
        return Ok(());
    }
    Err(format!(
        "harness/tests/{name} does not say so for this kernel. If each of these really cannot be attempted here, give it \
         this section:\n[{kind}]\n{}",
        found.join("\n")
    )
    .into())
}

/// Version and flavour of the kernel, which say what it was built with: `6.12-amd64` of `6.12.41+deb13-cloud-amd64`.
fn kernel() -> Result<String, Failed> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease")?;
    Ok(kind(release.trim()))
}

fn kind(release: &str) -> String {
    let mut parts = release.split('-');
    let version: Vec<&str> = parts.next().unwrap_or_default().split('.').take(2).collect();
    let flavour: Vec<&str> = parts.filter(|part| part.chars().all(|letter| letter.is_ascii_alphabetic())).collect();
    [&version.join("."), &flavour.join("-")]
        .into_iter()
        .filter(|part| !part.is_empty())
        .cloned()
        .collect::<Vec<_>>()
        .join("-")
}

/// The lines that are neither empty nor remarks.
fn content(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn read(name: &str) -> std::io::Result<String> {
    fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests").join(name))
}

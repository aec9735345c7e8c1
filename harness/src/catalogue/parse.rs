//! Reads the parts of `CONFORMANCE.md` that have a fixed form; prose between them is not looked at.

use std::collections::{BTreeMap, BTreeSet};

use watertight_reports::results::{Level, Subject};

use super::{Became, Catalogue, CatalogueError, Profiled, Requirement, Source, SourceTable};
use crate::check::Capability;

const VERSION: &str = "Version: ";
const PROFILES: &str = "## Profiles";
const WAIVERS: &str = "## Waivers";
const REQUIREMENTS: &str = "## Requirements";
const UNCHECKED: &str = "## Requirements without a check";
const NOT_CLAIMED: &str = "## What is not claimed";
const FIRST: &str = "## Sources: the source catalogue";
const CASES: &str = "## Sources: the case catalogue";

/// Areas about isolation that no declaration waives.
const NEVER_WAIVED: [&str; 10] =
    ["EGRESS", "PRIV", "TEARDOWN", "IPC", "PROCESS", "TERMINAL", "DEVICE", "KERNEL", "HOST", "FILES"];

type Line<'a> = (usize, &'a str);

pub(super) fn catalogue(text: &str) -> Result<Catalogue, CatalogueError> {
    let lines: Vec<Line<'_>> = text.lines().enumerate().map(|(index, line)| (index + 1, line)).collect();
    let requirements = requirements(section(&lines, REQUIREMENTS)?)?;
    let known: BTreeSet<&str> = requirements.iter().map(|one| one.id.as_str()).collect();
    let profiles = profiles(section(&lines, PROFILES)?, &requirements)?;
    let waivers = waivers(section(&lines, WAIVERS)?, &requirements)?;
    let unchecked = unchecked(section(&lines, UNCHECKED)?, &known)?;
    let mut sources = sources(section(&lines, FIRST)?, SourceTable::First, &known)?;
    sources.extend(self::sources(section(&lines, CASES)?, SourceTable::Cases, &known)?);
    let not_claimed = list(section(&lines, NOT_CLAIMED)?);
    if not_claimed.is_empty() {
        return Err(CatalogueError::Missing("- "));
    }
    Ok(Catalogue { version: version(&lines)?, profiles, requirements, waivers, unchecked, not_claimed, sources })
}

fn version(lines: &[Line<'_>]) -> Result<String, CatalogueError> {
    let found = lines.iter().find_map(|(line, text)| Some((*line, text.strip_prefix(VERSION)?)));
    let (line, version) = found.ok_or(CatalogueError::Missing(VERSION))?;
    numbers(line, version).map(str::to_owned)
}

/// A version: two numbers.
fn numbers(line: usize, version: &str) -> Result<&str, CatalogueError> {
    let numbers: Vec<&str> = version.split('.').collect();
    if numbers.len() != 2 || numbers.iter().any(|number| number.parse::<u32>().is_err()) {
        return at(line, format!("the version {version:?} is not two numbers, such as 1.0"));
    }
    Ok(version)
}

/// `| isolation | 1.0 | those of core, and IPC, TTY |`. Every requirement is in a profile, and every area has one.
fn profiles(lines: &[Line<'_>], requirements: &[Requirement]) -> Result<Vec<Profiled>, CatalogueError> {
    let in_area = |area: &str| requirements.iter().any(|one| one.area() == area);
    let mut found: Vec<Profiled> = vec![];
    for (line, [name, version, listed]) in rows::<3>(lines)? {
        let (contained, own) = match listed.strip_prefix("those of ").and_then(|rest| rest.split_once(", and ")) {
            Some((other, own)) => match found.iter().find(|one| one.name == other) {
                Some(other) => (other.areas.clone(), own),
                None => return at(line, format!("{name} contains {other:?}, which is no profile above it")),
            },
            None => (vec![], listed),
        };
        let mut areas = contained;
        for area in own.split(", ") {
            if !in_area(area) {
                return at(line, format!("no requirement is in the area {area:?}"));
            }
            if areas.iter().any(|one| one == area) {
                return at(line, format!("{name} has the area {area} twice"));
            }
            areas.push(area.to_owned());
        }
        if found.iter().any(|one| one.name == name) {
            return at(line, format!("the profile {name:?} stands here twice"));
        }
        found.push(Profiled { name: name.into(), version: numbers(line, version)?.into(), areas, line });
    }
    let profiled = |one: &&Requirement| found.iter().any(|profile| profile.areas.iter().any(|area| area == one.area()));
    match requirements.iter().find(|one| !profiled(one)) {
        Some(Requirement { id, line, .. }) => at(*line, format!("{id} is in no profile")),
        None => Ok(found),
    }
}

/// The lines behind this heading, up to the next of the same rank.
fn section<'a, 'b>(lines: &'b [Line<'a>], heading: &'static str) -> Result<&'b [Line<'a>], CatalogueError> {
    let start = lines.iter().position(|(_, text)| *text == heading).ok_or(CatalogueError::Missing(heading))? + 1;
    let rest = lines.get(start..).unwrap_or_default();
    let end = rest.iter().position(|(_, text)| text.starts_with("## ")).unwrap_or(rest.len());
    Ok(rest.get(..end).unwrap_or_default())
}

fn requirements(lines: &[Line<'_>]) -> Result<Vec<Requirement>, CatalogueError> {
    let mut found: Vec<Requirement> = vec![];
    let mut area = "";
    // The sentence goes on to the first empty line, the paragraphs about it to the next requirement or heading.
    let mut in_sentence = false;
    let mut open = false;
    for (line, text) in lines.iter().copied() {
        if let Some(heading) = text.strip_prefix("### ") {
            area = heading.split_once(':').map_or(heading, |(area, _)| area);
            open = false;
        } else if text.starts_with("**") {
            let requirement = opening(line, text)?;
            if let Some(first) = found.iter().find(|one| one.id == requirement.id) {
                return at(line, format!("{} was used before, in line {}", requirement.id, first.line));
            }
            if requirement.id.split_once('-').map(|(own, _)| own) != Some(area) {
                return at(line, format!("{} stands under the heading of {area:?}", requirement.id));
            }
            found.push(requirement);
            (in_sentence, open) = (true, true);
        } else if let Some(requirement) = found.last_mut().filter(|_| open) {
            if text.is_empty() {
                in_sentence = false;
            } else {
                join(if in_sentence { &mut requirement.sentence } else { &mut requirement.about }, text);
            }
        }
    }
    for requirement in &found {
        complete(requirement)?;
    }
    Ok(found)
}

/// `**EGRESS-3** (MUST, isolation): The workload …`
fn opening(line: usize, text: &str) -> Result<Requirement, CatalogueError> {
    let parts = || {
        let (id, rest) = text.strip_prefix("**")?.split_once("** (")?;
        let (level, rest) = rest.split_once(", ")?;
        let (subject, sentence) = rest.split_once("): ")?;
        Some((id, level, subject, sentence))
    };
    let Some((id, level, subject, sentence)) = parts() else {
        return at(line, "a requirement opens with **AREA-1** (LEVEL, subject): and its sentence".into());
    };
    if !is_id(id) {
        return at(line, format!("{id:?} is not the id of a requirement, such as EGRESS-3"));
    }
    let level = match level {
        "MUST" => Level::Must,
        "SHOULD" => Level::Should,
        other => return at(line, format!("{id}: {other:?} is not a level: MUST or SHOULD")),
    };
    let subject = match subject {
        "isolation" => Subject::Isolation,
        "relay" => Subject::Relay,
        "launcher" => Subject::Launcher,
        other => return at(line, format!("{id}: {other:?} is not a subject: isolation, relay or launcher")),
    };
    Ok(Requirement { id: id.into(), level, subject, sentence: sentence.into(), about: String::new(), line })
}

fn complete(requirement: &Requirement) -> Result<(), CatalogueError> {
    let Requirement { id, level, sentence, about, line, .. } = requirement;
    let binds = |word: &str| sentence.split(|byte: char| !byte.is_ascii_alphabetic()).any(|one| one == word);
    let (own, other) = match level {
        Level::Must => ("MUST", "SHOULD"),
        Level::Should => ("SHOULD", "MUST"),
    };
    if !sentence.ends_with('.') || !binds(own) || binds(other) {
        return at(*line, format!("{id}: its sentence ends with a full stop, says {own} and does not say {other}"));
    }
    if !about.contains("Source: ") {
        return at(*line, format!("{id}: the paragraph behind its sentence names no source"));
    }
    Ok(())
}

fn waivers(
    lines: &[Line<'_>],
    requirements: &[Requirement],
) -> Result<BTreeMap<Vec<Capability>, Vec<String>>, CatalogueError> {
    let mut waivers = BTreeMap::new();
    let mut waived = BTreeSet::new();
    for (line, [name, _, ids]) in rows::<3>(lines)? {
        let mut routes = vec![];
        for name in name.split(" and ").map(|name| name.trim_matches('`')) {
            match Capability::ALL.iter().find(|one| one.name() == name) {
                Some(capability) => routes.push(*capability),
                None => return at(line, format!("{name:?} is not a capability")),
            }
        }
        let mut list = vec![];
        for id in ids.split(", ") {
            let Some(requirement) = requirements.iter().find(|one| one.id == id) else {
                return at(line, format!("there is no requirement {id:?}"));
            };
            let area = id.split_once('-').map_or(id, |(area, _)| area);
            if NEVER_WAIVED.contains(&area) || (area == "DNS" && requirement.subject == Subject::Isolation) {
                return at(line, format!("{id} can never be waived"));
            }
            // What is about relays of ours is about routes as well.
            if !waived.insert((routes == [Capability::Relay], id.to_owned())) {
                return at(line, format!("{id} is waived twice"));
            }
            list.push(id.to_owned());
        }
        if waivers.insert(routes, list).is_some() {
            return at(line, format!("{name} stands here twice"));
        }
    }
    Ok(waivers)
}

fn unchecked(lines: &[Line<'_>], known: &BTreeSet<&str>) -> Result<BTreeMap<String, String>, CatalogueError> {
    let mut unchecked = BTreeMap::new();
    for (line, [id, reason]) in rows::<2>(lines)? {
        if !known.contains(id) {
            return at(line, format!("there is no requirement {id:?}"));
        }
        if reason.is_empty() {
            return at(line, format!("{id} has no check, and no reason says why"));
        }
        unchecked.insert(id.to_owned(), reason.to_owned());
    }
    Ok(unchecked)
}

/// The entries of the only list in these lines.
fn list(lines: &[Line<'_>]) -> Vec<String> {
    let mut entries: Vec<String> = vec![];
    for (_, text) in lines {
        if let Some(first) = text.strip_prefix("- ") {
            entries.push(first.to_owned());
        } else if let (Some(more), Some(entry)) = (text.strip_prefix("  "), entries.last_mut()) {
            join(entry, more);
        }
    }
    entries
}

fn sources(lines: &[Line<'_>], of: SourceTable, known: &BTreeSet<&str>) -> Result<Vec<Source>, CatalogueError> {
    let rows: Vec<(usize, [&str; 3])> = match of {
        SourceTable::First => rows::<3>(lines)?,
        SourceTable::Cases => {
            rows::<4>(lines)?.into_iter().map(|(line, [id, says, became, _])| (line, [id, says, became])).collect()
        }
    };
    let mut found: Vec<Source> = vec![];
    for (line, [id, says, became]) in rows {
        if let Some(first) = found.iter().find(|one| one.id == id) {
            return at(line, format!("{id} stands in this table before, in line {}", first.line));
        }
        if id.is_empty() || says.is_empty() {
            return at(line, "a source has an id and says something".into());
        }
        let became = self::became(line, became, known)?;
        found.push(Source { of, id: id.into(), says: says.into(), became, line });
    }
    Ok(found)
}

/// `EGRESS-3, DNS-2; excluded: …`
fn became(line: usize, text: &str, known: &BTreeSet<&str>) -> Result<Vec<Became>, CatalogueError> {
    let mut found = vec![];
    for part in text.split("; ") {
        let reason = |prefix: &str| part.strip_prefix(prefix).filter(|reason| !reason.is_empty()).map(str::to_owned);
        if let Some(reason) = reason("excluded: ") {
            found.push(Became::Excluded(reason));
        } else if let Some(rule) = reason("rule: ") {
            found.push(Became::Rule(rule));
        } else {
            for id in part.split(", ") {
                if !known.contains(id) {
                    return at(line, format!("{id:?} is neither a requirement, nor excluded with a reason"));
                }
                found.push(Became::Requirement(id.to_owned()));
            }
        }
    }
    Ok(found)
}

/// The cells of each row of the only table in these lines, without its head.
fn rows<'a, const N: usize>(lines: &[Line<'a>]) -> Result<Vec<(usize, [&'a str; N])>, CatalogueError> {
    let table: Vec<&Line<'a>> = lines.iter().filter(|(_, text)| text.starts_with('|')).collect();
    let mut rows = vec![];
    for (line, text) in table.into_iter().skip(2) {
        let inner = text.strip_prefix('|').and_then(|text| text.strip_suffix('|')).unwrap_or_default();
        let cells: Vec<&str> = inner.split('|').map(str::trim).collect();
        let Ok(cells) = <[&str; N]>::try_from(cells.as_slice()) else {
            return at(*line, format!("a row of this table has {N} cells, this one has {}", cells.len()));
        };
        rows.push((*line, cells));
    }
    Ok(rows)
}

fn is_id(text: &str) -> bool {
    let Some((area, number)) = text.split_once('-') else { return false };
    !area.is_empty()
        && area.bytes().all(|byte| byte.is_ascii_uppercase())
        && !number.starts_with('0')
        && number.parse::<u32>().is_ok()
}

fn join(text: &mut String, more: &str) {
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(more);
}

fn at<T>(line: usize, problem: String) -> Result<T, CatalogueError> {
    Err(CatalogueError::At { line, problem })
}

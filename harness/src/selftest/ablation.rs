//! Which parts of a check are needed: each attempt, launch and witness is put out of action in turn, and at least one
//! mutant must then survive the check.
//!
//! A part is put out of action by giving it what it saw on the intact reference. Nothing is run again: the judge is pure.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem::swap,
};

use watertight_reports::{
    evidence::{Evidence, Launch},
    matrix::Ablation,
    results::Verdict,
};

use crate::{
    check::{Check, Item},
    judge,
};

/// A part of a check, by the name that reasons use: an attempt's, a launch's id, or `witness`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    Attempt(String),
    Launch(String),
    /// What the harness saw of the processes and sockets of the target's launches.
    Witness,
}

/// Which parts some mutant needed, by check.
#[derive(Clone, Debug, Default)]
pub struct Needed(BTreeMap<&'static str, BTreeSet<Part>>);

impl Part {
    pub fn name(&self) -> &str {
        match self {
            Self::Attempt(name) | Self::Launch(name) => name,
            Self::Witness => "witness",
        }
    }
}

/// Every part of a check that is tested here.
pub fn parts(check: &Check, items: &[Item]) -> Vec<Part> {
    let made = |item: &&Item| item.untestable.is_none() && item.launches.iter().any(|kind| !judge::is_control(*kind));
    let mut parts: Vec<Part> = items.iter().filter(made).map(|item| Part::Attempt(item.name.clone())).collect();
    parts.extend(check.scenarios.iter().map(|scenario| Part::Launch(scenario.id())));
    if check.witnessed {
        parts.push(Part::Witness);
    }
    parts
}

impl Needed {
    /// Puts out of action each part of `check`, which failed on `evidence`, and notes those without which it does not.
    /// Both stay as they are.
    pub fn note(&mut self, check: &'static Check, items: &[Item], evidence: &mut Evidence, intact: &mut Evidence) {
        for part in parts(check, items) {
            if exchange(&part, check, &mut evidence.launches, &mut intact.launches) {
                let (result, _) = judge::check(check, items, evidence);
                exchange(&part, check, &mut evidence.launches, &mut intact.launches);
                if result.verdict != Verdict::Fail {
                    self.0.entry(check.id).or_default().insert(part);
                }
            }
        }
    }

    pub fn join(&mut self, other: Self) {
        for (check, parts) in other.0 {
            self.0.entry(check).or_default().extend(parts);
        }
    }

    /// Holds the parts of these checks against the reasons that the checks give. What no attempt could be made of here is
    /// left out: `untestable` has the ids.
    pub fn ablation(&self, checks: &[(&'static Check, Vec<Item>)], untestable: &[String]) -> Ablation {
        let mut ablation = Ablation::default();
        let none = BTreeSet::new();
        for (check, items) in checks {
            let needed = self.0.get(check.id).unwrap_or(&none);
            let testable = |part: &Part| !untestable.contains(&format!("{}/{}", check.slug, part.name()));
            let parts: Vec<Part> = parts(check, items).into_iter().filter(testable).collect();
            let spared = |part: &Part| check.spared.iter().any(|(glob, _)| matches(glob, part.name()));
            for part in &parts {
                ablation.parts += 1;
                match (needed.contains(part), spared(part)) {
                    (true, _) => ablation.needed += 1,
                    (false, true) => ablation.spared += 1,
                    (false, false) => ablation.unexplained.push(format!("{} {}", check.id, part.name())),
                }
            }
            for (glob, _) in check.spared {
                if !parts.iter().any(|part| matches(glob, part.name()) && !needed.contains(part)) {
                    ablation.stale.push(format!("{} {glob}", check.id));
                }
            }
        }
        ablation
    }
}

/// Exchanges what the part saw here and on the intact reference. False where it was not made in both.
fn exchange(part: &Part, check: &Check, launches: &mut [Launch], intact: &mut [Launch]) -> bool {
    let mut exchanged = false;
    for launch in launches.iter_mut().filter(|launch| !judge::is_control(launch.kind)) {
        let Some(other) = intact.iter_mut().find(|other| other.id == launch.id) else { continue };
        match part {
            Part::Attempt(name) => {
                let id = format!("{}/{name}", check.slug);
                if let (Some(here), Some(there)) = (launch.attempts.get_mut(&id), other.attempts.get_mut(&id)) {
                    swap(here, there);
                    exchanged = true;
                }
            }
            Part::Launch(id) if launch.id == *id => {
                swap(launch, other);
                exchanged = true;
            }
            Part::Launch(_) => {}
            Part::Witness => {
                swap(&mut launch.processes, &mut other.processes);
                swap(&mut launch.sockets, &mut other.sockets);
                exchanged = true;
            }
        }
    }
    exchanged
}

/// Whether the whole of `text` is what `glob` says: `*` stands for any characters.
pub fn matches(glob: &str, text: &str) -> bool {
    match glob.split_once('*') {
        None => glob == text,
        Some((start, rest)) => text
            .strip_prefix(start)
            .is_some_and(|text| (0..=text.len()).any(|at| text.is_char_boundary(at) && matches(rest, &text[at..]))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything_and_the_rest_for_itself() {
        assert!(matches("leak-*", "leak-https") && matches("*", "x") && matches("*-v6", "leak-tcp-v6"));
        assert!(matches("a*c*e", "abcde") && !matches("a*c", "abcd") && !matches("leak", "leak-https"));
    }
}

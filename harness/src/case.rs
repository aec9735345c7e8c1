//! A case: the evidence of one check as its rule reads it, and what the rule says of it.

use std::collections::BTreeSet;

use watertight_probe::{
    observation::{Exchange, Facts, McpCall, Outcome},
    plan::{Attempt, Endpoint, ProxyAt},
    sighting::{Event, Sighting},
};
use watertight_reports::evidence::{AttemptRecord, Evidence, Launch, LaunchKind, Process};

use crate::{check::Capability, judge::is_control, reach, run::UNSEEN};

/// The evidence of one check, read by its rule. Nothing here does input or output.
pub struct Case<'a> {
    slug: &'a str,
    evidence: &'a Evidence,
    pub ruling: Ruling,
}

/// What a rule found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Ruling {
    /// Positive evidence of a breach: the requirement fails whatever else is known.
    pub breaches: Vec<String>,
    /// Something required was not found: the requirement fails where the controls held.
    pub faults: Vec<String>,
    /// A control did not hold: without a breach the requirement is inconclusive.
    pub control_faults: Vec<String>,
    /// Evidence is missing that must be there: the suite's fault, or a dead target.
    pub missing: Vec<String>,
    /// Worth telling.
    pub notes: Vec<String>,
    /// It read what was seen outside, so that gaps there leave nothing to judge.
    pub looked_outside: bool,
}

impl<'a> Case<'a> {
    pub fn new(slug: &'a str, evidence: &'a Evidence) -> Self {
        Self { slug, evidence, ruling: Ruling::default() }
    }

    /// Positive evidence against the target.
    pub fn breach(&mut self, text: impl Into<String>) {
        self.ruling.breaches.push(text.into());
    }

    /// Fails where `text` does not hold.
    pub fn require(&mut self, holds: bool, text: impl Into<String>) {
        if !holds {
            self.ruling.faults.push(text.into());
        }
    }

    /// Inconclusive where the control `text` does not hold.
    pub fn control(&mut self, holds: bool, text: impl Into<String>) {
        if !holds {
            self.ruling.control_faults.push(text.into());
        }
    }

    pub fn note(&mut self, text: impl Into<String>) {
        self.ruling.notes.push(text.into());
    }

    /// The only launch with this kind. Missing is recorded, and so is one whose reports cannot be relied on.
    pub fn launch(&mut self, kind: LaunchKind) -> Option<&'a Launch> {
        let found = self.evidence.of_kind(kind).next();
        match found {
            Some(launch) => self.rely_on(launch),
            None => self.ruling.missing.push(format!("there was no launch of kind {kind:?}")),
        }
        found
    }

    /// Of the target's main launches the judge asks the same of every check.
    fn rely_on(&mut self, launch: &Launch) {
        let texts = match launch.kind {
            LaunchKind::Target | LaunchKind::Own => return,
            kind if is_control(kind) => &mut self.ruling.control_faults,
            _ => &mut self.ruling.missing,
        };
        if let Some(problem) = launch.problem().filter(|problem| !texts.contains(problem)) {
            texts.push(problem);
        }
    }

    /// The launch with this id. Missing is recorded.
    pub fn launch_named(&mut self, id: &str) -> Option<&'a Launch> {
        let found = self.evidence.launches.iter().find(|launch| launch.id == id);
        if found.is_none() {
            self.ruling.missing.push(format!("there was no launch {id}"));
        }
        found
    }

    /// This check's attempt `name` in the launches of this kind. Missing is recorded; a control that was made and not
    /// reported is a control that does not hold.
    pub fn attempt_in(&mut self, kind: LaunchKind, name: &str) -> Option<&'a AttemptRecord> {
        let id = format!("{}/{name}", self.slug);
        let found = self.evidence.of_kind(kind).find_map(|launch| Some((launch, launch.attempts.get(&id)?)));
        if let Some((launch, _)) = found {
            self.rely_on(launch);
        }
        if found.is_none_or(|(_, record)| record.observation.is_none()) {
            let made = found.is_some() && is_control(kind);
            let texts = if made { &mut self.ruling.control_faults } else { &mut self.ruling.missing };
            texts.push(format!("no report of {id} in a launch of kind {kind:?}"));
        }
        found.map(|(_, record)| record)
    }

    /// The target's launch in which the attempt `name` was made: each has a bearer and an end of its own.
    pub fn launch_of(&mut self, name: &str) -> Option<&'a Launch> {
        let id = format!("{}/{name}", self.slug);
        let found = self.evidence.of_kind(LaunchKind::Target).find(|launch| launch.attempts.contains_key(&id));
        if found.is_none() {
            self.ruling.missing.push(format!("{id} was made in no launch of the target"));
        }
        found
    }

    /// This check's attempt `name` in the target's main launch.
    pub fn attempt(&mut self, name: &str) -> Option<&'a AttemptRecord> {
        self.attempt_in(LaunchKind::Target, name)
    }

    /// How that attempt ended, as the probe saw it.
    pub fn outcome(&mut self, name: &str) -> Option<&'a Outcome> {
        self.attempt(name)?.observation.as_ref().map(|observation| &observation.outcome)
    }

    /// What that attempt found. One that found nothing says what happened instead: see [`Self::unfounded`].
    pub fn facts_in(&mut self, kind: LaunchKind, name: &str) -> Option<&'a Facts> {
        let record = self.attempt_in(kind, name)?;
        match &record.observation.as_ref()?.outcome {
            Outcome::Found { facts } if reach::belongs(&record.attempt, facts) => Some(facts),
            // What only looks around waits for nobody: that it did not come to its end says nothing of what is there.
            Outcome::TimedOut { .. } if !matches!(record.attempt, Attempt::Mcp { .. }) => {
                let why = record.observation.as_ref().map(|one| crate::describe::outcome(&one.outcome));
                self.ruling.control_faults.push(format!("{name}: {}", why.unwrap_or_default()));
                None
            }
            other => {
                self.unfounded(kind, name, other);
                None
            }
        }
    }

    /// Records why an attempt that had to find something has no facts. In a control that is no fault of the target's.
    fn unfounded(&mut self, kind: LaunchKind, name: &str, outcome: &Outcome) {
        let text = format!("{name}: {}", crate::describe::outcome(outcome));
        match outcome {
            Outcome::Broken { .. } => self.ruling.missing.push(text),
            Outcome::Found { .. } => {
                self.ruling.missing.push(format!("{name}: the report is of another kind than the attempt"));
            }
            Outcome::Absent { .. } => self.ruling.control_faults.push(text),
            Outcome::Refused { .. }
            | Outcome::Killed { .. }
            | Outcome::TimedOut { .. }
            | Outcome::Silent { .. }
            | Outcome::Heard { .. } => {
                if is_control(kind) {
                    self.ruling.control_faults.push(text);
                } else {
                    self.ruling.faults.push(text);
                }
            }
        }
    }

    /// The exchange that the attempt `name` had. One that was refused or cut off is empty: no status, no body.
    pub fn exchange(&mut self, name: &str) -> Exchange {
        self.exchange_in(LaunchKind::Target, name)
    }

    pub fn exchange_in(&mut self, kind: LaunchKind, name: &str) -> Exchange {
        let Some(record) = self.attempt_in(kind, name) else { return Exchange::default() };
        match record.observation.as_ref().map(|observation| &observation.outcome) {
            Some(Outcome::Found { facts: Facts::Exchange { exchange } }) => exchange.clone(),
            Some(other) => {
                // Whether a connection that was refused is a fault is the rule's to say: it may be what it wants.
                if !matches!(other, Outcome::Refused { .. }) {
                    self.unfounded(kind, name, other);
                }
                Exchange { stopped: Some(crate::describe::outcome(other)), ..Exchange::default() }
            }
            None => Exchange::default(),
        }
    }

    /// The MCP session that the attempt `name` had: tools and calls.
    pub fn mcp(&mut self, name: &str) -> (Vec<String>, Vec<McpCall>) {
        match self.facts_in(LaunchKind::Target, name) {
            Some(Facts::Mcp { tools, calls }) => (tools.clone(), calls.clone()),
            _ => (vec![], vec![]),
        }
    }

    /// Requests that reached this fixture with the attempt's nonce, in order.
    pub fn requests(&mut self, name: &str, fixture: &str) -> Vec<&'a Sighting> {
        self.arrived(name)
            .into_iter()
            .filter(|sighting| sighting.fixture == fixture && matches!(sighting.event, Event::Request { .. }))
            .collect()
    }

    /// What fixtures saw of the attempt `name`. Captured frames are left out: those of an exchange with a relay may
    /// be on their permitted way between workload and relay.
    pub fn arrived(&mut self, name: &str) -> Vec<&'a Sighting> {
        self.sightings_in(LaunchKind::Target, name).iter().filter(|one| one.fixture != "capture").collect()
    }

    /// Everything seen outside of the attempt `name` in the launches of this kind.
    pub fn sightings_in(&mut self, kind: LaunchKind, name: &str) -> &'a [Sighting] {
        self.look_outside();
        self.attempt_in(kind, name).map_or(&[], |record| &record.sightings)
    }

    /// The rule relies on what was seen outside: gaps there leave nothing to judge.
    pub fn look_outside(&mut self) {
        self.ruling.looked_outside = true;
    }

    /// The routes that the target has, in a fixed order.
    pub fn routes(&self) -> Vec<Capability> {
        let absent = &self.evidence.absent;
        Capability::ROUTES.iter().copied().filter(|route| !absent.contains_key(route.name())).collect()
    }

    /// The attempts of this check that the target made through a proxy of its own, by name.
    pub fn proxied(&self) -> Vec<String> {
        let prefix = format!("{}/", self.slug);
        let attempts = self.evidence.of_kind(LaunchKind::Target).flat_map(|launch| &launch.attempts);
        let through = attempts.filter(|(_, record)| matches!(record.attempt, Attempt::Proxied { .. }));
        through.filter_map(|(id, _)| id.strip_prefix(&prefix).map(str::to_owned)).collect()
    }

    /// Ports of the target's own proxies: those that its attempts were made at, and those that its environment named.
    pub fn proxy_ports(&self) -> BTreeSet<u16> {
        let records = self.evidence.of_kind(LaunchKind::Target).flat_map(|launch| launch.attempts.values());
        let ports =
            |record: &AttemptRecord| match (&record.attempt, record.observation.as_ref().map(|one| &one.outcome)) {
                (Attempt::Proxied { proxy, .. }, _)
                | (Attempt::Exchange { to: Endpoint::Proxied { proxy, .. }, .. }, _) => match proxy.at {
                    ProxyAt::Address(at) => vec![at.port()],
                    ProxyAt::Environment => vec![],
                },
                (
                    Attempt::ProxyVariables,
                    Some(Outcome::Found { facts: Facts::ProxyVariables { connect, absolute, socks5 } }),
                ) => [connect, absolute, socks5].into_iter().flatten().map(|at| at.port()).collect(),
                _ => vec![],
            };
        records.flat_map(ports).collect()
    }

    /// The probe's processes in the target's main launches, as seen from outside. None at all in one of them is recorded as missing.
    pub fn witnessed(&mut self) -> Vec<&'a Process> {
        self.launch(LaunchKind::Target);
        let launches: Vec<&Launch> = self.evidence.of_kind(LaunchKind::Target).collect();
        for launch in launches.iter().filter(|launch| launch.processes.is_empty()) {
            match launch.outside.get(UNSEEN) {
                Some(why) => self.note(format!("launch {}: seen from inside only: {why}", launch.id)),
                None => self.missing(format!("no process of the probe in launch {} was found from outside", launch.id)),
            }
        }
        launches.into_iter().flat_map(|launch| &launch.processes).collect()
    }

    /// The target's main launches of which no process can be seen from outside, as its manifest says.
    pub fn unseen(&self) -> impl Iterator<Item = &'a Launch> + use<'a> {
        self.evidence.of_kind(LaunchKind::Target).filter(|launch| is_unseen(launch))
    }

    /// How many steps the scripted exchange `name` has.
    pub fn steps(&mut self, name: &str) -> u32 {
        match self.attempt(name).map(|record| &record.attempt) {
            Some(Attempt::Exchange { steps, .. }) => steps.len() as u32,
            _ => 0,
        }
    }

    pub fn missing(&mut self, text: impl Into<String>) {
        self.ruling.missing.push(text.into());
    }

    pub fn evidence(&self) -> &'a Evidence {
        self.evidence
    }
}

/// Whether no process of the launch was seen since none can be.
pub fn is_unseen(launch: &Launch) -> bool {
    launch.processes.is_empty() && launch.outside.contains_key(UNSEEN)
}

#[cfg(test)]
mod tests;

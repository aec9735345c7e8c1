//! A case: the evidence of one check as its rule reads it, and what the rule says of it.

use watertight_probe::{
    observation::{Exchange, Facts, McpCall, Outcome},
    plan::Attempt,
    sighting::{Event, Sighting},
};
use watertight_reports::evidence::{AttemptRecord, Evidence, Launch, LaunchKind, Process};

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

    /// The only launch with this kind. Missing is recorded.
    pub fn launch(&mut self, kind: LaunchKind) -> Option<&'a Launch> {
        let found = self.evidence.of_kind(kind).next();
        if found.is_none() {
            self.ruling.missing.push(format!("there was no launch of kind {kind:?}"));
        }
        found
    }

    /// The launch with this id. Missing is recorded.
    pub fn launch_named(&mut self, id: &str) -> Option<&'a Launch> {
        let found = self.evidence.launches.iter().find(|launch| launch.id == id);
        if found.is_none() {
            self.ruling.missing.push(format!("there was no launch {id}"));
        }
        found
    }

    /// This check's attempt `name` in the launches of this kind. Missing is recorded.
    pub fn attempt_in(&mut self, kind: LaunchKind, name: &str) -> Option<&'a AttemptRecord> {
        let id = format!("{}/{name}", self.slug);
        let found = self.evidence.of_kind(kind).find_map(|launch| launch.attempts.get(&id));
        if found.is_none_or(|record| record.observation.is_none()) {
            self.ruling.missing.push(format!("no report of {id} in a launch of kind {kind:?}"));
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

    /// What that attempt found. An attempt that found nothing is a fault that says what happened instead.
    pub fn facts_in(&mut self, kind: LaunchKind, name: &str) -> Option<&'a Facts> {
        match self.attempt_in(kind, name)?.observation.as_ref().map(|observation| &observation.outcome)? {
            Outcome::Found { facts } => Some(facts),
            other => {
                self.ruling.faults.push(format!("{name}: {}", crate::describe::outcome(other)));
                None
            }
        }
    }

    /// The exchange that the attempt `name` had. One that could not be had is empty: no status, no body.
    pub fn exchange(&mut self, name: &str) -> Exchange {
        self.exchange_in(LaunchKind::Target, name)
    }

    pub fn exchange_in(&mut self, kind: LaunchKind, name: &str) -> Exchange {
        let found = self.attempt_in(kind, name).and_then(|record| record.observation.as_ref());
        match found.map(|observation| &observation.outcome) {
            Some(Outcome::Found { facts: Facts::Exchange { exchange } }) => exchange.clone(),
            Some(other) => {
                let stopped = Some(crate::describe::outcome(other));
                Exchange { stopped, ..Exchange::default() }
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
        self.sightings(name)
            .iter()
            .filter(|sighting| sighting.fixture == fixture && matches!(sighting.event, Event::Request { .. }))
            .collect()
    }

    /// Everything seen outside of the attempt `name`.
    pub fn sightings(&mut self, name: &str) -> &'a [Sighting] {
        self.attempt(name).map_or(&[], |record| &record.sightings)
    }

    /// The probe's processes in the target's main launch, as seen from outside. None at all is recorded as missing.
    pub fn witnessed(&mut self) -> &'a [Process] {
        let Some(launch) = self.launch(LaunchKind::Target) else { return &[] };
        if launch.processes.is_empty() {
            self.missing("no process of the probe was found from outside");
        }
        &launch.processes
    }

    /// What the attempt `name` found, if it found something.
    pub fn found_in(&mut self, kind: LaunchKind, name: &str) -> Option<&'a Facts> {
        match &self.attempt_in(kind, name)?.observation.as_ref()?.outcome {
            Outcome::Found { facts } => Some(facts),
            _ => None,
        }
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

#[cfg(test)]
mod tests;

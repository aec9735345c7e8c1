//! Sandboxes beside each other: one row a bundle that was verified, in the order of names. There are no ranks and no points.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    predicate::{Check, Kind},
    results::{Counts, Fact, Level, Status, Verdict},
    sanitise,
    verify::Accepted,
    words,
};

/// Value of [`Scoreboard::schema`].
pub const SCHEMA: &str = "watertight/scoreboard/v1";

/// All rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scoreboard {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// By target, profile, identity and kernel.
    pub rows: Vec<Row>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// `bubblewrap:hardened`: a sandbox and its configuration.
    pub target: String,
    /// What its version command printed.
    pub version: String,
    pub kind: Kind,
    pub route: String,
    pub launched_as: String,
    /// `core 1.0`.
    pub profile: String,
    /// As whom the harness ran, and on what kernel, where that could be read.
    pub identity: String,
    pub kernel: String,
    pub status: Status,
    pub counts: Counts,
    /// In the order of the text.
    pub areas: Vec<Area>,
    /// What did not hold, in the order of the text.
    pub failed: Vec<Failed>,
    /// RFC 3339.
    pub finished_at: String,
    /// 32 hexadecimal digits.
    pub run: String,
    /// SHA-256 of the payload of the statement.
    pub statement: String,
    /// Organisations of the trusted keys that signed it.
    pub signers: Vec<String>,
    /// Where the bundle lies, as whoever made the scoreboard named it.
    pub bundle: String,
}

/// The requirements of one area.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Area {
    /// `EGRESS`.
    pub name: String,
    pub passed: u32,
    /// Those that apply, whatever became of them.
    pub applicable: u32,
}

/// A requirement that did not hold, and where that is known from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failed {
    pub id: String,
    pub level: Level,
    /// URL of a public report or of documentation.
    pub report: String,
}

/// Requirements that a run failed and that no public report is known of.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{target} fails {}, and its manifest names no public report of that: it is not published", ids.join(", "))]
pub struct Unreported {
    pub target: String,
    pub ids: Vec<String>,
}

impl Row {
    /// The row of evidence that was accepted. `known` has the report of each requirement that the target is known to fail.
    pub fn of(accepted: &Accepted, known: &BTreeMap<String, String>, bundle: &str) -> Result<Self, Unreported> {
        let predicate = &accepted.predicate;
        let name = |text: &str| sanitise::text(text, sanitise::NAME_LIMIT);
        let (mut failed, mut ids) = (vec![], vec![]);
        for check in predicate.checks.iter().filter(|check| check.verdict == Verdict::Fail) {
            match known.get(&check.id) {
                Some(report) => failed.push(Failed {
                    id: check.id.clone(),
                    level: check.level,
                    report: sanitise::text(report, sanitise::LIMIT),
                }),
                None => ids.push(check.id.clone()),
            }
        }
        let target = name(&predicate.target.name);
        if !ids.is_empty() {
            return Err(Unreported { target, ids });
        }
        let fact = |key: &str| match predicate.environment.get(key) {
            Some(Fact::Known(value)) => name(value),
            Some(Fact::Unavailable(_)) | None => "not known".into(),
        };
        Ok(Self {
            target,
            version: name(&predicate.target.version),
            kind: predicate.target.kind,
            route: name(&predicate.target.route),
            launched_as: name(&predicate.target.launched_as),
            profile: name(&format!("{} {}", predicate.profile.id, predicate.profile.version)),
            identity: name(&predicate.run.identity),
            kernel: fact("kernel"),
            status: predicate.summary.status,
            counts: predicate.summary.counts,
            areas: areas(&predicate.checks),
            failed,
            finished_at: name(&predicate.run.finished_at),
            run: name(&predicate.run.id),
            statement: accepted.statement.to_string(),
            signers: accepted.signers.iter().map(|(_, organisation)| name(organisation)).collect(),
            bundle: name(bundle),
        })
    }

    /// What tells configurations apart: of one configuration the newest run is shown.
    fn configuration(&self) -> [&str; 6] {
        [&self.target, &self.profile, &self.launched_as, &self.identity, &self.kernel, &self.version]
    }
}

impl Scoreboard {
    /// These rows, of each configuration the newest.
    pub fn of(mut rows: Vec<Row>) -> Self {
        // RFC 3339 in UTC, as bundles have it, sorts as text.
        rows.sort_by(|one, two| {
            one.configuration().cmp(&two.configuration()).then_with(|| two.finished_at.cmp(&one.finished_at))
        });
        rows.dedup_by(|later, earlier| later.configuration() == earlier.configuration());
        Self { schema: SCHEMA.into(), rows }
    }

    /// The areas of all rows, in the order in which they first appear.
    pub fn areas(&self) -> Vec<&str> {
        let mut areas: Vec<&str> = vec![];
        for area in self.rows.iter().flat_map(|row| &row.areas) {
            if !areas.contains(&area.name.as_str()) {
                areas.push(&area.name);
            }
        }
        areas
    }
}

fn areas(checks: &[Check]) -> Vec<Area> {
    let mut areas: Vec<Area> = vec![];
    for check in checks {
        let name = words::area(&check.id);
        if areas.last().is_none_or(|area| area.name != name) {
            areas.push(Area { name: name.to_owned(), passed: 0, applicable: 0 });
        }
        if let Some(area) = areas.last_mut() {
            area.passed += u32::from(check.verdict == Verdict::Pass);
            area.applicable += u32::from(check.verdict != Verdict::NotApplicable);
        }
    }
    areas
}

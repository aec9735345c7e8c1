//! Judges stored evidence again with this program's judge. Pure: what was recorded in, verdicts out.

use std::collections::{BTreeSet, HashMap};

use watertight_probe::nonce::{Nonce, RunNonce};
use watertight_reports::{evidence::Evidence, results::CheckResult};

use crate::{check::Check, checks, outcome, planner::Layout, run};

/// Why stored evidence cannot be judged.
#[derive(Debug, thiserror::Error)]
pub enum RejudgeError {
    #[error("there is no requirement {0}")]
    Unknown(String),
    #[error("planner and evidence call different routes absent")]
    Absent,
    #[error("what the planner knew of the world cannot be read: {0}")]
    Layout(#[from] serde_json::Error),
}

/// The results of these checks on this evidence, in this order, and the ids of the attempts that were untestable.
pub fn judge(
    ids: &[String],
    layout: &serde_json::Value,
    evidence: &Evidence,
) -> Result<(Vec<CheckResult>, Vec<String>), RejudgeError> {
    let layout: Layout = serde::Deserialize::deserialize(layout)?;
    let absent = layout.absent.iter().map(|route| route.name()).collect::<BTreeSet<_>>();
    if absent != evidence.absent.keys().map(String::as_str).collect() {
        return Err(RejudgeError::Absent);
    }
    let all = checks::all();
    let named = |id: &String| {
        all.iter().find(|check| check.id == *id).copied().ok_or_else(|| RejudgeError::Unknown(id.clone()))
    };
    let chosen: Vec<&Check> = ids.iter().map(named).collect::<Result<_, _>>()?;
    Ok(outcome::judged(&chosen, &layout, evidence))
}

/// An attempt, `launch: attempt`, whose nonce is not that of this run, launch and id.
pub fn foreign_nonce(evidence: &Evidence, run: &RunNonce) -> Option<String> {
    evidence.launches.iter().find_map(|launch| {
        let mut attempts = launch.attempts.iter();
        let foreign = attempts.find(|(id, record)| run.attempt(&launch.id, id) != record.nonce);
        foreign.map(|(id, _)| format!("{}: {id}", launch.id))
    })
}

/// Something that is recorded as nobody's and carries the nonce of an attempt.
pub fn disowned(evidence: &Evidence) -> Option<String> {
    let attempts = evidence.launches.iter().flat_map(|launch| &launch.attempts);
    let nonces: HashMap<Nonce, &String> = attempts.map(|(id, record)| (record.nonce, id)).collect();
    let carried = evidence.unattributed.first.iter().flat_map(|sighting| &sighting.nonces);
    carried.filter_map(|nonce| nonces.get(nonce)).next().map(|id| format!("unattributed: {id}"))
}

/// An attempt, `launch: attempt`, that what was seen outside is not given to by nonce, connection or destination.
pub fn misattributed(evidence: &Evidence, run: &RunNonce) -> Option<String> {
    run::attribute_again(&evidence.launches, run)
}

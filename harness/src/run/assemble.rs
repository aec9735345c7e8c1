//! Turns items into plans that fit one argument, and the records that their reports will go into.

use std::{
    collections::BTreeMap,
    io,
    time::{SystemTime, UNIX_EPOCH},
};

use watertight_fixtures::world::machine_netns_cookie;
use watertight_probe::{
    nonce::RunNonce,
    plan::{BearerAt, End, Gate, Plan, Planned},
    wire::{self, PlanError},
};
use watertight_reports::evidence::{AttemptRecord, LaunchKind};

use crate::{
    check::{Check, Item, When},
    planner::{Allocator, Layout, Planner},
};

/// Seconds that a plan may wait for its launch.
const LIFETIME: u64 = 60;
/// Bytes of JSON beyond which a plan is split: base64 makes four of three.
const SPLIT: usize = wire::MAX_PLAN / 4 * 3 - 2_048;
/// Attempts at once: more than are expected to hang, fewer than any sensible process limit.
const PARALLEL: u16 = 32;

/// The attempts of one launch.
pub struct Assembled {
    pub plan: Plan,
    pub records: BTreeMap<String, AttemptRecord>,
}

/// What the launches of one kind have in common.
pub struct Common<'a> {
    pub kind: LaunchKind,
    /// Id of the first launch; further ones get `-2`, `-3`.
    pub id: &'a str,
    pub layout: &'a Layout,
    pub run: &'a RunNonce,
    pub machine_mnt: u64,
    pub bearer: Option<BearerAt>,
    pub end: End,
    /// Only the attempts whose control is made as root, or only the others.
    pub only: Option<Made>,
}

/// As whom an attempt's control is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    ByUser,
    ByRoot,
}

/// The launches that make every attempt of `checks` in this kind of launch, as few as fit.
pub fn assemble(
    common: &Common<'_>,
    checks: &[&Check],
    allocator: &mut Allocator,
) -> Result<Vec<Assembled>, PlanError> {
    let mut launches = vec![empty(common, 1)?];
    let mut size = 0;
    for check in checks {
        let id = launch_id(common, launches.len());
        let mut items = items(check, &id, common, allocator);
        let mut more = encoded_len(check, &items, &id, common)?;
        if size > 0 && size + more > SPLIT {
            // The nonces depend on the launch, so the check is planned again for the next one.
            launches.push(empty(common, launches.len() + 1)?);
            let id = launch_id(common, launches.len());
            items = self::items(check, &id, common, allocator);
            more = encoded_len(check, &items, &id, common)?;
            size = 0;
        }
        size += more;
        let number = launches.len();
        if let Some(launch) = launches.last_mut() {
            for item in items {
                add(launch, check, item, &launch_id(common, number), common.run);
            }
        }
    }
    Ok(launches)
}

fn launch_id(common: &Common<'_>, number: usize) -> String {
    if number == 1 { common.id.to_owned() } else { format!("{}-{number}", common.id) }
}

/// What the check makes in launches of this kind.
fn items(check: &Check, launch: &str, common: &Common<'_>, allocator: &mut Allocator) -> Vec<Item> {
    let mut items = Planner::plan(check, launch, common.kind, common.layout, common.run, allocator);
    items.retain(|item| {
        let made = if item.launches.contains(&LaunchKind::RootBefore) { Made::ByRoot } else { Made::ByUser };
        item.launches.contains(&common.kind) && item.untestable.is_none() && common.only.is_none_or(|only| only == made)
    });
    items
}

fn encoded_len(check: &Check, items: &[Item], launch: &str, common: &Common<'_>) -> Result<usize, PlanError> {
    let mut size = 0;
    for item in items {
        size += serde_json::to_vec(&planned(check, item, launch, common.run))?.len() + 1;
    }
    Ok(size)
}

fn planned(check: &Check, item: &Item, launch: &str, run: &RunNonce) -> Planned {
    let id = format!("{}/{}", check.slug, item.name);
    Planned { nonce: run.attempt(launch, &id), id, deadline_ms: item.deadline_ms, attempt: item.attempt.clone() }
}

fn add(launch: &mut Assembled, check: &Check, item: Item, id: &str, run: &RunNonce) {
    let planned = planned(check, &item, id, run);
    let record = AttemptRecord {
        nonce: planned.nonce,
        attempt: planned.attempt.clone(),
        evil: item.evil,
        began: false,
        observation: None,
        sightings: vec![],
    };
    launch.records.insert(planned.id.clone(), record);
    match item.when {
        When::First => launch.plan.first.push(planned),
        When::Any => launch.plan.attempts.push(planned),
        When::Alone => launch.plan.last.push(planned),
    }
}

fn empty(common: &Common<'_>, number: usize) -> Result<Assembled, PlanError> {
    let id = launch_id(common, number);
    Ok(Assembled { plan: bare_plan(&id, common)?, records: BTreeMap::new() })
}

/// A plan without an attempt.
fn bare_plan(id: &str, common: &Common<'_>) -> Result<Plan, PlanError> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let machine_netns =
        machine_netns_cookie().map_err(|error: io::Error| PlanError::Json(serde::ser::Error::custom(error)))?;
    Ok(Plan {
        launch: id.to_owned(),
        comm: format!("w{}", &common.run.attempt(id, "comm").to_string()[..14]),
        expires: now + LIFETIME,
        machine_netns,
        machine_mnt: Some(common.machine_mnt),
        gate: Gate::Go,
        parallel: PARALLEL,
        bearer: common.bearer.clone(),
        first: vec![],
        attempts: vec![],
        last: vec![],
        end: common.end.clone(),
    })
}

//! The documents of a payload: what was to be done, written before anything is, and what the run adds at its end.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::evidence::Unattributed;

/// Versions of the two documents.
pub const PLAN_SCHEMA: &str = "watertight/plan/v1";
pub const RUN_SCHEMA: &str = "watertight/run/v1";

/// `payload/plan.json`: written before anything runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Always [`PLAN_SCHEMA`].
    pub schema: String,
    /// Id of the run.
    pub run: String,
    pub spec: String,
    /// `core`.
    pub profile: String,
    pub target: String,
    /// Ids of the requirements that are to be judged.
    pub checks: Vec<String>,
    /// They are all of the profile.
    pub complete: bool,
    pub filter: Option<String>,
    pub as_root: bool,
    pub by_root: bool,
    /// How often launches are made in which a race could show.
    pub soak: u32,
    pub with_mutants: bool,
    pub official: bool,
    pub challenge: Option<String>,
    pub started_at: String,
    pub harness_sha256: String,
}

/// `payload/run.json`: what belongs to no single launch. Written when the world is down, for it holds the run's nonce.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Always [`RUN_SCHEMA`].
    pub schema: String,
    /// Id of the run.
    pub run: String,
    pub nonce: String,
    pub salt: String,
    /// Directories of the launches under `launches/`, in the order in which the judge reads them.
    pub launches: Vec<u32>,
    pub secrets: BTreeMap<String, String>,
    pub banners: Vec<String>,
    pub unattributed: Unattributed,
    pub gaps: Vec<String>,
    pub absent: BTreeMap<String, String>,
    /// What the planner knew of the world: destinations, plants, what could not be had. The harness's own document.
    pub layout: serde_json::Value,
}

//! Why there is no run.

use watertight_fixtures::world::SpawnError;
use watertight_probe::wire::PlanError;

use crate::{site::SiteError, target::TargetError};

/// Why a run could not be made. Nothing is judged then.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Site(#[from] SiteError),
    #[error(transparent)]
    Target(#[from] TargetError),
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error("a control could not be started: {0}")]
    Control(SpawnError),
    #[error("cannot start a thread: {0}; more processes must be allowed (`ulimit -u`)")]
    Thread(std::io::Error),
    #[error("cannot look at what a launch left: {0}")]
    Look(std::io::Error),
}

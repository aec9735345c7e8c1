//! What is tried in each launch of a run.

use watertight_probe::plan::{BearerAt, End};
use watertight_reports::evidence::LaunchKind;

use super::{RunError, Session};
use crate::run::assemble::{Assembled, Common, Made, assemble};

impl Session<'_> {
    /// Launches beside the main one.
    pub(super) fn assemble_beside(&mut self, kind: LaunchKind, id: &str, end: End) -> Result<Vec<Assembled>, RunError> {
        let mut launches = self.assemble(kind, id, end)?;
        if self.only_needed {
            launches.retain(|launch| !launch.plan.attempts.is_empty() || !launch.plan.last.is_empty());
        }
        Ok(launches)
    }

    pub(super) fn assemble(&mut self, kind: LaunchKind, id: &str, end: End) -> Result<Vec<Assembled>, RunError> {
        self.assemble_part(kind, id, end, None)
    }

    pub(super) fn assemble_part(
        &mut self,
        kind: LaunchKind,
        id: &str,
        end: End,
        only: Option<Made>,
    ) -> Result<Vec<Assembled>, RunError> {
        let launches = self.plan(kind, id, end, only)?;
        let wanted = self.allocator.take();
        self.site.open(wanted)?;
        Ok(launches)
    }

    /// What is tried in launches that checks ask for by themselves: at their start, and towards the internet side alone.
    pub(in crate::run) fn plan_own(&mut self, id: &str, end: End) -> Result<Vec<Assembled>, RunError> {
        let launches = self.plan(LaunchKind::Own, id, end, None)?;
        self.allocator.forget();
        Ok(launches)
    }

    fn plan(&mut self, kind: LaunchKind, id: &str, end: End, only: Option<Made>) -> Result<Vec<Assembled>, RunError> {
        let common = Common {
            kind,
            id,
            layout: &self.layout,
            run: &self.site.secrets.run,
            machine_mnt: self.site.machine_mnt,
            bearer: self.bearer(),
            end,
            only,
        };
        Ok(assemble(&common, self.checks, &mut self.allocator)?)
    }

    fn bearer(&self) -> Option<BearerAt> {
        self.target.bearer_variable.clone().map(BearerAt::Env)
    }
}

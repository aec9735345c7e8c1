//! Broken sandboxes beside each other: each in a world of its own, all judged with the same controls.

use watertight_reports::{
    evidence::Evidence,
    mutants::{Fate, Mutant as Row},
    results::Verdict,
};

use crate::{
    check::Check,
    judge, outcome,
    planner::Layout,
    run::{Options, Ran, RunError, Session},
    site::{Secrets, SiteError},
    target::Target,
};

/// Checks that are run on every mutant, so that what it breaks besides is seen: the cheap ones, of every area.
pub const SAMPLE: [&str; 16] = [
    "ROUTE-1",
    "ROUTE-3",
    "EGRESS-1",
    "EGRESS-2",
    "EGRESS-5",
    "EGRESS-13",
    "DNS-2",
    "PRIV-1",
    "PRIV-2",
    "PRIV-7",
    "AUTH-1",
    "AUTH-4",
    "ORIGIN-1",
    "ORIGIN-4",
    "LAUNCH-3",
    "SOCKET-1",
];

/// Mutants at once where nothing else is said. Most of the time they wait.
pub const BESIDE: usize = 16;

/// What all of them are judged with.
pub struct Ground {
    secrets: Secrets,
    controls: Evidence,
    pub layout: Layout,
}

impl Ground {
    /// Makes the controls of these checks, as `target` would have them.
    pub fn new(target: &Target, checks: &[&'static Check], options: &Options) -> Result<Self, RunError> {
        let secrets = Secrets::new(options.salt, &options.challenge).map_err(SiteError::Random)?;
        let Ran { evidence: controls, layout, .. } = Session::controls_alone(target, checks, options, secrets.clone())?;
        Ok(Self { secrets, controls, layout })
    }

    /// The controls of a run that was made.
    pub fn of(secrets: &Secrets, evidence: &Evidence, layout: &Layout) -> Self {
        let mut controls = evidence.clone();
        controls.launches.retain(|launch| judge::is_control(launch.kind));
        Self { secrets: secrets.clone(), controls, layout: layout.clone() }
    }

    /// What is seen on a broken target of this name, on which `fail` are to fail.
    pub fn evidence(
        &self,
        slug: &str,
        target: &Target,
        checks: &[&'static Check],
        fail: &[&'static Check],
        options: &Options,
    ) -> Result<Evidence, RunError> {
        Session::target_alone(target, checks, fail, options, self.secrets.apart(slug), &self.controls)
    }

    /// Notes which checks fail on what was seen. `applied` says that the target came to what is wrong with it.
    pub fn judge(&self, checks: &[&'static Check], evidence: &Evidence, applied: bool, row: &mut Row) {
        for check in checks {
            let (result, _) = judge::check(check, &outcome::items(check, &self.layout), evidence);
            let why = result.reason.into_iter().next().unwrap_or_default();
            match result.verdict {
                Verdict::Fail => {
                    row.kills.push(check.id.into());
                    row.reasons.insert(check.id.into(), why);
                }
                Verdict::Pass => {}
                verdict @ (Verdict::Inconclusive | Verdict::HarnessError | Verdict::NotApplicable) => {
                    row.unclear.push(format!("{} {verdict:?}: {why}", check.id));
                }
            }
        }
        row.kills.sort();
        row.checked = checks.len() as u32;
        row.status = row.judge(applied);
        if row.unclear.len() == checks.len() {
            let target = evidence.launches.iter().find(|launch| launch.id == "target");
            row.error = target.map(|launch| format!("the target did not run: {}", launch.stderr));
            row.status = Fate::Failed;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks;

    #[test]
    fn every_sampled_check_exists() {
        for id in SAMPLE {
            assert!(checks::all().iter().any(|check| check.id == id), "{id}");
        }
    }
}

//! From a run to its results: judges every check, and adds what a reader needs to know of target and machine.

use std::time::{Instant, SystemTime};

use watertight_reports::{
    each::{each, processors},
    evidence::{Evidence, LaunchKind},
    results::{self, CheckResult, Counts, Fact, Results, Status},
    sanitise, time,
};

use crate::{
    catalogue::{Catalogue, CatalogueError},
    check::Check,
    checks, judge, machine,
    mutation::Ground,
    planner::{Allocator, Layout, Planner},
    profile::Profile,
    run::{Listener, Options, Ran, RunError, Session},
    sensitivity,
    site::Secrets,
    target::Target,
};

/// What is to be run.
pub struct Run<'a> {
    pub target: &'a Target,
    /// What it is held to.
    pub profile: Profile,
    pub checks: &'a [&'static Check],
    /// Every check of the profile is among them.
    pub complete: bool,
    pub options: &'a Options,
    /// The target's mutants are run after it.
    pub with_mutants: bool,
    /// The harness is the machine's root.
    pub by_root: bool,
    /// As whom the harness runs, in words.
    pub identity: &'a str,
    /// The text that checks were chosen by.
    pub filter: Option<&'a str>,
}

/// Why there are no results.
#[derive(Debug, thiserror::Error)]
pub enum OutcomeError {
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    #[error("the checks and CONFORMANCE.md say different things, so nothing was run:\n{}", .0.join("\n"))]
    Disagree(Vec<String>),
    #[error(transparent)]
    Run(#[from] RunError),
}

/// What a run and its judgement brought.
pub struct Outcome {
    pub results: Results,
    pub evidence: Evidence,
    pub layout: Layout,
    pub secrets: Secrets,
}

/// Runs and judges. Refuses to start where the checks are not those of the text.
pub fn of(run: &Run<'_>, listener: &dyn Listener) -> Result<Outcome, OutcomeError> {
    let spec = spec(&checks::all())?;
    let began = Instant::now();
    let started_at = time::rfc3339(SystemTime::now());
    let Ran { evidence, layout, version, secrets } = Session::run(run.target, run.checks, run.options, listener)?;
    let (checks, untestable) = judged(run.checks, &layout, &evidence);
    let sensitivity = if run.with_mutants {
        listener.stage("its mutants");
        sensitivity::of(run, &checks, &Ground::of(&secrets, &evidence, &layout))
    } else {
        vec![]
    };
    let mut results = Results {
        schema: results::SCHEMA.into(),
        spec,
        target: target(run, &evidence, version),
        profile: run.profile.words(),
        status: Status::of(&checks, run.complete),
        counts: Counts::of(&checks),
        untestable,
        checks,
        sensitivity,
        environment: machine::in_short(),
        started_at,
        wall_ms: began.elapsed().as_millis() as u64,
    };
    results.environment.insert("identity".into(), Fact::Known(run.identity.to_owned()));
    if let Some(filter) = run.filter {
        results.environment.insert("filter".into(), Fact::Known(filter.to_owned()));
    }
    sanitise::results(&mut results);
    Ok(Outcome { results, evidence, layout, secrets })
}

/// Every check's result on this evidence, and the ids of the attempts that are untestable there. Pure.
pub fn judged(checks: &[&Check], layout: &Layout, evidence: &Evidence) -> (Vec<CheckResult>, Vec<String>) {
    let judge = |check: &&Check| {
        let (mut result, untestable) = judge::check(check, &items(check, layout), evidence);
        sanitise::check(&mut result);
        (result, untestable)
    };
    let (results, untestable): (Vec<_>, Vec<_>) = each(checks, processors(), judge).into_iter().unzip();
    (results, untestable.concat())
}

/// The version of the text that these checks agree with.
fn spec(all: &[&Check]) -> Result<String, OutcomeError> {
    let catalogue = Catalogue::load()?;
    catalogue.agree(all).map_err(OutcomeError::Disagree)?;
    Ok(catalogue.version)
}

/// What a check declares, wherever it is launched: names, needs and controls; destinations do not matter here.
pub fn items(check: &Check, layout: &Layout) -> Vec<crate::check::Item> {
    let run = watertight_probe::nonce::RunNonce::from_bytes([0; 32]);
    Planner::plan(check, "judge", LaunchKind::Target, layout, &run, &mut Allocator::default())
}

fn target(run: &Run<'_>, evidence: &Evidence, version: String) -> results::Target {
    let argv = evidence.of_kind(LaunchKind::Target).next().map(|launch| launch.argv.clone()).unwrap_or_default();
    results::Target {
        name: run.target.name.clone(),
        version,
        route: run.target.route.name().into(),
        launched_as: if run.target.as_root(run.options.as_root) { "root" } else { "user" }.into(),
        argv,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_starts_while_checks_and_text_say_different_things() {
        let all = checks::all();
        assert!(spec(&all).is_ok_and(|version| version == "1.0"));
        match spec(&all[1..]) {
            Err(OutcomeError::Disagree(problems)) => assert!(problems[0].contains(all[0].id), "{problems:?}"),
            other => panic!("{other:?}"),
        }
    }
}

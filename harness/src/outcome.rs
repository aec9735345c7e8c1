//! From a run to its results: judges every check, and adds what a reader needs to know of target and machine.

use std::{
    collections::BTreeMap,
    fs,
    time::{Instant, SystemTime},
};

use watertight_probe::wire;
use watertight_reports::{
    evidence::{Evidence, LaunchKind},
    results::{self, Counts, Fact, Results, Status},
};

use crate::{
    catalogue::{Catalogue, CatalogueError},
    check::Check,
    checks, judge,
    planner::{Allocator, Layout, Planner},
    run::{Options, Ran, RunError, Session},
    sensitivity,
    target::Target,
};

/// What is to be run.
pub struct Run<'a> {
    pub target: &'a Target,
    pub checks: &'a [&'static Check],
    /// Every check of the profile is among them.
    pub complete: bool,
    pub options: &'a Options,
    /// The target's mutants are run after it.
    pub with_mutants: bool,
    /// The harness is the machine's root.
    pub by_root: bool,
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

/// Runs and judges. Refuses to start where the checks are not those of the text.
pub fn of(run: &Run<'_>, progress: &mut dyn FnMut(&str)) -> Result<(Results, Evidence), OutcomeError> {
    let spec = spec(&checks::all())?;
    let began = Instant::now();
    let started_at = rfc3339(SystemTime::now());
    let Ran { evidence, layout, version } = Session::run(run.target, run.checks, run.options, progress)?;
    let mut checks = vec![];
    let mut untestable = vec![];
    for check in run.checks {
        let (result, not_testable) = judge::check(check, &items(check, &layout), &evidence);
        checks.push(result);
        untestable.extend(not_testable);
    }
    let sensitivity = if run.with_mutants {
        progress("its mutants");
        sensitivity::of(run, &checks)
    } else {
        vec![]
    };
    let results = Results {
        schema: results::SCHEMA.into(),
        spec: spec.clone(),
        target: target(run, &evidence, version),
        profile: format!("core {spec}"),
        status: Status::of(&checks, run.complete),
        counts: Counts::of(&checks),
        untestable,
        checks,
        sensitivity,
        environment: environment(),
        started_at,
        wall_ms: began.elapsed().as_millis() as u64,
    };
    Ok((results, evidence))
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
        launched_as: if run.options.as_root { "root" } else { "user" }.into(),
        argv,
    }
}

/// Facts about the machine, each known or with the reason why not.
fn environment() -> BTreeMap<String, Fact> {
    let read = |path: &str| match fs::read_to_string(path) {
        Ok(text) => Fact::Known(wire::escape(text.trim().as_bytes(), 200)),
        Err(error) => Fact::Unavailable(error.to_string()),
    };
    let facts = [
        ("kernel", read("/proc/sys/kernel/osrelease")),
        ("max_user_namespaces", read("/proc/sys/user/max_user_namespaces")),
        ("apparmor_restrict_unprivileged_userns", read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")),
        ("unprivileged_userns_clone", read("/proc/sys/kernel/unprivileged_userns_clone")),
        ("load", read("/proc/loadavg")),
        ("architecture", Fact::Known(std::env::consts::ARCH.into())),
    ];
    facts.into_iter().map(|(name, fact)| (name.to_owned(), fact)).collect()
}

/// A time in RFC 3339, UTC, to the second.
fn rfc3339(time: SystemTime) -> String {
    let seconds = time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days to a date of the Gregorian calendar, counted from 1 March of year 0.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

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

    #[test]
    fn times_are_those_of_the_calendar() {
        let at = |seconds| rfc3339(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(at(4_107_542_400), "2100-03-01T00:00:00Z");
    }
}

//! Runs the mutants of the reference and the doubles, and finds which parts of the checks they need.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    time::{Instant, SystemTime},
};

use watertight_reports::{
    each::each,
    evidence::Evidence,
    matrix::{Ablation, Double, Harness, Matrix, SCHEMA, Summary},
    mutants::{Fate, Mutant as Row},
    results::Verdict,
    sanitise, time,
};

use super::{
    ablation::Needed,
    doubles::{self, DOUBLES},
    expected::{self, EVERY_PORT},
    mutants::{MUTANTS as MUTANTS_OF_ALL, Mutant, Takes},
};
use crate::{
    check::{Check, Rule},
    judge,
    mutation::{self, SAMPLE},
    outcome,
    planner::{INSTANCE_PORT, PROVIDER_PORT},
    run::{APPLIED, LISTENING, MUTANTS, Options, RunError},
    target::{Target, TargetError, User},
};

/// A selftest that can be run.
pub struct Selftest<'a> {
    pub checks: &'a [&'static Check],
    /// This program.
    pub program: PathBuf,
    /// That of the mutants.
    pub mutants: PathBuf,
    /// Both, as the matrix names them.
    pub harness: Harness,
    /// Version of the text that the checks agree with.
    pub spec: String,
    pub identity: String,
    /// The harness is the machine's root.
    pub by_root: bool,
    /// Every check on every mutant, but see [`listens_elsewhere`].
    pub full: bool,
    pub jobs: usize,
}

/// Why a selftest could not be made.
#[derive(Debug, thiserror::Error)]
pub enum SelftestError {
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Target(#[from] TargetError),
    #[error("cannot tell the kernel's release: {0}")]
    Kernel(#[from] nix::Error),
}

/// What all mutants are judged with.
struct Ground {
    of: mutation::Ground,
    reference: Target,
    /// What was seen on the intact reference, where parts of checks are put out of action.
    intact: Option<Evidence>,
}

impl Selftest<'_> {
    /// Runs these mutants, and the doubles where all are meant. `progress` is told of each that is done, from any thread.
    pub fn run(
        &self,
        mutants: &[&'static Mutant],
        progress: &(dyn Fn(&str, &str, bool) + Sync),
    ) -> Result<Matrix, SelftestError> {
        let (began, started_at) = (Instant::now(), time::rfc3339(SystemTime::now()));
        let whole = mutants.len() == self.all();
        // An ordinary user runs a part of the mutants, which would leave parts of checks unneeded.
        let ablate = self.full && whole && self.by_root;
        let ground = self.ground(ablate)?;
        let came = each(&tasks(mutants, whole), self.jobs, |task| match task {
            Task::Mutant(index, mutant) => {
                let (row, needed) = self.one(mutant, &ground);
                progress(&row.slug, row.status.name(), row.status == Fate::Killed);
                Came::Mutant(*index, Box::new(row), needed)
            }
            Task::Double(index) => {
                let double = self.double(*index, &ground);
                progress(&double.name, if double.right { "right" } else { "wrong" }, double.right);
                Came::Double(double)
            }
        });
        let (mut rows, mut doubles, mut needed) = (vec![], vec![], Needed::default());
        for one in came {
            match one {
                Came::Mutant(index, row, own) => {
                    rows.push((index, *row));
                    needed.join(own);
                }
                Came::Double(double) => doubles.push(double),
            }
        }
        // They were begun in another order than that of the list.
        rows.sort_by_key(|(index, _)| *index);
        let mutants: Vec<Row> = rows.into_iter().map(|(_, row)| row).collect();
        let mut matrix = Matrix {
            schema: SCHEMA.into(),
            spec: self.spec.clone(),
            harness: self.harness.clone(),
            kernel: nix::sys::utsname::uname()?.release().to_string_lossy().into_owned(),
            identity: self.identity.clone(),
            full: self.full,
            started_at,
            wall_ms: began.elapsed().as_millis() as u64,
            ablation: ground.intact.as_ref().map(|intact| self.ablation(&ground, intact, &needed)),
            summary: Summary::of(&mutants, &doubles),
            mutants,
            doubles,
        };
        sanitise::matrix(&mut matrix);
        Ok(matrix)
    }

    /// The controls, and where parts of checks are to be put out of action, the reference as it is.
    fn ground(&self, ablate: bool) -> Result<Ground, SelftestError> {
        let reference = Target::load("reference")?;
        let options = self.options();
        let of = mutation::Ground::new(&reference, self.checks, &options)?;
        let intact = ablate.then(|| of.evidence("intact", &reference, self.checks, &[], &options)).transpose()?;
        Ok(Ground { of, reference, intact })
    }

    fn double(&self, index: usize, ground: &Ground) -> Double {
        let (name, expected, rightly) = DOUBLES[index];
        let chosen = self.chosen(|check| matches!(check.rule, Rule::Denied) && name == "open");
        let evidence = Target::load(name)
            .map_err(SelftestError::from)
            .and_then(|target| Ok(ground.of.evidence(name, &target, &chosen, &chosen, &self.options())?));
        match evidence {
            Ok(evidence) => {
                let items = |check| outcome::items(check, &ground.of.layout);
                let verdicts: Vec<(&Check, Verdict)> = chosen
                    .iter()
                    .map(|check| (*check, judge::check(check, &items(check), &evidence).0.verdict))
                    .collect();
                doubles::of(name, expected, rightly, &verdicts)
            }
            Err(error) => doubles::failed(name, expected, error.to_string()),
        }
    }

    /// The checks that concern one target, and the sample.
    fn chosen(&self, concerns: impl Fn(&Check) -> bool) -> Vec<&'static Check> {
        let wanted = |check: &&&'static Check| self.full || SAMPLE.contains(&check.id) || concerns(check);
        self.checks.iter().filter(wanted).copied().collect()
    }

    fn options(&self) -> Options {
        Options {
            program: self.program.clone(),
            as_root: false,
            soak: 1,
            beside: vec![(MUTANTS.to_owned(), self.mutants.clone())],
            challenge: vec![],
            salt: None,
        }
    }

    fn one(&self, mutant: &'static Mutant, ground: &Ground) -> (Row, Needed) {
        let began = Instant::now();
        let expected = expected::kills(mutant, self.checks, self.by_root, self.full);
        let all = self.chosen(|check| expected.contains(check.id));
        let fail: Vec<_> = all.iter().copied().filter(|check| expected.contains(check.id)).collect();
        let mut chosen = all.clone();
        chosen.retain(|check| check.id != EVERY_PORT || expected.contains(check.id));
        let expected = expected.iter().map(|id| (*id).to_owned()).collect();
        let mut row = Row::new(mutant.slug, mutant.sentence, expected);
        let mut needed = Needed::default();
        let mut evidence = self.evidence(mutant, &chosen, &fail, ground);
        if chosen.len() < all.len() && evidence.as_ref().is_ok_and(listens_elsewhere) {
            chosen = all;
            evidence = self.evidence(mutant, &chosen, &fail, ground);
        }
        match evidence {
            Ok(mut evidence) => {
                let mut said = evidence.launches.iter().filter_map(|launch| launch.outside.get(APPLIED));
                let applied = said.any(|slug| *slug == row.slug);
                ground.of.judge(&chosen, &evidence, applied, &mut row);
                if let Some(intact) = &ground.intact {
                    needed = self.needed(&row, &mut evidence, ground, intact.clone());
                }
            }
            Err(error) => row.error = Some(error.to_string()),
        }
        // Caught by what it implies alone, it would be no loss to the checks that named it.
        if !mutant.second_order && !expected::is_named(mutant, self.checks) {
            row.status = Fate::Survived;
            row.error = Some("no check names it".into());
        }
        row.micros = began.elapsed().as_micros() as u64;
        (row, needed)
    }

    /// The parts of the checks that caught this mutant without which they do not.
    fn needed(&self, row: &Row, evidence: &mut Evidence, ground: &Ground, mut intact: Evidence) -> Needed {
        let mut needed = Needed::default();
        for check in self.checks.iter().filter(|check| row.kills.iter().any(|id| id == check.id)) {
            needed.note(check, &outcome::items(check, &ground.of.layout), evidence, &mut intact);
        }
        needed
    }

    fn ablation(&self, ground: &Ground, intact: &Evidence, needed: &Needed) -> Ablation {
        let checks: Vec<_> =
            self.checks.iter().map(|check| (*check, outcome::items(check, &ground.of.layout))).collect();
        let untestable: Vec<String> =
            checks.iter().flat_map(|(check, items)| judge::check(check, items, intact).1).collect();
        needed.ablation(&checks, &untestable)
    }

    /// How many mutants there are for this identity.
    fn all(&self) -> usize {
        MUTANTS_OF_ALL.iter().filter(|mutant| mutant.runs(self.by_root)).count()
    }

    fn evidence(
        &self,
        mutant: &'static Mutant,
        checks: &[&'static Check],
        fail: &[&'static Check],
        ground: &Ground,
    ) -> Result<Evidence, SelftestError> {
        let target = broken(&ground.reference, mutant);
        Ok(ground.of.evidence(mutant.slug, &target, checks, fail, &self.options())?)
    }
}

/// Whether more listens on loopback of the target's network than the two routes, as the kernel told the harness: every port
/// is then tried from inside as well. Where it could not be told, it counts as more.
fn listens_elsewhere(evidence: &Evidence) -> bool {
    let routes = [PROVIDER_PORT, INSTANCE_PORT].map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let told = evidence.launches.iter().find(|launch| launch.id == "target").and_then(|one| one.outside.get(LISTENING));
    let answers_nowhere_else = |address: &str| match address.parse::<SocketAddr>() {
        // One of another address does not answer on loopback, and an IPv6 address may stand for one of IPv4.
        Ok(address) => {
            let of = address.ip().to_canonical();
            routes.contains(&address) || !(of.is_loopback() || of.is_unspecified())
        }
        Err(_) => false,
    };
    told.is_none_or(|told| !told.split_whitespace().all(answers_nowhere_else))
}

/// What one thread does at a time.
enum Task {
    Mutant(usize, &'static Mutant),
    Double(usize),
}

/// How many mutants that take moments are begun between two that take seconds.
const BETWEEN_SLOW: usize = 6;

/// What is longest waited for first, then the doubles; what takes seconds is begun among the rest, so that not all threads
/// wait for it at the same time, nor anything at the end.
fn tasks(mutants: &[&'static Mutant], doubles: bool) -> Vec<Task> {
    let of = |takes| mutants.iter().copied().enumerate().filter(move |(_, mutant)| mutant.takes == takes);
    let task = |(index, mutant)| Task::Mutant(index, mutant);
    let mut tasks: Vec<Task> = of(Takes::Deadlines).map(task).collect();
    tasks.extend((0..DOUBLES.len()).filter(|_| doubles).map(Task::Double));
    let (mut seconds, mut moments) = (of(Takes::Seconds).map(task), of(Takes::Moments).map(task));
    loop {
        let before = tasks.len();
        tasks.extend(seconds.next());
        tasks.extend(moments.by_ref().take(BETWEEN_SLOW));
        if tasks.len() == before {
            return tasks;
        }
    }
}

/// What came of it.
enum Came {
    Mutant(usize, Box<Row>, Needed),
    Double(Double),
}

/// The reference as this mutant's program has it.
fn broken(reference: &Target, mutant: &Mutant) -> Target {
    let mut target = reference.clone();
    target.one_at_a_time = mutant.one_at_a_time;
    let argv = &mut target.launch.argv;
    let mut start = vec!["{mutants}".to_owned(), mutant.slug.to_owned(), "run".to_owned()];
    if mutant.as_root {
        target.user = User::AgentByRoot;
        start.extend(["--user".to_owned(), "agent".to_owned()]);
        if let Some(edit) = target.refuses.get_mut(&crate::scenario::BadInput::NoOrdinaryUser) {
            edit.before = None;
            edit.remove = vec!["--user".to_owned(), "agent".to_owned()];
        }
    }
    // `{watertight} run`: the tests hold the manifest to that beginning.
    argv.splice(0..2, start);
    target
}

#[cfg(test)]
mod tests {
    use watertight_reports::evidence::{Launch, LaunchKind};

    use super::*;
    use crate::{checks, selftest::MUTANTS};

    #[test]
    fn the_reference_starts_as_a_mutant_can_take_its_place() {
        let reference = Target::load("reference").expect("a manifest");
        assert_eq!(reference.launch.argv[..2], ["{watertight}", "run"]);
        let target = broken(&reference, Mutant::named("leave-a-link").expect("a mutant"));
        assert_eq!(target.launch.argv[..5], ["{mutants}", "leave-a-link", "run", "--user", "agent"]);
    }

    #[test]
    fn a_listener_beside_the_routes_is_told_and_so_is_a_table_that_was_not_read() {
        let elsewhere = |told: Option<&str>| {
            let mut target = Launch::not_made("target", LaunchKind::Target);
            target.outside.extend(told.map(|told| (LISTENING.to_owned(), told.to_owned())));
            listens_elsewhere(&Evidence { launches: vec![target], ..Evidence::default() })
        };
        assert!(!elsewhere(Some("127.0.0.1:8765 127.0.0.1:8766")) && !elsewhere(Some("")));
        assert!(elsewhere(Some("127.0.0.1:8765 127.0.0.1:9229")) && elsewhere(Some("[::1]:8765")) && elsewhere(None));
        assert!(!elsewhere(Some("203.0.113.10:80 [2001:db8::1]:80")) && elsewhere(Some("203.0.113.10:80 0.0.0.0:80")));
        assert!(elsewhere(Some("[::ffff:127.0.0.1]:80")) && elsewhere(Some("[::]:80")) && elsewhere(Some("nonsense")));
    }

    #[test]
    fn every_mutant_is_begun_once_and_those_that_are_waited_for_not_at_the_end() {
        let all: Vec<&'static Mutant> = MUTANTS.iter().collect();
        let tasks = tasks(&all, true);
        let begun: Vec<usize> = tasks
            .iter()
            .filter_map(|task| if let Task::Mutant(index, _) = task { Some(*index) } else { None })
            .collect();
        assert_eq!(tasks.len(), all.len() + DOUBLES.len());
        let mut sorted = begun.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..all.len()).collect::<Vec<_>>());
        let last = begun.iter().rposition(|index| all[*index].takes != Takes::Moments).expect("some take longer");
        assert!(last < begun.len() * 2 / 3, "{last} of {}", begun.len());
    }

    #[test]
    fn mutants_and_checks_name_each_other() {
        let checks = checks::all();
        for mutant in MUTANTS {
            assert!(!expected::kills(mutant, &checks, true, true).is_empty(), "nothing catches {}", mutant.slug);
            assert_ne!(expected::is_named(mutant, &checks), mutant.second_order, "{}", mutant.slug);
            for implied in mutant.implies {
                assert!(Mutant::named(implied).is_some(), "{} implies {implied}, which there is not", mutant.slug);
            }
        }
        for check in checks {
            for slug in check.mutants.iter().chain(check.mutants_of_root) {
                assert!(Mutant::named(slug).is_some(), "{} names {slug}, which there is not", check.id);
            }
        }
    }
}

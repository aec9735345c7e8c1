//! A selftest is red where a check is missing, or accepts anything: its mutant survives, and is named.

use std::{path::Path, process::ExitCode};

use libtest_mimic::Failed;
use watertight::{
    catalogue::Catalogue,
    check::{Check, Rule},
    checks,
    run::MUTANTS as PROGRAM,
    selftest::{Mutant, Selftest},
};
use watertight_fixtures::world::{self, Identity};
use watertight_reports::{
    matrix::{Harness, Matrix},
    mutants::Fate,
};

use crate::{
    place::{self, Who},
    runs,
};

/// A check of every kind, and a mutant that no other check names: a deny-check, one of facts, one about a relay, one about
/// the launcher's refusals and one about what is left.
const HANDFUL: [(&str, &str); 5] = [
    ("EGRESS-6", "leak-udp-v6"),
    ("PRIV-2", "allow-new-privs"),
    ("AUTH-1", "compare-first-half"),
    ("LAUNCH-2", "accept-open-key-file"),
    ("TEARDOWN-1", "outlive-launcher"),
];

/// What makes this program a selftest with one check less, or one that accepts anything: an ordinary user's worlds can be
/// made only by a process without a second thread, which the suite is not.
pub const COMMAND: &str = "selftest-weakened";

/// Without the check.
const DELETED: &str = "deleted";
/// With a rule that finds nothing wrong.
const ACCEPTS_ANYTHING: &str = "accepts-anything";

pub fn deleted(who: Who) -> Result<(), Failed> {
    each(who, DELETED, |id, row| {
        if row.error.as_deref() != Some("no check names it") {
            return Err(format!("without {id}: {row:#?}").into());
        }
        // And no command of the program runs anything.
        let less: Vec<&Check> = checks::all().into_iter().filter(|check| check.id != id).collect();
        match Catalogue::load()?.agree(&less) {
            Err(problems) if problems.iter().any(|problem| problem.starts_with(&format!("{id} of "))) => Ok(()),
            other => Err(format!("the text has {id}, and nobody misses its check: {other:?}").into()),
        }
    })
}

pub fn accepts_anything(who: Who) -> Result<(), Failed> {
    each(who, ACCEPTS_ANYTHING, |id, row| {
        if row.missed().any(|missed| missed == id) {
            return Ok(());
        }
        Err(format!("{id} accepts anything, and was not missed: {row:#?}").into())
    })
}

/// The mutant of each check survives; `why` looks at its row.
fn each(
    who: Who,
    weakened: &str,
    why: impl Fn(&str, &watertight_reports::mutants::Mutant) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let program = place::program_of_its_own();
    let beside = |name: &str| program.with_file_name(name);
    place::copy(&place::built().with_file_name(PROGRAM), &beside(PROGRAM));
    let suite = beside("suite");
    place::copy(&std::env::current_exe()?, &suite);
    for (id, slug) in HANDFUL {
        let mut command = who.command(&suite, &place::directory());
        command.args([COMMAND, weakened, id, slug]).args([&program, &beside(PROGRAM)]);
        let ended = runs::to_the_end(command, &place::directory())?;
        let matrix = Matrix::read(ended.stdout.as_bytes())
            .map_err(|error| format!("{weakened} {id}: {error}: {}", ended.stderr))?;
        let [row] = &matrix.mutants[..] else { return Err(format!("{weakened} {id}: {matrix:#?}").into()) };
        if matrix.is_exact() || row.slug != slug || row.status != Fate::Survived {
            return Err(format!("{weakened} {id}, and the matrix does not say so: {matrix:#?}").into());
        }
        why(id, row)?;
    }
    Ok(())
}

/// Is the selftest that these words ask for. Nothing where they ask for something else.
pub fn command() -> Option<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [command, weakened, id, slug, program, mutants] = &words[..] else { return None };
    if command != COMMAND {
        return None;
    }
    match selftest(weakened, id, slug, Path::new(program), Path::new(mutants)) {
        Ok(matrix) => {
            print!("{}", watertight_reports::json::render(&matrix));
            Some(ExitCode::SUCCESS)
        }
        Err(words) => {
            eprintln!("{words}");
            Some(ExitCode::FAILURE)
        }
    }
}

fn selftest(weakened: &str, id: &str, slug: &str, program: &Path, mutants: &Path) -> Result<Matrix, String> {
    let by_root = world::enter().map_err(|error| error.to_string())? == Identity::Root;
    let weaken = |check: &'static Check| match weakened {
        _ if check.id != id => Some(check),
        ACCEPTS_ANYTHING => Some(&*Box::leak(Box::new(Check { rule: Rule::Facts(|_| {}), ..*check }))),
        _ => None,
    };
    let checks: Vec<&'static Check> = checks::all().into_iter().filter_map(weaken).collect();
    let mutant = Mutant::named(slug).ok_or("there is no such mutant")?;
    let nobody = || "0".repeat(64);
    let selftest = Selftest {
        checks: &checks,
        program: program.to_owned(),
        mutants: mutants.to_owned(),
        harness: Harness { version: String::new(), sha256: nobody(), mutants_sha256: nobody() },
        spec: String::new(),
        identity: String::new(),
        by_root,
        full: false,
        jobs: 1,
    };
    selftest.run(&[mutant], &|_, _, _| {}).map_err(|error| error.to_string())
}

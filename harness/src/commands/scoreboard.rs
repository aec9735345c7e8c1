//! `watertight scoreboard`: verified bundles beside each other. What does not verify, or fails something that nobody has
//! reported, is in no table.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::ExitCode,
    time::SystemTime,
};

use watertight_reports::{
    bundle::read::Bundle,
    files, json,
    render::scoreboard::{html, markdown},
    scoreboard::{Row, Scoreboard},
    verify::{Accepted, Request, Strict, policy::Policy, verify},
};

use super::{HARNESS_ERROR, INVALID, Refusal, USAGE, line, refuse, show, verify as verified};
use crate::{target::Target, verifier::Verifier};

/// Exit status where a failure has no public report.
const UNREPORTED: u8 = 1;

pub fn run(options: &line::Scoreboard) -> ExitCode {
    let rows = match rows(options) {
        Ok(rows) => rows,
        Err(Refusal { words, code }) => return refuse(&words, code),
    };
    let board = Scoreboard::of(rows);
    match write(&board, &options.out) {
        Ok(()) => show(&format!("{} of {} bundles are shown\n", board.rows.len(), options.bundles.len()), 0),
        Err(words) => refuse(&words, HARNESS_ERROR),
    }
}

fn rows(options: &line::Scoreboard) -> Result<Vec<Row>, Refusal> {
    let verifier = Verifier::new().map_err(Refusal::harness)?;
    let policy = verified::policy(&options.policy).map_err(Refusal::usage)?;
    if !options.out.is_dir() {
        return Err(Refusal::usage(format!("{} is no directory: make it first", options.out.display())));
    }
    let mut rows = vec![];
    for path in &options.bundles {
        let log = options.log.as_deref().map(|log| verified::log(log, None)).transpose().map_err(Refusal::usage)?;
        let seen = BTreeSet::new();
        let request = Request { now: SystemTime::now(), artifact: None, commit: None, nonce: None, seen, log };
        let accepted = accepted(path, &policy, &request, &verifier)?;
        let of = |words: String, code| Refusal { words: format!("{}: {words}", path.display()), code };
        let known = known(&accepted).map_err(|words| of(words, INVALID))?;
        let bundle = path.strip_prefix(&options.out).unwrap_or(path).display().to_string();
        rows.push(Row::of(&accepted, &known, &bundle).map_err(|error| of(error.to_string(), UNREPORTED))?);
    }
    Ok(rows)
}

fn accepted(path: &Path, policy: &Policy, request: &Request, verifier: &Verifier) -> Result<Accepted, Refusal> {
    let of = |words: String, code| Refusal { words: format!("{}: {words}", path.display()), code };
    let bundle = Bundle::open(path).map_err(|error| of(error.to_string(), USAGE))?;
    verify(&bundle, policy, request, verifier, &Strict).map_err(|rejection| of(verified::words(&rejection), INVALID))
}

/// The report of each requirement that the manifest of a bundle says its target fails.
fn known(accepted: &Accepted) -> Result<BTreeMap<String, String>, String> {
    let text = str::from_utf8(&accepted.manifest).map_err(|_| "its manifest is no text".to_owned())?;
    let target = Target::parse("of the bundle", text).map_err(|error| error.to_string())?;
    let target = match accepted.predicate.target.name.rsplit_once(':') {
        Some((_, variant)) => target.varied(variant).map_err(|error| error.to_string())?,
        None => target,
    };
    Ok(target.known_failures.into_iter().map(|(id, known)| (id, known.report)).collect())
}

fn write(board: &Scoreboard, directory: &Path) -> Result<(), String> {
    for (name, document) in
        [("index.md", markdown(board)), ("index.html", html(board)), ("index.json", json::render(board))]
    {
        let path = directory.join(name);
        files::replace(&path, document.as_bytes())
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    Ok(())
}

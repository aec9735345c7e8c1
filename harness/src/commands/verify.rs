//! `watertight verify`: whether a bundle is what it says, by a policy of the verifier's own.

use std::{
    collections::BTreeSet,
    fs::OpenOptions,
    io::{self, Write},
    path::Path,
    process::ExitCode,
    time::SystemTime,
};

use serde_json::json;
use watertight_reports::{
    bundle::read::Bundle,
    files, json, sanitise,
    signing::digest::Digest,
    verify::{
        Accepted, LogAtHand, Rejection, Request, Strict,
        code::Code,
        policy::{MAX_POLICY, Policy},
        verify,
    },
};

use super::{HARNESS_ERROR, INVALID, USAGE, line, refuse, show};
use crate::verifier::Verifier;

/// Exit status of evidence that is in order and that the policy does not accept.
const NOT_ACCEPTED: u8 = 1;
/// Bytes of other files of the verifier's, at most.
const MAX_INPUT: u64 = 64 << 20;

pub fn run(options: &line::Verify) -> ExitCode {
    let verifier = match Verifier::new() {
        Ok(verifier) => verifier,
        Err(words) => return refuse(&words, HARNESS_ERROR),
    };
    let (policy, request) = match asked(options) {
        Ok(asked) => asked,
        Err(words) => return refuse(&words, USAGE),
    };
    let bundle = match Bundle::open(&options.bundle) {
        Ok(bundle) => bundle,
        Err(error) => return refuse(&error, USAGE),
    };
    match verify(&bundle, &policy, &request, &verifier, &Strict) {
        Ok(accepted) => {
            let shown = show(&accepted_text(&accepted, options), 0);
            match options.seen.as_deref().map(|seen| remember(seen, &accepted)).transpose() {
                Ok(_) => shown,
                Err(error) => refuse(&error, HARNESS_ERROR),
            }
        }
        Err(rejection) => {
            let code = if rejection.code == Code::Result { NOT_ACCEPTED } else { INVALID };
            if options.json {
                show(&json::render(&refusal(&rejection)), code)
            } else {
                refuse(&words(&rejection), code)
            }
        }
    }
}

pub(super) fn words(rejection: &Rejection) -> String {
    let opening = if rejection.code == Code::Result { "not accepted" } else { "rejected" };
    format!("{opening}: {rejection}\nwatertight: {} means: {}", rejection.code, rejection.code.meaning())
}

fn refusal(rejection: &Rejection) -> serde_json::Value {
    json!({
        "schema": "watertight/verification/v1",
        "accepted": false,
        "code": rejection.code,
        "meaning": rejection.code.meaning(),
        "message": rejection.message,
    })
}

fn accepted_text(accepted: &Accepted, options: &line::Verify) -> String {
    let Accepted { predicate, statement, signers, .. } = accepted;
    let (target, run) = (&predicate.target, &predicate.run);
    if options.json {
        let signers: Vec<_> =
            signers.iter().map(|(id, by)| json!({ "keyid": id.to_string(), "organisation": by })).collect();
        return json::render(&json!({
            "schema": "watertight/verification/v1",
            "accepted": true,
            "statement": statement,
            "signers": signers,
            "target": { "name": target.name, "version": target.version, "artifacts": target.artifacts },
            "profile": format!("{} {}", predicate.profile.id, predicate.profile.version),
            "status": predicate.summary.status,
            "counts": predicate.summary.counts,
            "run": { "id": run.id, "started_at": run.started_at, "finished_at": run.finished_at },
        }));
    }
    let status = predicate.summary.status.word();
    let plain = |text: &str| sanitise::text(text, sanitise::NAME_LIMIT);
    let mut text = format!(
        "accepted: {} is {status} ({} {})\n\n  target      {} ({})\n",
        plain(&target.name),
        plain(&predicate.profile.id),
        plain(&predicate.profile.version),
        plain(&target.name),
        plain(&target.version),
    );
    for artifact in &target.artifacts {
        text.push_str(&format!("  artifact    {} sha256:{}\n", plain(&artifact.name), plain(&artifact.sha256)));
    }
    text.push_str(&format!(
        "  run         {} from {} to {}\n",
        plain(&run.id),
        plain(&run.started_at),
        plain(&run.finished_at)
    ));
    text.push_str(&format!("  statement   sha256:{statement}\n"));
    for (id, organisation) in signers {
        text.push_str(&format!("  signed by   {} ({id})\n", plain(organisation)));
    }
    text.push_str(&format!(
        "\nEvery one of its {} verdicts was judged again from the recorded evidence. The signature shows who vouches for the \
         record, not that the run took place.\n",
        predicate.checks.len()
    ));
    text
}

fn asked(options: &line::Verify) -> Result<(Policy, Request), String> {
    let policy = policy(&options.policy)?;
    let artifact = options.artifact.as_deref().map(digest).transpose()?;
    let seen: BTreeSet<String> = match &options.seen {
        Some(path) if path.exists() => text_lines(path)?,
        _ => BTreeSet::new(),
    };
    let log = options.log.as_deref().map(|path| log(path, options.remembered.as_deref())).transpose()?;
    let nonce = options.nonce.map(hex::encode);
    let request = Request { now: SystemTime::now(), artifact, commit: options.commit.clone(), nonce, seen, log };
    Ok((policy, request))
}

/// The verifier's policy.
pub(super) fn policy(path: &Path) -> Result<Policy, String> {
    Policy::parse(&text(path, MAX_POLICY)?).map_err(|error| format!("policy {}: {error}", path.display()))
}

/// The log of runs at this path, and its checkpoint beside it.
pub(super) fn log(path: &Path, remembered: Option<&Path>) -> Result<LogAtHand, String> {
    let checkpoint = path.with_extension("checkpoint");
    Ok(LogAtHand {
        entries: text(path, MAX_INPUT)?.into_bytes(),
        checkpoint: text(&checkpoint, MAX_POLICY)?,
        remembered: remembered.map(|path| text(path, MAX_POLICY)).transpose()?,
    })
}

fn text_lines(path: &Path) -> Result<BTreeSet<String>, String> {
    Ok(text(path, MAX_INPUT)?.lines().map(str::to_owned).collect())
}

/// A file of the verifier's own.
fn text(path: &Path, limit: u64) -> Result<String, String> {
    files::text(path, limit).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

fn digest(path: &Path) -> Result<Digest, String> {
    let digest = crate::build_info::digest(path);
    let digest = digest.map_err(|error| format!("cannot read the artifact {}: {error}", path.display()))?;
    digest.parse().map_err(|_| format!("cannot read the artifact {}", path.display()))
}

/// Notes that this run was accepted, for good.
fn remember(path: &Path, accepted: &Accepted) -> Result<(), String> {
    let noted = OpenOptions::new().append(true).create(true).open(path).and_then(|mut file| {
        file.write_all(format!("{}\n", accepted.predicate.run.id).as_bytes()).and_then(|()| file.sync_all())
    });
    noted.map_err(|error: io::Error| format!("accepted, and cannot note so in {}: {error}", path.display()))
}

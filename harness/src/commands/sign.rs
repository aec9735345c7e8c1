//! `watertight sign`: vouches for a bundle that another process made. It executes nothing, and judges everything again.

use std::{path::Path, process::ExitCode, time::SystemTime};

use serde::Serialize;
use watertight_reports::{
    bundle::{
        ATTESTATIONS, PREDICATE,
        instructions::{VERIFY, verify_md},
        read::{Bundle, ReadError},
    },
    files,
    predicate::Predicate,
    signing::{
        digest::Digest,
        dsse::{Envelope, MAX_ENVELOPE},
        key::SigningKey,
        sigstore::SigstoreBundle,
        source::Sources,
        sshsig,
        statement::{self, DigestSet, Statement, Subject},
        strict,
    },
    time,
    transparency::{
        entry::Entry,
        file::{LogFile, LogFileError},
    },
    verify::{
        Rejection, SIGSTORE, SSHSIG, Strict,
        attestations::{self, MAX_ATTESTATIONS},
        code::Code,
        consistent, derived,
    },
};

use super::{HARNESS_ERROR, INVALID, USAGE, line, refuse, show};
use crate::verifier::Verifier;

pub fn run(options: &line::Sign) -> ExitCode {
    // First of all: no thread and no child of this process is to see a key in the environment.
    let sources = match Sources::take(options.key_file.clone(), options.allow_env_key) {
        Ok(sources) => sources,
        Err(error) => return refuse(&error, USAGE),
    };
    let key = match sources.load() {
        Ok(key) => key,
        Err(error) => return refuse(&error, USAGE),
    };
    match signed(&options.bundle, &key, options.log.as_deref()) {
        Ok(words) => show(&words, 0),
        Err((words, code)) => refuse(&words, code),
    }
}

fn signed(path: &Path, key: &SigningKey, log: Option<&Path>) -> Result<String, (String, u8)> {
    let verifier = Verifier::new().map_err(|words| (words, HARNESS_ERROR))?;
    let bundle = Bundle::open(path).map_err(|error| (error.to_string(), USAGE))?;
    let rejected = |rejection: Rejection| (format!("not signed: {rejection}"), INVALID);
    let predicate = predicate(&bundle).map_err(rejected)?;
    consistent(&bundle, &predicate, "0", &verifier, &Strict).map_err(rejected)?;
    let run = predicate.run.id.clone();
    let payloads = statements(predicate).map_err(|words| (words, INVALID))?;
    let envelopes = match bundle.beside(ATTESTATIONS, MAX_ATTESTATIONS) {
        Ok(bytes) => signed_too(&bytes, &payloads, key).map_err(|words| (words, INVALID))?,
        Err(ReadError::Missing(_)) => payloads.into_iter().map(|payload| Envelope::sign(payload, key)).collect(),
        Err(error) => return Err((error.to_string(), INVALID)),
    };
    let lines: Vec<String> = envelopes.iter().map(Envelope::to_json).collect();
    let first = lines.first().cloned().unwrap_or_default();
    let ssh = sshsig::sign(first.as_bytes(), key).map_err(|error| (error.to_string(), USAGE))?;
    // Sigstore's verifiers want exactly one signature.
    let alone = Envelope::sign(envelopes[0].unverified_payload().to_vec(), key);
    let sigstore = SigstoreBundle::wrap(alone).map_err(|error| (error.to_string(), HARNESS_ERROR))?;
    let files = [
        (SIGSTORE, format!("{}\n", sigstore.to_json())),
        (SSHSIG, ssh),
        (VERIFY, verify_md(&envelopes[0])),
        // The last, since it is the one that makes the bundle a signed one.
        (ATTESTATIONS, lines.iter().map(|line| format!("{line}\n")).collect()),
    ];
    for (name, text) in files {
        files::replace(&path.join(name), text.as_bytes())
            .map_err(|error| (format!("cannot write {}: {error}", path.join(name).display()), HARNESS_ERROR))?;
    }
    let statement = Digest::of(envelopes[0].unverified_payload());
    if let Some(log) = log {
        note_finish(log, run, statement)
            .map_err(|error| (format!("signed, and not in the log: {error}"), HARNESS_ERROR))?;
    }
    Ok(format!("signed: {}\n  key         {}\n  statement   sha256:{statement}\n", path.display(), key.public().id()))
}

/// The run ended, whatever came of it.
fn note_finish(log: &Path, run: String, statement_sha256: Digest) -> Result<(), LogFileError> {
    let at = time::rfc3339(SystemTime::now());
    LogFile::lock(log)?.append(&Entry::Finish { run, statement_sha256, at }).map(|_| ())
}

fn predicate(bundle: &Bundle) -> Result<Predicate, Rejection> {
    let bytes = bundle.beside(PREDICATE, MAX_ENVELOPE as u64).map_err(|error| match error {
        ReadError::Missing(_) => Rejection::new(
            Code::FileMissing,
            format!("{PREDICATE} is missing: the run did not come to its end, and there is nothing to vouch for"),
        ),
        error => Rejection::new(Code::FileMissing, error.to_string()),
    })?;
    let text = strict::check(&bytes, MAX_ENVELOPE)
        .map_err(|error| Rejection::new(error.code(), format!("{PREDICATE}: {error}")))?;
    serde_json::from_str(text).map_err(|error| Rejection::new(Code::Schema, format!("{PREDICATE}: {error}")))
}

/// The payloads of the statements about this run: its own, and the one derived from it.
fn statements(predicate: Predicate) -> Result<Vec<Vec<u8>>, String> {
    let subject = |artifact: &watertight_reports::predicate::Artifact| {
        let sha256 = artifact.sha256.parse().map_err(|error| format!("artifact {}: {error}", artifact.name))?;
        Ok(Subject { name: artifact.name.clone(), digest: DigestSet { sha256 } })
    };
    let subject: Vec<Subject> = predicate.target.artifacts.iter().map(subject).collect::<Result<_, String>>()?;
    let test_result = payload(&Statement::new(subject.clone(), derived(&predicate)))?;
    Ok(vec![payload(&Statement::new(subject, predicate))?, test_result])
}

fn payload<P: statement::Predicate + Serialize>(statement: &Statement<P>) -> Result<Vec<u8>, String> {
    statement.to_payload().map_err(|error| error.to_string())
}

/// Attestations that others signed already, signed by this key too. They must say the same, byte for byte.
fn signed_too(bytes: &[u8], payloads: &[Vec<u8>], key: &SigningKey) -> Result<Vec<Envelope>, String> {
    let lines = attestations::envelopes(bytes).map_err(|rejection| rejection.to_string())?;
    let mut envelopes: Vec<Envelope> = lines.into_iter().map(|(_, envelope)| envelope).collect();
    let same = envelopes.len() == payloads.len()
        && envelopes.iter().zip(payloads).all(|(envelope, payload)| envelope.unverified_payload() == payload);
    if !same {
        return Err(format!("{ATTESTATIONS} is there already and says something else of the run: remove it first"));
    }
    let id = key.public().id().to_string();
    for envelope in &mut envelopes {
        if envelope.signatures().iter().any(|one| one.keyid == id) {
            return Err(format!("the bundle is signed by {id} already"));
        }
        envelope.add_signature(key);
    }
    Ok(envelopes)
}

//! The first steps: limits, envelopes, signatures, strict parsing. What comes after reads only bytes that a trusted key signed.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::{
    code::Code,
    gate::{Rejection, Strictness, refuse, require},
    policy::{Distinct, Policy},
};
use crate::{
    predicate::{Predicate, VERSION},
    sanitise,
    signing::{
        digest::Digest,
        dsse::Envelope,
        public::{KeyId, PublicKey},
        sigstore::SigstoreBundle,
        sshsig,
        statement::{self, CONFORMANCE, Statement, StatementError, Subject, TEST_RESULT},
        test_result::TestResult,
    },
};

impl statement::Predicate for Predicate {
    const TYPE: &'static str = CONFORMANCE;
}

/// Bytes of all attestations, at most.
pub const MAX_ATTESTATIONS: u64 = 16 << 20;
/// Statements in one bundle, at most.
const MAX_STATEMENTS: usize = 8;

/// What trusted keys signed.
#[derive(Clone, Debug)]
pub struct Attested {
    pub predicate: Predicate,
    pub subject: Vec<Subject>,
    /// Who signed the conformance statement.
    pub signers: BTreeSet<KeyId>,
    /// Of the conformance statement's payload: its name wherever it is spoken of.
    pub statement: Digest,
    pub test_result: Option<Signed>,
}

/// The derived statement.
#[derive(Clone, Debug)]
pub struct Signed {
    pub subject: Vec<Subject>,
    pub predicate: TestResult,
    pub signers: BTreeSet<KeyId>,
}

/// An envelope as it stands in the attestations: its line without the end, and what that says.
pub type Line<'a> = (&'a [u8], Envelope);

/// Reads the envelopes of a bundle's attestations.
pub fn envelopes(bytes: &[u8]) -> Result<Vec<Line<'_>>, Rejection> {
    let lines: Vec<&[u8]> = bytes.strip_suffix(b"\n").unwrap_or(bytes).split(|byte| *byte == b'\n').collect();
    if lines.len() > MAX_STATEMENTS {
        let message = format!("there are {} statements, and {MAX_STATEMENTS} are read", lines.len());
        return Err(Rejection::new(Code::EnvTooBig, message));
    }
    let read = |line| {
        let envelope = Envelope::parse(line).map_err(|error| Rejection::new(error.code(), error.to_string()))?;
        Ok((line, envelope))
    };
    lines.into_iter().map(read).collect()
}

/// Verifies the envelopes, and reads their statements.
///
/// `spec` is the version of the text that this program judges: another's fields are not guessed at.
pub fn read(
    lines: &[Line<'_>],
    policy: &Policy,
    spec: &str,
    strictness: &impl Strictness,
) -> Result<Attested, Rejection> {
    let trusted: Vec<&PublicKey> = policy.keys.iter().map(|key| &key.public).collect();
    let (mut conformance, mut test_result): (Option<Attested>, Option<Signed>) = (None, None);
    for (_, envelope) in lines {
        let signers = match envelope.verify(trusted.iter().copied()) {
            Ok(verified) => verified.signers,
            Err(error) => {
                refuse(strictness, error.code(), error.to_string())?;
                BTreeSet::new()
            }
        };
        threshold(policy, &signers, strictness)?;
        let payload = envelope.unverified_payload();
        let kind = statement::predicate_type(payload).map_err(|error| rejection(&error))?;
        let twice = |there: bool| {
            let message =
                || format!("there are two statements of type {}", sanitise::text(&kind, sanitise::NAME_LIMIT));
            require(strictness, !there, Code::StmtDup, message)
        };
        match kind.as_str() {
            CONFORMANCE => {
                twice(conformance.is_some())?;
                spec_version(payload, spec, strictness)?;
                let Statement { subject, predicate, .. } =
                    Statement::<Predicate>::parse(payload).map_err(|error| rejection(&error))?;
                require(strictness, predicate.schema_version == VERSION, Code::Schema, || {
                    format!(
                        "the predicate's version is {:?}, and this program reads {VERSION:?}",
                        predicate.schema_version
                    )
                })?;
                let statement = Digest::of(payload);
                conformance = Some(Attested { predicate, subject, signers, statement, test_result: None });
            }
            TEST_RESULT => {
                twice(test_result.is_some())?;
                let Statement { subject, predicate, .. } =
                    Statement::<TestResult>::parse(payload).map_err(|error| rejection(&error))?;
                test_result = Some(Signed { subject, predicate, signers });
            }
            other => {
                let other = sanitise::text(other, sanitise::NAME_LIMIT);
                refuse(strictness, Code::StmtType, format!("a statement's predicate is of type {other:?}"))?;
            }
        }
    }
    let missing = || Rejection::new(Code::StmtMissing, format!("there is no statement of type {CONFORMANCE}"));
    Ok(Attested { test_result, ..conformance.ok_or_else(missing)? })
}

/// The first envelope in other forms, where they are there.
pub fn other_forms(
    (line, envelope): &Line<'_>,
    sigstore: Option<&[u8]>,
    ssh: Option<&[u8]>,
    signers: &BTreeSet<KeyId>,
    policy: &Policy,
    strictness: &impl Strictness,
) -> Result<(), Rejection> {
    if let Some(bytes) = sigstore {
        let bundle = SigstoreBundle::parse(bytes);
        let same = bundle.is_ok_and(|bundle| {
            // It has one signature where the attestation may have several.
            envelope.unverified_payload() == bundle.envelope.unverified_payload()
                && bundle.envelope.signatures().iter().all(|one| envelope.signatures().contains(one))
        });
        require(strictness, same, Code::BundleMismatch, || {
            "conformance.sigstore.json does not hold the first envelope of the attestations".into()
        })?;
    }
    if let Some(bytes) = ssh {
        // Whoever looks at this form alone must be shown no other signer.
        let keys = policy.keys.iter().map(|key| &key.public).filter(|key| signers.contains(&key.id()));
        let verified = std::str::from_utf8(bytes)
            .map_err(|error| error.to_string())
            .and_then(|armored| sshsig::verify(armored, line, keys).map(|_| ()).map_err(|error| error.to_string()));
        if let Err(error) = verified {
            refuse(strictness, Code::SshsigInvalid, format!("conformance.sshsig: {error}"))?;
        }
    }
    Ok(())
}

/// Whether a statement is about this version of the text. It is asked before anything else is read of it.
fn spec_version(payload: &[u8], known: &str, strictness: &impl Strictness) -> Result<(), Rejection> {
    #[derive(Deserialize)]
    struct Outer {
        predicate: Middle,
    }
    #[derive(Deserialize)]
    struct Middle {
        spec: Inner,
    }
    #[derive(Deserialize)]
    struct Inner {
        version: String,
    }
    // What has no version at all is refused by its schema.
    let found = serde_json::from_slice::<Outer>(payload).map(|outer| outer.predicate.spec.version);
    let found = found.unwrap_or_else(|_| known.to_owned());
    require(strictness, found == known, Code::SpecVersion, || {
        let found = sanitise::text(&found, sanitise::NAME_LIMIT);
        format!(
            "the run tested CONFORMANCE.md {found}, and this program judges {known}: the release that prints \
             \"(CONFORMANCE.md {found})\" with --version verifies it"
        )
    })
}

/// Enough of those who count signed.
fn threshold(policy: &Policy, signers: &BTreeSet<KeyId>, strictness: &impl Strictness) -> Result<(), Rejection> {
    let (found, what) = match policy.distinct {
        Distinct::Keys => (signers.len(), "keys"),
        Distinct::Organisations => {
            let organisations = signers.iter().filter_map(|id| policy.key(*id)).map(|key| &key.organisation);
            (organisations.collect::<BTreeSet<_>>().len(), "organisations")
        }
    };
    require(strictness, found >= policy.threshold, Code::SigThreshold, || {
        format!("{found} trusted {what} signed, and the policy asks for {}", policy.threshold)
    })
}

fn rejection(error: &StatementError) -> Rejection {
    Rejection::new(error.code(), error.to_string())
}

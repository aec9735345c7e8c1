//! Verification of evidence: who vouches for it, whether it is whole, and whether its verdicts follow from it.
//!
//! The order is that of the functions called in [`verify`]; the first that fails names the code. What a trusted key has not
//! signed is never parsed beyond its envelope, and no file is read twice.

pub mod attestations;
mod binding;
mod circumstances;
pub mod code;
mod gate;
mod instructions;
mod judge;
mod logged;
mod matrix;
mod payload;
pub mod policy;
mod request;
mod results;
mod unsigned;

use crate::{
    bundle::{
        ATTESTATIONS,
        read::{Bundle, ReadError},
    },
    predicate::Predicate,
    signing::{digest::Digest, dsse::MAX_ENVELOPE, public::KeyId},
};
use code::Code;
pub use gate::{Rejection, Strict, Strictness};
pub use judge::{Declared, Judge};
pub use payload::Read;
use policy::Policy;
pub use request::{LogAtHand, Request};
pub use results::derived;

/// The same envelope in other forms.
pub const SIGSTORE: &str = "conformance.sigstore.json";
pub const SSHSIG: &str = "conformance.sshsig";

/// Evidence that is accepted.
#[derive(Clone, Debug)]
pub struct Accepted {
    pub predicate: Predicate,
    /// Of the payload of its statement.
    pub statement: Digest,
    /// The trusted keys that signed it, with their organisations.
    pub signers: Vec<(KeyId, String)>,
    /// The target's manifest, byte for byte.
    pub manifest: Vec<u8>,
}

/// Verifies a bundle. The first thing that is wrong with it, or with what it says, is told.
pub fn verify(
    bundle: &Bundle,
    policy: &Policy,
    request: &Request,
    judge: &impl Judge,
    strictness: &impl Strictness,
) -> Result<Accepted, Rejection> {
    let attestations = match bundle.beside(ATTESTATIONS, attestations::MAX_ATTESTATIONS) {
        Ok(bytes) => bytes,
        Err(ReadError::Missing(_)) => {
            return Err(Rejection::new(Code::Unsigned, format!("it has no {ATTESTATIONS}: nobody vouches for it")));
        }
        Err(error @ ReadError::TooBig { .. }) => return Err(Rejection::new(Code::EnvTooBig, error.to_string())),
        Err(error) => return Err(payload::unread(error)),
    };
    let lines = attestations::envelopes(&attestations)?;
    let attested = attestations::read(&lines, policy, &judge.spec().version, strictness)?;
    let predicate = &attested.predicate;
    let beside = |name| match bundle.beside(name, MAX_ENVELOPE as u64) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(ReadError::Missing(_)) => Ok(None),
        Err(error) => Err(payload::unread(error)),
    };
    let (sigstore, ssh) = (beside(SIGSTORE)?, beside(SSHSIG)?);
    let ssh = ssh.as_deref();
    // There is one, since one says what the run found.
    if let Some(first) = lines.first() {
        attestations::other_forms(first, sigstore.as_deref(), ssh, &attested.signers, policy, strictness)?;
        instructions::instructions(bundle, &first.1, strictness)?;
    }
    unsigned::beside(bundle, predicate, strictness)?;
    circumstances::keys(&attested, policy, strictness)?;
    circumstances::subject(&attested, request, strictness)?;
    circumstances::harness(predicate, policy, strictness)?;
    let derived_nonce = judge.nonce(&predicate.run.salt, predicate.run.challenge.as_deref());
    circumstances::freshness(predicate, policy, request, derived_nonce, strictness)?;
    let read = consistent(bundle, predicate, &policy.min_profile, judge, strictness)?;
    matrix::matrix(predicate, read.matrix.as_ref(), policy, judge, strictness)?;
    results::test_result(&attested, strictness)?;
    logged::log(&attested, policy, request, strictness)?;
    results::accepted(predicate, policy, strictness)?;
    let organisation = |id: &KeyId| policy.key(*id).map(|key| (*id, key.organisation.clone()));
    let signers = attested.signers.iter().filter_map(organisation).collect();
    Ok(Accepted { statement: attested.statement, signers, manifest: read.target, predicate: attested.predicate })
}

/// Whether a predicate and the payload beside it say the same, and its verdicts follow: asked before signing as well.
pub fn consistent(
    bundle: &Bundle,
    predicate: &Predicate,
    min_profile: &str,
    judge: &impl Judge,
    strictness: &impl Strictness,
) -> Result<Read, Rejection> {
    payload::profile(predicate, min_profile, judge, strictness)?;
    let read = payload::closed_world(bundle, predicate, strictness)?;
    binding::binding(predicate, &read, judge, strictness)?;
    payload::judgement(predicate, &read, judge, strictness)?;
    payload::summary(predicate, &read, strictness)?;
    Ok(read)
}

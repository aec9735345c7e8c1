//! The step about what lies beside the payload and is not signed: nobody must be able to write there what a reader believes.

use super::{
    SIGSTORE, SSHSIG,
    code::Code,
    gate::{Rejection, Strictness, refuse, require},
    payload::unread,
};
use crate::{
    bundle::{
        ATTESTATIONS, MANIFEST, PAYLOAD, PREDICATE,
        instructions::VERIFY,
        read::{Bundle, ReadError},
    },
    json,
    predicate::Predicate,
    sanitise,
    signing::dsse::MAX_ENVELOPE,
};

/// All that a bundle has.
const KNOWN: [&str; 7] = [ATTESTATIONS, MANIFEST, PAYLOAD, PREDICATE, SIGSTORE, SSHSIG, VERIFY];

/// There is nothing but what a bundle has, and the copy of the predicate is the one that was signed.
pub(super) fn beside(bundle: &Bundle, predicate: &Predicate, strictness: &impl Strictness) -> Result<(), Rejection> {
    if let Some(stranger) = bundle.stranger(&KNOWN).map_err(unread)? {
        let stranger = sanitise::text(stranger, sanitise::NAME_LIMIT);
        refuse(strictness, Code::FileExtra, format!("{stranger:?} belongs to no bundle, and nobody signed it"))?;
    }
    match bundle.beside(PREDICATE, MAX_ENVELOPE as u64) {
        Ok(bytes) => require(strictness, bytes == json::render(predicate).as_bytes(), Code::PredicateMismatch, || {
            format!("{PREDICATE} is not the predicate that was signed")
        }),
        Err(ReadError::Missing(_)) => Ok(()),
        Err(error) => Err(unread(error)),
    }
}

//! The step about the log of runs: this one is in it from start to end, and none was started and kept quiet about.

use super::{
    attestations::Attested,
    code::Code,
    gate::{Rejection, Strictness, refuse, require},
    policy::{Demand, Policy},
    request::Request,
};
use crate::{
    predicate::{logged_profile, subject_digest},
    sanitise,
    signing::digest::Digest,
    transparency::audit::{AuditError, Audited, Claim},
};

pub fn log(
    attested: &Attested,
    policy: &Policy,
    request: &Request,
    strictness: &impl Strictness,
) -> Result<(), Rejection> {
    let Some(at_hand) = &request.log else {
        return require(strictness, !policy.demands(Demand::Log), Code::LogNotIncluded, || {
            "the policy demands that the run is in a log, and none is given: --log FILE".into()
        });
    };
    // The first line of a checkpoint names its log.
    let origin = at_hand.checkpoint.lines().next().unwrap_or_default();
    let log = policy.logs.iter().find(|log| log.origin == origin).ok_or_else(|| {
        let origin = sanitise::text(origin, sanitise::NAME_LIMIT);
        Rejection::new(Code::LogSig, format!("the policy names no log {origin:?}"))
    })?;
    let audited = Audited::new(&at_hand.entries, &at_hand.checkpoint, &log.key, at_hand.remembered.as_deref());
    let audited = audited.map_err(|error| rejection(&error))?;
    let predicate = &attested.predicate;
    let subject = subject_digest(&predicate.target.artifacts);
    let profile = logged_profile(&predicate.profile.id, &predicate.profile.version);
    let claim = Claim {
        run: &predicate.run.id,
        subject,
        profile: &profile,
        nonce_sha256: Digest::of(&predicate.run.nonce),
        statement_sha256: attested.statement,
    };
    let accepted = policy.max_abandoned_runs as usize;
    for checked in [audited.check(&claim), audited.check_abandoned(subject, &profile, accepted)] {
        if let Err(error) = checked {
            refuse(strictness, error.code(), rejection(&error).message)?;
        }
    }
    Ok(())
}

fn rejection(error: &AuditError) -> Rejection {
    Rejection::new(error.code(), sanitise::text(error.to_string(), sanitise::LIMIT))
}

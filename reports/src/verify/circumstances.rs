//! The steps about who signed what when: keys, subject, commit, harness, machine, freshness.

use std::time::{Duration, SystemTime};

use super::{
    attestations::Attested,
    code::Code,
    gate::{Rejection, Strictness, refuse, require},
    policy::{Demand, Policy},
    request::Request,
};
use crate::{
    predicate::{Kind, Predicate},
    results::Fact,
    sanitise,
    signing::public::KeyId,
    time,
};

/// How far the clocks of runner and verifier may be apart.
const SKEW: Duration = Duration::from_secs(300);

/// Every signer may speak of this target and profile, at that time.
pub fn keys(attested: &Attested, policy: &Policy, strictness: &impl Strictness) -> Result<(), Rejection> {
    let predicate = &attested.predicate;
    let (started, finished) = span(predicate)?;
    let trusted = |id: &KeyId| policy.key(*id);
    for key in attested.signers.iter().filter_map(trusted) {
        let id = key.public.id();
        let logs = policy.logs.iter().any(|log| log.key.is(&key.public));
        require(strictness, !logs, Code::KeyRole, || format!("the key {id} is that of a log"))?;
        let revoked = key.revoked_at.is_some_and(|at| key.compromised || finished >= at) || key.compromised;
        require(strictness, !revoked, Code::KeyRevoked, || {
            let why = if key.compromised { "is compromised, so that any date may be false" } else { "is revoked" };
            format!("the key {id} {why}")
        })?;
        require(strictness, key.not_before <= started && finished <= key.not_after, Code::KeyExpired, || {
            format!("the run from {} to {} lies outside the time of the key {id}", text(started), text(finished))
        })?;
        let names = |list: &[String], name: &str| list.iter().any(|one| one == name);
        let target = &predicate.target.name;
        require(strictness, names(&key.targets, target), Code::KeyScopeTarget, || {
            format!("the key {id} is not trusted for target {:?}", shown(target))
        })?;
        let profile = &predicate.profile.id;
        require(strictness, names(&key.profiles, profile), Code::KeyScopeProfile, || {
            format!("the key {id} is not trusted for profile {:?}", shown(profile))
        })?;
    }
    Ok(())
}

/// It is about the artifact and the commit at hand, and about a sandbox.
pub fn subject(attested: &Attested, request: &Request, strictness: &impl Strictness) -> Result<(), Rejection> {
    let target = &attested.predicate.target;
    let named = target.artifacts.iter().map(|one| (one.name.as_str(), one.sha256.clone()));
    let subject: Vec<String> = attested.subject.iter().map(|one| one.digest.sha256.to_string()).collect();
    let stated = attested.subject.iter().map(|one| one.name.as_str()).zip(subject.iter().cloned());
    require(strictness, stated.eq(named), Code::SubjectMismatch, || {
        "the statement is about other artifacts than those that the run names".into()
    })?;
    if let Some(artifact) = &request.artifact {
        require(strictness, subject.contains(&artifact.to_string()), Code::SubjectMismatch, || {
            format!("the artifact at hand has the digest {artifact}, and the evidence is about {}", subject.join(", "))
        })?;
    }
    if let Some(commit) = &request.commit {
        let source = target.source.as_ref();
        let found =
            source.is_some_and(|source| source.commit == *commit || source.merge_commit.as_ref() == Some(commit));
        require(strictness, found, Code::CommitMismatch, || {
            let found = source.map_or("no commit".into(), |source| shown(&source.commit));
            format!("asked for commit {commit}, and the evidence names {found}")
        })?;
    }
    require(strictness, matches!(target.kind, Kind::Reference | Kind::ThirdParty), Code::Kind, || {
        format!("{} is {:?}, which nobody uses as a sandbox", shown(&target.name), target.kind)
    })
}

/// The harness is one that is known, and so are sources and kernel where the policy asks.
pub fn harness(predicate: &Predicate, policy: &Policy, strictness: &impl Strictness) -> Result<(), Rejection> {
    if policy.demands(Demand::CleanTree) {
        let source = predicate.target.source.as_ref();
        let dirty = predicate.harness.dirty != Some(false) || source.is_some_and(|source| source.dirty);
        require(strictness, !dirty, Code::Dirty, || {
            "the harness or the target was built from files that no commit holds, or it is not known".into()
        })?;
    }
    if let Some(accepted) = &policy.accepted_harness {
        let known = accepted.iter().any(|one| one.to_string() == predicate.harness.sha256);
        require(strictness, known, Code::HarnessUnknown, || {
            format!("the harness {} is none that the policy names", shown(&predicate.harness.sha256))
        })?;
    }
    if !policy.kernels.is_empty() {
        let kernel = match predicate.environment.get("kernel") {
            Some(Fact::Known(kernel)) => kernel.as_str(),
            Some(Fact::Unavailable(_)) | None => "",
        };
        let known = policy.kernels.iter().any(|one| of_release(kernel, one));
        require(strictness, known, Code::Environment, || {
            format!(
                "the run was made on kernel {:?}, and the policy asks for {}",
                shown(kernel),
                policy.kernels.join(", ")
            )
        })?;
    }
    Ok(())
}

/// Whether a kernel's release begins with this one: `6.1` is the beginning of `6.1.9`, and not of `6.12`.
fn of_release(kernel: &str, release: &str) -> bool {
    let digit = |text: &str, at: fn(&str) -> Option<char>| at(text).is_some_and(|letter| letter.is_ascii_digit());
    kernel
        .strip_prefix(release)
        .is_some_and(|rest| !(digit(release, |text| text.chars().last()) && digit(rest, |text| text.chars().next())))
}

/// It answers the challenge, was not shown before, and is neither old nor of tomorrow.
pub fn freshness(
    predicate: &Predicate,
    policy: &Policy,
    request: &Request,
    derived: Option<String>,
    strictness: &impl Strictness,
) -> Result<(), Rejection> {
    let run = &predicate.run;
    require(strictness, derived.as_ref() == Some(&run.nonce), Code::Nonce, || {
        "the run's nonce is not what its salt and its challenge make".into()
    })?;
    match (&request.nonce, &run.challenge) {
        (Some(asked), Some(answered)) => {
            require(strictness, *asked == *answered, Code::Nonce, || "the run answers another challenge".into())?;
        }
        (Some(_), None) => refuse(strictness, Code::Nonce, "the run answers no challenge")?,
        (None, _) => require(strictness, !policy.demands(Demand::VerifierNonce), Code::Nonce, || {
            "the policy demands a challenge of the verifier's own, and none is given: --nonce HEX".into()
        })?,
    }
    require(strictness, !request.seen.contains(&run.id), Code::Replay, || {
        format!("the run {} was accepted before", shown(&run.id))
    })?;
    let (started, finished) = span(predicate)?;
    require(strictness, started <= finished, Code::TimeOrder, || {
        format!("it started at {} and ended at {}", text(started), text(finished))
    })?;
    require(strictness, finished <= request.now + SKEW, Code::TimeFuture, || {
        format!("it ended at {}, and now it is {}", text(finished), text(request.now))
    })?;
    // By its start, which its payload names too.
    let age = request.now.duration_since(started).unwrap_or_default();
    let limit = Duration::from_secs(u64::from(policy.max_age_days) * 86_400);
    require(strictness, age <= limit, Code::Stale, || {
        format!("it started {} days ago, and {} are accepted", age.as_secs() / 86_400, policy.max_age_days)
    })?;
    let retries = run.ci.as_ref().map_or(0, |ci| ci.attempt.saturating_sub(1));
    require(strictness, retries <= policy.max_retries, Code::Retries, || {
        format!("its job was started {} times, and {} retries are accepted", retries + 1, policy.max_retries)
    })
}

/// From when to when it ran.
fn span(predicate: &Predicate) -> Result<(SystemTime, SystemTime), Rejection> {
    let moment = |text: &String| {
        time::parse(text).ok_or_else(|| Rejection::new(Code::Schema, format!("{:?} is no time", shown(text))))
    };
    Ok((moment(&predicate.run.started_at)?, moment(&predicate.run.finished_at)?))
}

fn text(time: SystemTime) -> String {
    time::rfc3339(time)
}

fn shown(text: &str) -> String {
    sanitise::text(text, sanitise::NAME_LIMIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_of_the_kernel_begins_with_whole_numbers() {
        for (kernel, release) in
            [("6.1.9", "6.1"), ("6.1", "6.1"), ("6.1-rc2", "6.1"), ("6.12.3", "6."), ("6.12", "6.12")]
        {
            assert!(of_release(kernel, release), "{kernel} {release}");
        }
        for (kernel, release) in [("6.12.3", "6.1"), ("6.1.90", "6.1.9"), ("16.1", "6.1"), ("", "6.1"), ("6", "6.1")] {
            assert!(!of_release(kernel, release), "{kernel} {release}");
        }
    }
}

//! The last steps: what the derived statement says, and whether the policy accepts what the results amount to.

use super::{
    attestations::Attested,
    code::Code,
    gate::{Rejection, Strictness, require},
    policy::{Demand, Policy},
};
use crate::{
    predicate::Predicate,
    results::{Level, Status, Verdict},
    signing::{
        digest::Digest,
        statement::DigestSet,
        test_result::{Configuration, Outcome, TestResult},
    },
};

/// The same results for tools that know nothing but in-toto's test-result: it has no place for more.
pub fn derived(predicate: &Predicate) -> TestResult {
    let with = |wanted: fn(Verdict, Level) -> bool| {
        let checks = predicate.checks.iter().filter(|check| wanted(check.verdict, check.level));
        checks.map(|check| check.id.clone()).collect::<Vec<_>>()
    };
    let passed_tests = with(|verdict, _| verdict == Verdict::Pass);
    let warned_tests = with(|verdict, level| match verdict {
        Verdict::NotApplicable => true,
        Verdict::Fail => level == Level::Should,
        Verdict::Pass | Verdict::Inconclusive | Verdict::HarnessError => false,
    });
    let failed_tests = with(|verdict, level| match verdict {
        Verdict::Inconclusive | Verdict::HarnessError => true,
        Verdict::Fail => level == Level::Must,
        Verdict::Pass | Verdict::NotApplicable => false,
    });
    let result = match predicate.summary.status {
        Status::Conformant if warned_tests.is_empty() => Outcome::Passed,
        Status::Conformant => Outcome::Warned,
        Status::Nonconformant | Status::Incomplete => Outcome::Failed,
    };
    let name = format!("{} {}", predicate.profile.id, predicate.profile.version);
    let sha256 = predicate.profile.check_set.parse().unwrap_or_else(|_| Digest::of(&predicate.profile.check_set));
    let configuration = vec![Configuration { name, digest: DigestSet { sha256 } }];
    TestResult { result, configuration, passed_tests, warned_tests, failed_tests }
}

/// The derived statement says the same of the same artifacts, signed by the same.
pub(super) fn test_result(attested: &Attested, strictness: &impl Strictness) -> Result<(), Rejection> {
    let same = attested.test_result.as_ref().is_none_or(|signed| {
        signed.predicate == derived(&attested.predicate)
            && signed.subject == attested.subject
            && signed.signers == attested.signers
    });
    require(strictness, same, Code::TestresultMismatch, || {
        "the test-result statement does not say what the results say".into()
    })
}

/// The policy takes what the results amount to.
pub(super) fn accepted(predicate: &Predicate, policy: &Policy, strictness: &impl Strictness) -> Result<(), Rejection> {
    let summary = &predicate.summary;
    let accepted = policy.accept.contains(&summary.status);
    require(strictness, accepted, Code::Result, || {
        format!("the run came out {:?}, which the policy does not accept", summary.status)
    })?;
    let waived = summary.counts.not_applicable;
    require(strictness, policy.max_not_applicable.is_none_or(|most| waived <= most), Code::Result, || {
        format!("{waived} requirements are not applicable, more than the policy accepts")
    })?;
    let untestable = predicate.untestable.len();
    require(strictness, policy.max_untestable.is_none_or(|most| untestable <= most as usize), Code::Result, || {
        format!("{untestable} attempts could not be made, more than the policy accepts")
    })?;
    require(strictness, predicate.run.official || !policy.demands(Demand::Official), Code::Result, || {
        "the run does not call itself official, and the policy demands it".into()
    })
}

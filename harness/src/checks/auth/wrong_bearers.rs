//! AUTH-1: without exactly this spawn's bearer, the provider's relay answers 401 and asks nobody.

use watertight_probe::plan::BearerForm;
use watertight_reports::results::{ControlKind, Subject};

use crate::{
    case::Case,
    check::{Capability, Check},
    planner::{Planner, exchange, provider},
    request::{MODELS, Request},
};

pub static CHECK: Check = Check::facts("AUTH-1", "auth::wrong_bearers", ControlKind::Twin, plan, judge)
    .about(Subject::Relay)
    .waived_by(&[Capability::Provider])
    .caught_on(&[
        "accept-any-bearer",
        "accept-no-bearer",
        "accept-empty-bearer",
        "compare-length-only",
        "compare-up-to-the-shorter",
        "compare-up-to-the-expected",
        "compare-first-half",
        "compare-last-half",
        "drop-what-is-not-ascii",
        "accept-any-scheme",
        "accept-a-bare-token",
        "accept-api-key-header",
        "accept-proxy-authorization",
        "take-first-authorization",
        "take-last-authorization",
    ])
    .spared(&[
        ("right", "a control of the check"),
        ("none", "a token in another header comes without a bearer as well"),
        ("scheme-case", "recorded and not judged"),
        ("all-different", "what takes a token that differs everywhere takes one that differs in one byte"),
    ]);

/// Every way of being wrong that a comparison has got wrong somewhere (catalogue C2).
fn wrong() -> Vec<(&'static str, Request)> {
    let bare = || Request::new("GET", MODELS);
    vec![
        ("none", bare()),
        ("empty", bare().header("authorization", "")),
        ("short", bare().bearer(BearerForm::Short)),
        ("long", bare().bearer(BearerForm::Long)),
        ("all-different", bare().bearer(BearerForm::AllDifferent)),
        ("first-different", bare().bearer(BearerForm::FirstDifferent)),
        ("last-different", bare().bearer(BearerForm::LastDifferent)),
        ("multibyte", bare().bearer(BearerForm::Multibyte)),
        ("basic-scheme", bare().credential("authorization", "Basic ", BearerForm::Right)),
        ("no-scheme", bare().credential("authorization", "", BearerForm::Right)),
        ("x-api-key", bare().credential("x-api-key", "", BearerForm::Right)),
        ("proxy-authorization", bare().credential("proxy-authorization", "Bearer ", BearerForm::Right)),
        ("right-then-wrong", bare().bearer(BearerForm::Right).bearer(BearerForm::AllDifferent)),
        ("wrong-then-right", bare().bearer(BearerForm::AllDifferent).bearer(BearerForm::Right)),
    ]
}

fn plan(plan: &mut Planner<'_>) {
    let right = Request::models().mode(plan.nonce("right"), "plain").exchange();
    plan.ask("right", exchange(provider(), right));
    // Recorded, not judged: RFC 9110 11.1 makes the scheme's case irrelevant.
    let scheme = Request::new("GET", MODELS).credential("authorization", "bearer ", BearerForm::Right);
    let scheme = scheme.mode(plan.nonce("scheme-case"), "plain").exchange();
    plan.ask("scheme-case", exchange(provider(), scheme));
    for (name, request) in wrong() {
        let steps = request.mode(plan.nonce(name), "plain").exchange();
        plan.ask(name, exchange(provider(), steps));
    }
}

fn judge(case: &mut Case<'_>) {
    let right = case.exchange("right");
    let hits = case.requests("right", "provider").len();
    case.control(right.status == Some(200) && hits > 0, "the right bearer got 200 and the provider was asked");
    for (name, _) in wrong() {
        let answer = case.exchange(name);
        for hit in case.arrived(name) {
            case.breach(format!("{name}: the provider was asked ({})", hit.fixture));
        }
        case.require(answer.status == Some(401), format!("{name}: {}", crate::describe::exchange(&answer)));
    }
    let scheme = case.exchange("scheme-case");
    case.note(format!("the right token with the scheme in lower case got {:?}", scheme.status));
}

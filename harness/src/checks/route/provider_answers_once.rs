//! ROUTE-1: a request to the provider is answered 200, and the provider is asked exactly once.

use watertight_reports::results::{ControlKind, Subject};

use crate::{
    case::Case,
    check::{Capability, Check},
    planner::{Planner, exchange, provider},
    request::Request,
};

pub static CHECK: Check =
    Check::facts("ROUTE-1", "route::provider_answers_once", ControlKind::KnownPositive, plan, judge)
        .about(Subject::Relay)
        .waived_by(&[Capability::Provider])
        .caught_on(&["send-twice"])
        .spared(&[(
            "chat",
            "a request without a body and one with a body; the mutant that sends twice repeats the first",
        )]);

const WAYS: [&str; 2] = ["models", "chat"];

fn plan(plan: &mut Planner<'_>) {
    let models = Request::models().mode(plan.nonce("models"), "plain").exchange();
    plan.ask("models", exchange(provider(), models));
    let chat = Request::chat().mode(plan.nonce("chat"), "plain").exchange();
    plan.ask("chat", exchange(provider(), chat));
}

fn judge(case: &mut Case<'_>) {
    for name in WAYS {
        let answer = case.exchange(name);
        case.require(answer.status == Some(200), format!("{name}: {}", crate::describe::exchange(&answer)));
        let hits = case.requests(name, "provider").len();
        case.require(hits == 1, format!("{name}: the provider was asked {hits} times"));
    }
}

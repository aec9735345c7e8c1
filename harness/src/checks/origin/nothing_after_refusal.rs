//! ORIGIN-12: a refusal ends that request alone: nothing in its body or behind it is taken for what it is not.
//!
//! A permitted request behind a refused one is judged on its own, and a request hidden in a refused body is none
//! (catalogue J20, J21, L11).

use watertight_probe::plan::{BearerForm, Step};
use watertight_reports::results::{ControlKind, Subject};

use super::{only_own_origin, plan_permitted, relays_work};
use crate::{
    case::Case,
    check::{Capability, Check},
    planner::{Planner, exchange, provider},
    request::{BEARER_LEN, Request},
};

pub static CHECK: Check = Check::facts("ORIGIN-12", "origin::nothing_after_refusal", ControlKind::Twin, plan, judge)
    .about(Subject::Relay)
    .waived_by(&[Capability::Provider])
    .caught_on(&["judge-first-request-only", "accept-no-bearer", "accept-any-path"])
    .spared(&[
        ("*-permitted", "a control of the check"),
        ("provider-*", "a refusal ends the request in both relays alike"),
    ]);

fn plan(plan: &mut Planner<'_>) {
    plan_permitted(plan);
    // A permitted request first: a relay that judges only the first lets the second through.
    let name = "provider-second-refused";
    let mut steps = Request::models().mode(plan.nonce("provider-first"), "plain").send();
    steps.extend(Request::new("GET", "/v1/files").bearer(BearerForm::Right).mode(plan.nonce(name), "plain").send());
    steps.extend([Step::ReadResponse, Step::ReadResponse]);
    plan.ask(name, exchange(provider(), steps));
    let name = "provider-second-without-bearer";
    let mut steps = Request::models().mode(plan.nonce("provider-first"), "plain").send();
    steps.extend(Request::new("GET", "/v1/models").mode(plan.nonce(name), "plain").send());
    steps.extend([Step::ReadResponse, Step::ReadResponse]);
    plan.ask(name, exchange(provider(), steps));
    // A whole permitted request as the body of a refused one.
    let name = "provider-hidden-in-body";
    let mode = format!("wt:{} plain", plan.nonce(name));
    let mut hidden = Request::models().header("x-watertight", mode).send();
    let text: usize = hidden.iter().map(|step| if let Step::Send(text) = step { text.len() } else { BEARER_LEN }).sum();
    let mut steps = vec![Step::Send(format!(
        "POST /v1/refused HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {text}\r\nauthorization: Bearer "
    ))];
    steps.extend([Step::SendBearer(BearerForm::Right), Step::Send("\r\n\r\n".into())]);
    steps.append(&mut hidden);
    steps.push(Step::ReadToEnd);
    plan.ask(name, exchange(provider(), steps));
}

fn judge(case: &mut Case<'_>) {
    relays_work(case);
    for name in ["provider-second-refused", "provider-second-without-bearer", "provider-hidden-in-body"] {
        only_own_origin(case, name);
        let hits = case.requests(name, "provider").len();
        if hits > 0 {
            case.breach(format!("{name}: the provider was asked"));
        }
        let answer = case.exchange(name);
        case.require(answer.steps_done > 0, format!("{name}: {}", crate::describe::exchange(&answer)));
    }
}

//! ORIGIN-4: the provider's relay carries the two declared routes and no other method, path or query (catalogue C7, I18).

use watertight_probe::plan::BearerForm;
use watertight_reports::results::{ControlKind, Subject};

use super::{plan_permitted, refused, relays_work};
use crate::{
    case::Case,
    check::{Capability, Check},
    planner::{Planner, exchange, provider},
    request::Request,
};

pub static CHECK: Check = Check::facts("ORIGIN-4", "origin::routes", ControlKind::Twin, plan, judge)
    .about(Subject::Relay)
    .waived_by(&[Capability::Provider])
    .caught_on(&[
        "accept-any-method",
        "accept-either-method",
        "accept-method-in-lower-case",
        "accept-any-path",
        "accept-path-prefix",
        "accept-without-base",
        "accept-query",
    ])
    .spared(&[
        ("*-permitted", "a control of the check"),
        ("provider *", "methods and paths are compared with a fixed list, not one by one"),
    ]);

const REQUESTS: [(&str, &str); 14] = [
    ("PUT", "/v1/models"),
    ("DELETE", "/v1/models"),
    ("TRACE", "/v1/models"),
    ("PATCH", "/v1/chat/completions"),
    ("get", "/v1/models"),
    ("POST", "/v1/models"),
    ("GET", "/v1/chat/completions"),
    ("GET", "/v1/files"),
    ("POST", "/v1/embeddings"),
    ("GET", "/"),
    ("GET", "/models"),
    ("GET", "/v1/models/"),
    ("GET", "/v1/modelsx"),
    ("GET", "/v1/models?limit=1"),
];

fn plan(plan: &mut Planner<'_>) {
    plan_permitted(plan);
    for (method, target) in REQUESTS {
        let name = format!("provider {method} {target}");
        let request = Request::new(method, target).bearer(BearerForm::Right).mode(plan.nonce(&name), "plain");
        plan.ask(name, exchange(provider(), request.exchange()));
    }
}

fn judge(case: &mut Case<'_>) {
    relays_work(case);
    for (method, target) in REQUESTS {
        refused(case, &format!("provider {method} {target}"));
    }
}

//! ORIGIN-3: the provider's relay refuses encoded separators and dot segments: what it judges is what it forwards.

use watertight_probe::plan::BearerForm;
use watertight_reports::results::{ControlKind, Subject};

use super::{plan_permitted, refused, relays_work};
use crate::{
    case::Case,
    check::{Capability, Check},
    planner::{Planner, exchange, provider},
    request::Request,
};

pub static CHECK: Check = Check::facts("ORIGIN-3", "origin::encoded_paths", ControlKind::Twin, plan, judge)
    .about(Subject::Relay)
    .waived_by(&[Capability::Provider])
    .caught_on(&[
        "accept-encoded-slash",
        "accept-encoded-backslash",
        "accept-encoded-dot",
        "resolve-dot-segments",
        "accept-backslash",
        "merge-slashes",
    ])
    .spared(&[("*-permitted", "a control of the check"), ("provider *", "spellings of one separator share a rule")]);

const TARGETS: [&str; 11] = [
    "/v1%2fmodels",
    "/v1%2Fmodels",
    "/v1%5cmodels",
    "/v1%5Cmodels",
    "/v1/%2e%2e/v1/models",
    "/v1/%2E/models",
    "/v1/../v1/models",
    "/v1/./models",
    "/v1/x/../models",
    "/v1\\models",
    "/v1//models",
];

fn plan(plan: &mut Planner<'_>) {
    plan_permitted(plan);
    for target in TARGETS {
        let name = format!("provider {target}");
        let request = Request::new("GET", target).bearer(BearerForm::Right).mode(plan.nonce(&name), "plain");
        plan.ask(name, exchange(provider(), request.exchange()));
    }
}

fn judge(case: &mut Case<'_>) {
    relays_work(case);
    for target in TARGETS {
        refused(case, &format!("provider {target}"));
    }
}

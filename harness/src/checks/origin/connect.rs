//! ORIGIN-5: CONNECT opens no tunnel, and bytes sent after it reach nothing (catalogue D3, I01, I02).

use watertight_probe::plan::{BearerForm, Step};
use watertight_reports::results::{ControlKind, Subject};

use super::{both_relays_work, plan_permitted, refused};
use crate::{
    case::Case,
    check::{Capability, Check},
    planner::{Planner, exchange, instance, provider},
    request::Request,
};

pub static CHECK: Check = Check::facts("ORIGIN-5", "origin::connect", ControlKind::Twin, plan, judge)
    .about(Subject::Relay)
    .waived_by(Capability::Provider)
    .caught_on(&["tunnel-connect"]);

const NAMES: [&str; 4] = ["provider-elsewhere", "provider-own", "instance-elsewhere", "instance-own"];

fn plan(plan: &mut Planner<'_>) {
    plan_permitted(plan);
    for name in NAMES {
        let evil = plan.internet_v4(443);
        let target = match name {
            "provider-own" => "provider.test:80".to_owned(),
            "instance-own" => "instance.test:80".to_owned(),
            _ => evil.to_string(),
        };
        let request = Request::new("CONNECT", &target).host(&target).mode(plan.nonce(name), "plain");
        let (to, request) = if name.starts_with("provider") {
            (provider(), request.bearer(BearerForm::Right))
        } else {
            (instance(), request)
        };
        let mut steps = request.send();
        // What a client would say inside the tunnel, at once.
        let inside = Request::new("GET", "/v1/models").mode(plan.nonce(name), "plain").send();
        steps.extend(inside);
        steps.push(Step::ReadToEnd);
        plan.ask(name, exchange(to, steps)).evil(evil);
    }
}

fn judge(case: &mut Case<'_>) {
    both_relays_work(case);
    for name in NAMES {
        refused(case, name);
    }
}

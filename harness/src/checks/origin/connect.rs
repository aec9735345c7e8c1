//! ORIGIN-5: CONNECT opens no tunnel, and bytes sent after it reach nothing (catalogue D3, I01, I02).

use watertight_probe::plan::{BearerForm, Step};
use watertight_reports::results::{ControlKind, Subject};

use super::{authority, of_routes, other, plan_permitted, refused, relays_work, route};
use crate::{
    case::Case,
    check::{Capability, Check},
    planner::{Planner, exchange},
    request::Request,
};

pub static CHECK: Check = Check::facts("ORIGIN-5", "origin::connect", ControlKind::Twin, plan, judge)
    .about(Subject::Relay)
    .waived_by(Capability::ROUTES)
    .of_relays()
    .caught_on(&["tunnel-connect"])
    .spared(&[
        ("*-permitted", "a control of the check"),
        ("*", "both relays share the code, and the forms of one kind share a rule"),
    ]);

const NAMES: [&str; 6] =
    ["provider-elsewhere", "provider-own", "provider-other", "instance-elsewhere", "instance-own", "instance-other"];

fn plan(plan: &mut Planner<'_>) {
    plan_permitted(plan);
    for name in of_routes(&NAMES, &plan.routes()) {
        let evil = plan.internet_v4(443);
        let target = match name {
            "provider-own" => "provider.test:80".to_owned(),
            "instance-own" => "instance.test:80".to_owned(),
            other_origin if other_origin.ends_with("other") => format!("{}:80", authority(other(route(name)))),
            _ => evil.to_string(),
        };
        let request = Request::new("CONNECT", &target).host(&target).mode(plan.nonce(name), "plain");
        let request = match route(name) {
            Capability::Provider | Capability::Relay => request.bearer(BearerForm::Right),
            Capability::Instance => request,
        };
        let mut steps = request.send();
        // What a client would say inside the tunnel, at once.
        let inside = Request::new("GET", "/v1/models").mode(plan.nonce(name), "plain").send();
        steps.extend(inside);
        steps.push(Step::ReadToEnd);
        plan.ask(name, exchange(plan.endpoint(route(name)), steps)).evil(evil);
    }
}

fn judge(case: &mut Case<'_>) {
    relays_work(case);
    for name in of_routes(&NAMES, &case.routes()) {
        refused(case, name);
    }
}

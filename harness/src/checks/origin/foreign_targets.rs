//! ORIGIN-2: a request target that is not a path from the root is refused: absolute-form, `//`, `*`, joins with an authority.
//!
//! RFC 9112 3.2 has the forms; catalogue D2, I03, I06 and I07 the relays that joined them to their origin.

use watertight_probe::plan::BearerForm;
use watertight_reports::results::{ControlKind, Subject};

use super::{authority, other, plan_permitted, refused, relays_work};
use crate::{
    case::Case,
    check::{Capability, Check},
    planner::{Planner, exchange},
    request::Request,
};

pub static CHECK: Check = Check::facts("ORIGIN-2", "origin::foreign_targets", ControlKind::Twin, plan, judge)
    .about(Subject::Relay)
    .waived_by(Capability::ROUTES)
    .of_relays()
    .caught_on(&["accept-absolute-form", "join-target-to-origin"])
    .spared(&[
        ("*-permitted", "a control of the check"),
        ("*", "both relays share the code, and the forms of one kind share a rule"),
    ]);

const FORMS: [&str; 10] = [
    "absolute",
    "absolute-own",
    "absolute-other",
    "absolute-https",
    "double-slash",
    "triple-slash",
    "at",
    "scheme",
    "port",
    "asterisk",
];

fn plan(plan: &mut Planner<'_>) {
    plan_permitted(plan);
    for route in plan.routes() {
        for form in FORMS {
            let name = format!("{}-{form}", route.name());
            let evil = plan.internet_v4(80);
            let (method, target) = match form {
                "absolute" => ("GET", format!("http://{evil}/v1/models")),
                "absolute-own" => ("GET", format!("http://{}.test/v1/models", route.name())),
                "absolute-other" => ("GET", format!("http://{}/v1/models", authority(other(route)))),
                "absolute-https" => ("GET", format!("https://{evil}/v1/models")),
                "double-slash" => ("GET", format!("//{evil}/v1/models")),
                "triple-slash" => ("GET", format!("///{evil}/v1/models")),
                "at" => ("GET", format!("@{evil}/v1/models")),
                "scheme" => ("GET", format!("http:{evil}/v1/models")),
                "port" => ("GET", ":80/v1/models".to_owned()),
                _ => ("OPTIONS", "*".to_owned()),
            };
            let request = Request::new(method, &target).mode(plan.nonce(&name), "plain");
            let request = match route {
                Capability::Provider | Capability::Relay => request.bearer(BearerForm::Right),
                Capability::Instance => request,
            };
            plan.ask(name, exchange(plan.endpoint(route), request.exchange())).evil(evil);
        }
    }
}

fn judge(case: &mut Case<'_>) {
    relays_work(case);
    for route in case.routes() {
        for form in FORMS {
            refused(case, &format!("{}-{form}", route.name()));
        }
    }
}

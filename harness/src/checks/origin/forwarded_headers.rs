//! ORIGIN-9: a client's claims about where a request comes from do not go upstream (catalogue D5, K06).

use watertight_probe::sighting::Event;
use watertight_reports::results::{ControlKind, Subject};

use super::{plan_permitted, relays_work};
use crate::{
    case::Case,
    check::{Capability, Check},
    planner::{Planner, exchange, permitted},
};

pub static CHECK: Check = Check::facts("ORIGIN-9", "origin::forwarded_headers", ControlKind::Twin, plan, judge)
    .should()
    .about(Subject::Relay)
    .waived_by(Capability::ROUTES)
    .of_relays()
    .caught_on(&[
        "forward-header-forwarded",
        "forward-header-x-forwarded-for",
        "forward-header-x-forwarded-host",
        "forward-header-x-forwarded-proto",
        "forward-header-x-real-ip",
        "forward-header-via",
    ])
    .spared(&[
        ("*-permitted", "a control of the check"),
        ("*", "both relays share the code, and the forms of one kind share a rule"),
    ]);

const CLAIMS: [&str; 6] = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "via"];

fn plan(plan: &mut Planner<'_>) {
    plan_permitted(plan);
    for route in plan.routes() {
        let name = format!("{}-claims", route.name());
        let mut request = permitted(route);
        for header in CLAIMS {
            request = request.header(header, "planted");
        }
        let steps = request.mode(plan.nonce(&name), "plain").exchange();
        plan.ask(name, exchange(plan.endpoint(route), steps));
    }
}

fn judge(case: &mut Case<'_>) {
    relays_work(case);
    for route in case.routes() {
        let name = format!("{}-claims", route.name());
        let requests = case.requests(&name, route.name());
        case.control(!requests.is_empty(), format!("{name}: the request reached its origin"));
        for request in requests {
            let Event::Request { headers, .. } = &request.event else { continue };
            for (header, value) in headers {
                if CLAIMS.contains(&header.as_str()) && value.contains("planted") {
                    case.breach(format!("{name}: {header} went through"));
                }
            }
        }
    }
}

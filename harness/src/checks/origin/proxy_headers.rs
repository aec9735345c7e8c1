//! ORIGIN-8: headers of one hop stay on that hop: proxy and connection headers, and what Connection names (RFC 9110 7.6.1).

use watertight_probe::sighting::Event;
use watertight_reports::results::{ControlKind, Subject};

use super::{plan_permitted, relays_work};
use crate::{
    case::Case,
    check::{Capability, Check},
    planner::{Planner, exchange, permitted},
};

pub static CHECK: Check = Check::facts("ORIGIN-8", "origin::proxy_headers", ControlKind::Twin, plan, judge)
    .about(Subject::Relay)
    .waived_by(Capability::ROUTES)
    .of_relays()
    .caught_on(&[
        "forward-named-by-connection",
        "forward-header-proxy-authorization",
        "forward-header-proxy-connection",
        "forward-header-proxy-authenticate",
        "forward-header-te",
    ])
    .spared(&[
        ("*-permitted", "a control of the check"),
        ("*", "both relays share the code, and the forms of one kind share a rule"),
    ]);

const HOP: [&str; 6] =
    ["proxy-authorization", "proxy-connection", "keep-alive", "te", "x-named-by-connection", "proxy-authenticate"];

fn plan(plan: &mut Planner<'_>) {
    plan_permitted(plan);
    for route in plan.routes() {
        let name = format!("{}-hop", route.name());
        let mut request = permitted(route);
        request = request.header("connection", "x-named-by-connection, keep-alive");
        for header in HOP {
            request = request.header(header, "planted");
        }
        let steps = request.header("x-kept", "planted").mode(plan.nonce(&name), "plain").exchange();
        plan.ask(name, exchange(plan.endpoint(route), steps));
    }
}

fn judge(case: &mut Case<'_>) {
    relays_work(case);
    for route in case.routes() {
        let name = format!("{}-hop", route.name());
        let requests = case.requests(&name, route.name());
        case.control(!requests.is_empty(), format!("{name}: the request reached its origin"));
        for request in requests {
            let Event::Request { headers, .. } = &request.event else { continue };
            let has = |wanted: &str| headers.iter().any(|(header, value)| header == wanted && value == "planted");
            case.control(has("x-kept"), format!("{name}: an ordinary header went through"));
            for header in HOP.into_iter().filter(|header| has(header)) {
                case.breach(format!("{name}: {header} went through"));
            }
        }
    }
}

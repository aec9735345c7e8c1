//! DNS-6: a name that the workload hands to a relay is not looked up, also when the request is refused.

use watertight_probe::{
    observation::Outcome,
    plan::{Attempt, Authority},
    sighting::Event,
};
use watertight_reports::results::{ControlKind, Subject};

use crate::{
    case::Case,
    check::{Capability, Check},
    planner::{Planner, exchange, permitted},
    request::Request,
    way::{Way, by},
};

pub static CHECK: Check = Check::facts("DNS-6", "dns::relays_resolve_nothing", ControlKind::Twin, plan, judge)
    .about(Subject::Relay)
    .waived_by(Capability::ROUTES)
    .caught_on(&["accept-absolute-form", "tunnel-connect", "route-by-host", "resolve-before-refusing", "resolve-host"])
    .spared(&[
        ("*-right", "a control of the check"),
        ("*", "both relays share the code, and the forms of one kind share a rule"),
    ]);

const FORMS: [&str; 3] = ["host", "absolute", "connect"];

fn plan(plan: &mut Planner<'_>) {
    for route in plan.routes() {
        let name = format!("{}-right", route.name());
        let right = permitted(route).mode(plan.nonce(&name), "plain").exchange();
        plan.ask(name, exchange(plan.endpoint(route), right));
        for proxy in plan.layout.way.proxies() {
            let name = format!("{}-{}", route.name(), by(proxy.by));
            let to = Authority { host: format!("{}.canary.test", plan.nonce(&name)), port: 80 };
            plan.ask(name, Attempt::Proxied { proxy, to }).deadline(5_000);
        }
        if plan.layout.way != Way::Relays {
            continue;
        }
        for form in FORMS {
            let name = format!("{}-{form}", route.name());
            let foreign = format!("{}.canary.test", plan.nonce(&name));
            let request = match form {
                "host" => permitted(route).host(&foreign),
                "absolute" => Request::new("GET", &format!("http://{foreign}/v1/models")).host(&foreign),
                _ => Request::new("CONNECT", &format!("{foreign}:443")).host(&foreign),
            };
            plan.ask(name, exchange(plan.endpoint(route), request.exchange()));
        }
    }
}

fn judge(case: &mut Case<'_>) {
    for route in case.routes() {
        let right = case.exchange(&format!("{}-right", route.name()));
        let works = right.status == Some(200);
        case.control(works, format!("{}-right: a permitted request through the same relay got 200", route.name()));
        for name in case.proxied() {
            let looked_up = case.arrived(&name).into_iter().find(|one| matches!(one.event, Event::Question { .. }));
            if let Some(first) = looked_up.cloned() {
                case.breach(format!("{name}: the name was looked up: {}", crate::describe::sightings(&[first])));
            }
            let refused = matches!(case.outcome(&name), Some(Outcome::Refused { .. } | Outcome::Absent { .. }));
            case.control(!refused, format!("{name}: the proxy was asked"));
        }
        if case.evidence().absent.contains_key(Capability::Relay.name()) {
            continue;
        }
        for form in FORMS {
            let name = format!("{}-{form}", route.name());
            // A resolver daemon that the C library asks first hears the name as well, without being a name server.
            let mut elsewhere = case.arrived(&name).into_iter().filter(|one| one.fixture != route.name());
            if let Some(first) = elsewhere.next().cloned() {
                case.breach(format!("{name}: the name was looked up: {}", crate::describe::sightings(&[first])));
            }
            let answer = case.exchange(&name);
            case.control(answer.steps_done > 0, format!("{name}: {}", crate::describe::exchange(&answer)));
        }
    }
}

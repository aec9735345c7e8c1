//! ORIGIN-6: no request leaves HTTP/1: an Upgrade gets no 101, and bytes behind it reach nothing (catalogue D2, J11 to J14).

use watertight_probe::{plan::Step, sighting::Event};
use watertight_reports::results::{ControlKind, Subject};

use super::{only_own_origin, plan_permitted, refused, relays_work, route};
use crate::{
    case::Case,
    check::{Capability, Check},
    planner::{Planner, exchange, permitted},
};

pub static CHECK: Check = Check::facts("ORIGIN-6", "origin::upgrade", ControlKind::Twin, plan, judge)
    .about(Subject::Relay)
    .waived_by(Capability::ROUTES)
    .of_relays()
    .caught_on(&["accept-upgrade", "forward-upgrade", "forward-switching-protocols", "forward-host", "send-twice"])
    .spared(&[
        ("*-permitted", "a control of the check"),
        ("*", "both relays share the code, and the forms of one kind share a rule"),
    ]);

const PROTOCOLS: [&str; 3] = ["websocket", "h2c", "anything"];

fn plan(plan: &mut Planner<'_>) {
    plan_permitted(plan);
    for route in plan.routes() {
        for protocol in PROTOCOLS {
            let name = format!("{}-{protocol}", route.name());
            let nonce = plan.nonce(&name);
            let request = permitted(route).header("connection", "upgrade").header("upgrade", protocol);
            let mut steps = request.mode(nonce, "plain").send();
            // What a client would say in the new protocol, at once.
            steps.extend([Step::Send(format!("\\x81\\x28wt:{nonce}\r\n\r\n")), Step::ReadToEnd]);
            plan.ask(name, exchange(plan.endpoint(route), steps));
        }
        // The origin itself answers 101.
        let name = format!("{}-switched", route.name());
        let mut steps = permitted(route).mode(plan.nonce(&name), "switch").send();
        steps.extend([Step::Send(format!("wt:{}", plan.nonce(&name))), Step::ReadResponse]);
        plan.ask(name, exchange(plan.endpoint(route), steps));
        // HTTP/2 with prior knowledge.
        let name = format!("{}-preface", route.name());
        let steps = vec![Step::Send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".into()), Step::ReadToEnd];
        plan.ask(name, exchange(plan.endpoint(route), steps));
    }
}

fn judge(case: &mut Case<'_>) {
    relays_work(case);
    for route in case.routes() {
        for protocol in PROTOCOLS {
            let name = format!("{}-{protocol}", route.name());
            not_switched(case, &name);
            if route == Capability::Instance {
                refused(case, &name);
            }
        }
        let name = format!("{}-switched", route.name());
        not_switched(case, &name);
        let switched = case.exchange(&name);
        let described = crate::describe::exchange(&switched);
        case.require(
            switched.status.is_none_or(|status| status >= 400),
            format!("{name}: it was not refused: {described}"),
        );
        refused(case, &format!("{}-preface", route.name()));
    }
}

/// No 101 came, and what was sent behind the request reached nothing: not as bytes, not as a request.
fn not_switched(case: &mut Case<'_>, name: &str) {
    only_own_origin(case, name);
    if case.exchange(name).status == Some(101) {
        case.breach(format!("{name}: protocols were switched"));
    }
    if case.arrived(name).iter().any(|one| matches!(one.event, Event::Received { .. })) {
        case.breach(format!("{name}: bytes behind the request reached the origin"));
    }
    if case.requests(name, route(name).name()).len() > 1 {
        case.breach(format!("{name}: what was behind the request became another one"));
    }
}

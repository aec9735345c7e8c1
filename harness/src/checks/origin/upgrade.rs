//! ORIGIN-6: no request leaves HTTP/1: an Upgrade gets no 101, and bytes behind it reach nothing (catalogue D2, J11 to J14).

use watertight_probe::plan::Step;
use watertight_reports::results::{ControlKind, Subject};

use super::{both_relays_work, only_own_origin, plan_permitted, refused};
use crate::{
    case::Case,
    check::{Capability, Check},
    planner::{Planner, exchange, instance, provider},
    request::Request,
};

pub static CHECK: Check = Check::facts("ORIGIN-6", "origin::upgrade", ControlKind::Twin, plan, judge)
    .about(Subject::Relay)
    .waived_by(Capability::Provider)
    .caught_on(&["accept-upgrade", "forward-switching-protocols"]);

const PROTOCOLS: [&str; 3] = ["websocket", "h2c", "anything"];

fn plan(plan: &mut Planner<'_>) {
    plan_permitted(plan);
    for protocol in PROTOCOLS {
        for relay in ["provider", "instance"] {
            let name = format!("{relay}-{protocol}");
            let request = match relay {
                "provider" => Request::models(),
                _ => Request::new("GET", "/api/v1/context"),
            };
            let request = request.header("connection", "upgrade").header("upgrade", protocol);
            let to = if relay == "provider" { provider() } else { instance() };
            let steps = request.mode(plan.nonce(&name), "plain").exchange();
            plan.ask(name, exchange(to, steps));
        }
    }
    // The origin itself answers 101.
    let name = "provider-switched";
    let steps = Request::models().mode(plan.nonce(name), "switch").exchange();
    plan.ask(name, exchange(provider(), steps));
    // HTTP/2 with prior knowledge.
    let name = "instance-preface";
    let steps = vec![Step::Send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".into()), Step::ReadToEnd];
    plan.ask(name, exchange(instance(), steps));
}

fn judge(case: &mut Case<'_>) {
    both_relays_work(case);
    for protocol in PROTOCOLS {
        refused(case, &format!("instance-{protocol}"));
        not_switched(case, &format!("provider-{protocol}"));
    }
    not_switched(case, "provider-switched");
    let switched = case.exchange("provider-switched");
    case.require(switched.status.is_none_or(|status| status >= 400), "provider-switched: it was not refused");
    refused(case, "instance-preface");
}

fn not_switched(case: &mut Case<'_>, name: &str) {
    only_own_origin(case, name);
    let answer = case.exchange(name);
    if answer.status == Some(101) {
        case.breach(format!("{name}: protocols were switched"));
    }
}

//! DNS-6: a name that the workload hands to a relay is not looked up, also when the request is refused.

use watertight_probe::sighting::Event;
use watertight_reports::results::{ControlKind, Subject};

use crate::{
    case::Case,
    check::{Capability, Check},
    planner::{Planner, exchange, instance, provider},
    request::Request,
};

pub static CHECK: Check = Check::facts("DNS-6", "dns::relays_resolve_nothing", ControlKind::Twin, plan, judge)
    .about(Subject::Relay)
    .waived_by(Capability::Provider)
    .caught_on(&["resolve-before-refusing"]);

const NAMES: [&str; 6] = [
    "provider-host",
    "provider-absolute",
    "provider-connect",
    "instance-host",
    "instance-absolute",
    "instance-connect",
];

fn plan(plan: &mut Planner<'_>) {
    let right = Request::models().mode(plan.nonce("right"), "plain").exchange();
    plan.ask("right", exchange(provider(), right));
    for name in NAMES {
        let foreign = format!("{}.canary.test", plan.nonce(name));
        let (to, form) = if let Some(form) = name.strip_prefix("provider-") {
            (provider(), form)
        } else {
            (instance(), &name["instance-".len()..])
        };
        let request = match form {
            "host" => Request::models().host(&foreign),
            "absolute" => Request::new("GET", &format!("http://{foreign}/v1/models")).host(&foreign),
            _ => Request::new("CONNECT", &format!("{foreign}:443")).host(&foreign),
        };
        plan.ask(name, exchange(to, request.exchange()));
    }
}

fn judge(case: &mut Case<'_>) {
    let right = case.exchange("right");
    case.control(right.status == Some(200), "a permitted request through the same relay got 200");
    for name in NAMES {
        let asked = case.sightings(name).iter().filter(|one| matches!(one.event, Event::Question { .. })).count();
        if asked > 0 {
            case.breach(format!("{name}: the name was looked up {asked} times"));
        }
    }
}

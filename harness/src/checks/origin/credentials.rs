//! ORIGIN-10: the instance's relay adds no credential and the provider's key never goes there; what a client sends, goes.

use watertight_probe::sighting::Event;
use watertight_reports::results::{ControlKind, Subject};

use super::{plan_permitted, relays_work};
use crate::{
    case::Case,
    check::{Capability, Check},
    planner::{Planner, exchange, instance},
    request::Request,
};

pub static CHECK: Check = Check::facts("ORIGIN-10", "origin::credentials", ControlKind::Twin, plan, judge)
    .about(Subject::Relay)
    .waived_by(&[Capability::Instance])
    .of_relays()
    .caught_on(&["add-credential-to-instance", "drop-instance-credential"])
    .spared(&[
        ("*-permitted", "a control of the check"),
        ("instance-no-credential", "the mutant that adds a credential adds it to both"),
    ]);

const OWN: &str = "Bearer the-clients-own";

fn plan(plan: &mut Planner<'_>) {
    plan_permitted(plan);
    let name = "instance-own-credential";
    let request = Request::new("GET", "/api/v1/context").header("authorization", OWN);
    let steps = request.mode(plan.nonce(name), "plain").exchange();
    plan.ask(name, exchange(instance(), steps));
    let name = "instance-no-credential";
    let steps = Request::new("GET", "/api/v1/context").mode(plan.nonce(name), "plain").exchange();
    plan.ask(name, exchange(instance(), steps));
}

fn judge(case: &mut Case<'_>) {
    relays_work(case);
    let key = case.evidence().secrets.get("provider-key").cloned();
    case.control(key.is_some(), "the provider's key is known to the judge");
    let Some(key) = key else { return };
    for (name, expected) in [("instance-own-credential", vec![OWN]), ("instance-no-credential", vec![])] {
        let requests = case.requests(name, "instance");
        case.control(!requests.is_empty(), format!("{name}: the request reached the instance"));
        for request in requests {
            let Event::Request { headers, .. } = &request.event else { continue };
            if headers.iter().any(|(_, value)| value.contains(&key)) {
                case.breach(format!("{name}: the provider's key went to the instance"));
            }
            let seen: Vec<&str> = headers
                .iter()
                .filter(|(header, _)| header == "authorization")
                .map(|(_, value)| value.as_str())
                .collect();
            case.require(seen == expected, format!("{name}: the instance got {} credentials", seen.len()));
        }
    }
}

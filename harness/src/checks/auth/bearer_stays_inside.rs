//! AUTH-4: what goes upstream carries the real key and never the spawn's bearer.

use watertight_probe::sighting::Event;
use watertight_reports::results::{ControlKind, Subject};

use crate::{
    case::Case,
    check::{Capability, Check},
    planner::{Planner, exchange, provider},
    request::Request,
};

pub static CHECK: Check = Check::facts("AUTH-4", "auth::bearer_stays_inside", ControlKind::Twin, plan, judge)
    .about(Subject::Relay)
    .waived_by(&[Capability::Provider])
    .caught_on(&["forward-header-x-api-key"])
    .spared(&[("plain", "upstream refuses a second credential, so that a mutant which keeps both fails everything")]);

fn plan(plan: &mut Planner<'_>) {
    use watertight_probe::plan::BearerForm;
    let plain = Request::models().mode(plan.nonce("plain"), "plain").exchange();
    plan.ask("plain", exchange(provider(), plain));
    let twice = Request::models().credential("x-api-key", "", BearerForm::Right);
    let twice = twice.mode(plan.nonce("in-x-api-key"), "plain").exchange();
    plan.ask("in-x-api-key", exchange(provider(), twice));
}

fn judge(case: &mut Case<'_>) {
    let key = case.evidence().secrets.get("provider-key").cloned();
    case.control(key.is_some(), "the provider's key is known to the judge");
    for name in ["plain", "in-x-api-key"] {
        let bearer = case.launch_of(name).and_then(|launch| launch.outside.get("bearer"));
        case.control(bearer.is_some(), format!("{name}: the witness read the spawn's bearer"));
        let (Some(bearer), Some(key)) = (bearer, &key) else { continue };
        let answer = case.exchange(name);
        case.control(answer.status == Some(200), format!("{name}: the request was answered 200"));
        let requests = case.requests(name, "provider");
        case.control(!requests.is_empty(), format!("{name}: the request reached the provider"));
        for request in requests {
            let Event::Request { headers, .. } = &request.event else { continue };
            for (header, value) in headers {
                if value.contains(bearer) {
                    case.breach(format!("{name}: the bearer went upstream in {header}"));
                }
            }
            let credentials: Vec<_> = headers.iter().filter(|(header, _)| header == "authorization").collect();
            let right = matches!(credentials.as_slice(), [(_, value)] if *value == format!("Bearer {key}"));
            case.require(right, format!("{name}: upstream saw {} credentials, or not the real key", credentials.len()));
        }
    }
}

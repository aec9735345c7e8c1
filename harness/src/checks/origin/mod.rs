//! ORIGIN: each relay speaks to its own origin, whatever the request says.

mod connect;
mod credentials;
mod encoded_paths;
mod foreign_targets;
mod forged_host;
mod forwarded_headers;
mod framing;
mod nothing_after_refusal;
mod proxy_headers;
mod redirects;
mod routes;
mod upgrade;

use watertight_probe::sighting::Event;

use crate::{case::Case, check::Check, site::address};

pub static CHECKS: &[&Check] = &[
    &forged_host::CHECK,
    &foreign_targets::CHECK,
    &encoded_paths::CHECK,
    &routes::CHECK,
    &connect::CHECK,
    &upgrade::CHECK,
    &redirects::CHECK,
    &proxy_headers::CHECK,
    &forwarded_headers::CHECK,
    &credentials::CHECK,
    &framing::CHECK,
    &nothing_after_refusal::CHECK,
];

/// Which relay an attempt speaks to, by its name's first part.
fn fixture(name: &str) -> &'static str {
    if name.starts_with("provider") { "provider" } else { "instance" }
}

/// Nothing of this attempt was seen anywhere but at its relay's own origin, and there under its own authority.
fn only_own_origin(case: &mut Case<'_>, name: &str) {
    let own = fixture(name);
    let authority = if own == "provider" { address::PROVIDER_V4 } else { address::INSTANCE_V4 }.to_string();
    for sighting in case.sightings(name) {
        if sighting.fixture != own && sighting.fixture != "capture" {
            case.breach(format!("{name}: {}", crate::describe::sightings(std::slice::from_ref(sighting))));
        }
        if let Event::Request { headers, .. } = &sighting.event {
            let hosts: Vec<&str> =
                headers.iter().filter(|(header, _)| header == "host").map(|(_, value)| value.as_str()).collect();
            if hosts != [authority.as_str()] {
                case.breach(format!("{name}: the origin got host {hosts:?}"));
            }
        }
    }
}

/// The relay refused by itself: a status of the 400s or an end without one, and its origin was not asked.
fn refused(case: &mut Case<'_>, name: &str) {
    only_own_origin(case, name);
    let answer = case.exchange(name);
    let hits = case.requests(name, fixture(name)).len();
    if hits > 0 {
        case.breach(format!("{name}: the origin was asked"));
    }
    let refused = answer.status.is_none_or(|status| (400..500).contains(&status));
    case.require(refused, format!("{name}: {}", crate::describe::exchange(&answer)));
}

/// Both relays answer a permitted request in the same launch.
fn both_relays_work(case: &mut Case<'_>) {
    for name in ["provider-permitted", "instance-permitted"] {
        let answer = case.exchange(name);
        case.control(answer.status == Some(200), format!("{name}: a permitted request got 200"));
    }
}

/// The permitted twins of this area.
fn plan_permitted(plan: &mut crate::planner::Planner<'_>) {
    use crate::{
        planner::{exchange, instance, provider},
        request::Request,
    };
    let name = "provider-permitted";
    let steps = Request::models().mode(plan.nonce(name), "plain").exchange();
    plan.ask(name, exchange(provider(), steps));
    let name = "instance-permitted";
    let steps = Request::new("GET", "/api/v1/context").mode(plan.nonce(name), "plain").exchange();
    plan.ask(name, exchange(instance(), steps));
}

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

use watertight_probe::{observation::Ended, sighting::Event};

use crate::{
    case::Case,
    check::{Capability, Check},
    planner::{Planner, exchange, permitted},
    site::address,
};

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

/// The route that an attempt goes by, from its name's first part.
fn route(name: &str) -> Capability {
    if name.starts_with(Capability::Provider.name()) { Capability::Provider } else { Capability::Instance }
}

/// Those of `names` whose route the target has.
fn of_routes(names: &[&'static str], routes: &[Capability]) -> Vec<&'static str> {
    names.iter().copied().filter(|name| routes.contains(&route(name))).collect()
}

/// The origin of this route, as its relay must name it.
fn authority(of: Capability) -> String {
    match of {
        Capability::Provider | Capability::Relay => address::PROVIDER_V4,
        Capability::Instance => address::INSTANCE_V4,
    }
    .to_string()
}

/// The other route: its origin is as foreign as any.
fn other(than: Capability) -> Capability {
    match than {
        Capability::Provider | Capability::Relay => Capability::Instance,
        Capability::Instance => Capability::Provider,
    }
}

/// Nothing of this attempt was seen anywhere but at its relay's own origin, and there under its own authority.
fn only_own_origin(case: &mut Case<'_>, name: &str) {
    let own = route(name);
    for sighting in case.arrived(name) {
        if sighting.fixture != own.name() {
            case.breach(format!("{name}: {}", crate::describe::sightings(std::slice::from_ref(sighting))));
        }
        if let Event::Request { headers, .. } = &sighting.event {
            let hosts: Vec<&str> =
                headers.iter().filter(|(header, _)| header == "host").map(|(_, value)| value.as_str()).collect();
            if hosts != [authority(own).as_str()] {
                case.breach(format!("{name}: the origin got host {hosts:?}"));
            }
        }
    }
}

/// The relay refused by itself: a status of the 400s, or an end of the connection without one. Its origin was not asked.
fn refused(case: &mut Case<'_>, name: &str) {
    only_own_origin(case, name);
    let answer = case.exchange(name);
    if !case.requests(name, route(name).name()).is_empty() {
        case.breach(format!("{name}: the origin was asked"));
    }
    let refused = match answer.status {
        Some(status) => (400..500).contains(&status),
        None => matches!(answer.ended, Ended::Closed | Ended::Reset | Ended::Truncated),
    };
    case.require(refused, format!("{name}: {}", crate::describe::exchange(&answer)));
}

/// Each relay of the target answers a permitted request in the same launch.
fn relays_work(case: &mut Case<'_>) {
    for route in case.routes() {
        let name = format!("{}-permitted", route.name());
        let answer = case.exchange(&name);
        case.control(answer.status == Some(200), format!("{name}: a permitted request got 200"));
    }
}

/// The permitted twins of this area.
fn plan_permitted(plan: &mut Planner<'_>) {
    for route in plan.routes() {
        let name = format!("{}-permitted", route.name());
        let steps = permitted(route).mode(plan.nonce(&name), "plain").exchange();
        plan.ask(name, exchange(plan.endpoint(route), steps));
    }
}

//! CANCEL: when one side goes, the other side's connection goes too, at once, in every state of a request.

mod client_gone_mid_stream;
mod client_gone_while_pending;
mod client_gone_with_incomplete_body;
mod relay_shut_down;
mod upstream_cut_short;

use watertight_probe::{plan::Step, sighting::Event};

use crate::{
    case::Case,
    check::{Capability, Check},
    planner::{self, Planner},
    request::Request,
};

pub static CHECKS: &[&Check] = &[
    &client_gone_while_pending::CHECK,
    &client_gone_with_incomplete_body::CHECK,
    &client_gone_mid_stream::CHECK,
    &relay_shut_down::CHECK,
    &upstream_cut_short::CHECK,
];

/// How a client goes.
const WAYS: [(&str, Step); 2] = [("closed", Step::Close), ("reset", Step::Reset)];

/// A permitted request that the route's origin will treat as `mode` says.
fn request(route: Capability, plan: &Planner<'_>, name: &str, mode: &str) -> Request {
    let request = match route {
        Capability::Provider | Capability::Relay => Request::chat(),
        Capability::Instance => {
            Request::new("POST", "/api/v1/messages").header("content-type", "application/json").body("{}")
        }
    };
    request.mode(plan.nonce(name), mode)
}

/// A request without a body, on a connection of its own, that the origin answers when `condition` holds for `name`'s request.
fn once(route: Capability, plan: &Planner<'_>, name: &str, condition: &str) -> Step {
    let nonce = plan.nonce(name);
    Step::Await(planner::permitted(route).mode(plan.side_nonce(name), format!("{condition} {nonce}")).send())
}

/// Each route with each way of going, and the name of its attempt.
fn each_way(routes: Vec<Capability>) -> impl Iterator<Item = (Capability, String, Step)> {
    routes.into_iter().flat_map(|route| WAYS.map(|(way, end)| (route, format!("{}-{way}", route.name()), end)))
}

/// In each way the script went as far as the client's end with the request at the origin, the origin then told the probe
/// that the connection was gone, and its ledger agrees: it ended before the launch did.
fn cancelled(case: &mut Case<'_>) {
    for (route, name, _) in each_way(case.routes()) {
        let exchange = case.exchange(&name);
        let described = crate::describe::exchange(&exchange);
        let to_end = case.steps(&name).saturating_sub(1);
        let asked = case.requests(&name, route.name());
        case.control(!asked.is_empty(), format!("{name}: the request reached its origin: {described}"));
        // Where nothing of a stream comes through, its reader cannot go in the middle of it.
        let went = exchange.steps_done >= to_end && to_end > 0;
        case.require(went, format!("{name}: the client never came as far as to go: {described}"));
        case.require(exchange.stopped.is_none(), format!("{name}: the origin still has the connection: {described}"));
        let over = case.launch_of(&name).and_then(|launch| launch.number("done_at")).unwrap_or(u64::MAX);
        for request in asked {
            let Event::Request { connection, .. } = &request.event else { continue };
            let closed =
                |event: &Event| matches!(event, Event::Closed { connection: ended, .. } if ended == connection);
            let ended = case.arrived(&name).iter().any(|one| closed(&one.event) && one.micros <= over);
            case.require(
                ended,
                format!("{name}: the origin's ledger has no end of a connection while the workload ran"),
            );
        }
    }
}

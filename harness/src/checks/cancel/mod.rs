//! CANCEL: when one side goes, the other side's connection goes too, at once, in every state of a request.

mod client_gone_mid_stream;
mod client_gone_while_pending;
mod client_gone_with_incomplete_body;
mod relay_shut_down;
mod upstream_cut_short;

use watertight_probe::plan::{Endpoint, Step};

use crate::{case::Case, check::Check, planner::Planner, request::Request};

pub static CHECKS: &[&Check] = &[
    &client_gone_while_pending::CHECK,
    &client_gone_with_incomplete_body::CHECK,
    &client_gone_mid_stream::CHECK,
    &relay_shut_down::CHECK,
    &upstream_cut_short::CHECK,
];

/// How a client goes.
const WAYS: [(&str, Step); 2] = [("closed", Step::Close), ("reset", Step::Reset)];
const RELAYS: [&str; 2] = ["provider", "instance"];

/// A permitted request that the relay's origin will treat as `mode` says.
fn request(relay: &str, plan: &Planner<'_>, name: &str, mode: &str) -> Request {
    permitted(relay).mode(plan.nonce(name), mode)
}

fn permitted(relay: &str) -> Request {
    match relay {
        "provider" => Request::chat(),
        _ => Request::new("POST", "/api/v1/messages").header("content-type", "application/json").body("{}"),
    }
}

fn endpoint(relay: &str) -> Endpoint {
    if relay == "provider" { crate::planner::provider() } else { crate::planner::instance() }
}

/// A request without a body, on a connection of its own, that the origin answers when `condition` holds for `name`'s request.
fn once(relay: &str, plan: &Planner<'_>, name: &str, condition: &str) -> Step {
    let nonce = plan.nonce(name);
    let request = match relay {
        "provider" => Request::models(),
        _ => Request::new("GET", "/api/v1/context"),
    };
    Step::Await(request.mode(plan.side_nonce(name), format!("{condition} {nonce}")).send())
}

/// The script went as far as the client's end with the request at the origin, and the origin then lost the connection.
fn cancelled(case: &mut Case<'_>, name: &str, steps_to_end: u32) {
    let exchange = case.exchange(name);
    let described = crate::describe::exchange(&exchange);
    case.control(exchange.steps_done >= steps_to_end, format!("{name}: the request reached its origin: {described}"));
    case.require(exchange.stopped.is_none(), format!("{name}: the origin still has the connection: {described}"));
}

//! ROUTE-2: the instance's relay carries methods, paths, queries and bodies of 32 MiB both ways, byte for byte.

use watertight_probe::{
    observation::Outcome,
    plan::{Attempt, Carry},
    sighting::Event,
};
use watertight_reports::results::{ControlKind, Subject};

use super::body::digest;
use crate::{
    case::Case,
    check::{Capability, Check},
    planner::{Planner, exchange, instance_authority},
    request::Request,
    way::by,
};

pub static CHECK: Check =
    Check::facts("ROUTE-2", "route::instance_is_transparent", ControlKind::KnownPositive, plan, judge)
        .about(Subject::Relay)
        .waived_by(&[Capability::Instance])
        .caught_on(&["normalise-path", "decode-path", "drop-query", "merge-upstream-slashes", "send-twice"])
        .spared(&[("*", "methods, and bodies however long, are handed on unread: there is no code to get wrong")]);

const METHODS: [&str; 6] = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
/// Spellings that a relay might be tempted to tidy.
const TARGETS: [&str; 6] = [
    "/api/v1/context?a=1&b=%20x&a=2",
    "/api/v1/a%2fb/c",
    "/api/./v1/../v1/context",
    "/api/v1/caf%C3%A9",
    "/api/v1//double",
    "/",
];
const LARGE: u64 = 32 * 1024 * 1024;
const SEED: u32 = 0x5eed;

fn plan(plan: &mut Planner<'_>) {
    for method in METHODS {
        let request = Request::new(method, "/api/v1/echo").mode(plan.nonce(method), "plain");
        plan.ask(method, exchange(plan.endpoint(Capability::Instance), request.exchange()));
    }
    for target in TARGETS {
        let request = Request::new("GET", target).mode(plan.nonce(target), "plain");
        plan.ask(target, exchange(plan.endpoint(Capability::Instance), request.exchange()));
    }
    let up = Request::new("POST", "/api/v1/upload").mode(plan.nonce("up"), "plain").generated_body(LARGE, SEED);
    plan.ask("up", exchange(plan.endpoint(Capability::Instance), up.exchange())).deadline(45_000);
    // The other uses of a proxy carry a request as well.
    let tunnel = plan.layout.way.proxies().into_iter().find(|proxy| proxy.by != Carry::Absolute);
    for proxy in plan.layout.way.proxies().into_iter().filter(|proxy| Some(proxy) != tunnel.as_ref()) {
        let name = format!("by-{}", by(proxy.by));
        plan.ask(name, Attempt::Proxied { proxy, to: instance_authority() }).deadline(10_000);
    }
    let mode = format!("large {LARGE} {SEED}");
    let down = Request::new("GET", "/api/v1/download").mode(plan.nonce("down"), mode);
    plan.ask("down", exchange(plan.endpoint(Capability::Instance), down.exchange())).deadline(45_000);
}

fn judge(case: &mut Case<'_>) {
    for method in METHODS {
        arrived(case, method, method, "/api/v1/echo");
    }
    for target in TARGETS {
        arrived(case, target, "GET", target);
    }
    for name in case.proxied() {
        let heard = matches!(case.outcome(&name), Some(Outcome::Heard { .. }));
        let came = case
            .arrived(&name)
            .iter()
            .filter(|one| matches!(one.event, Event::Request { .. } | Event::Received { .. }))
            .count();
        case.require(heard && came > 0, format!("{name}: the instance was not asked by way of it, or not heard"));
    }
    let expected = digest(LARGE, SEED);
    let body = case.arrived("up").iter().find_map(|one| match &one.event {
        Event::Body { len, sha256, .. } => Some((*len, sha256.clone())),
        _ => None,
    });
    case.require(body.as_ref() == Some(&(LARGE, expected.clone())), format!("up: the instance got {body:?}"));
    let down = case.exchange("down");
    let whole = down.body_len == LARGE && down.body_sha256 == expected;
    case.require(whole, format!("down: {}", crate::describe::exchange(&down)));
}

/// One request, answered 200, that reached the instance once with this method and target.
fn arrived(case: &mut Case<'_>, name: &str, method: &str, target: &str) {
    let answer = case.exchange(name);
    case.require(answer.status == Some(200), format!("{name}: {}", crate::describe::exchange(&answer)));
    let lines: Vec<String> = case
        .requests(name, "instance")
        .iter()
        .filter_map(|one| match &one.event {
            Event::Request { method, target, .. } => Some(format!("{method} {target}")),
            _ => None,
        })
        .collect();
    case.require(lines == [format!("{method} {target}")], format!("{name}: the instance got {lines:?}"));
}

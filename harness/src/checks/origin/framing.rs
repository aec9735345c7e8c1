//! ORIGIN-11: an ambiguous message never becomes two requests upstream (RFC 9112 6.3 and 11.2; catalogue family J).

use watertight_probe::plan::Step;
use watertight_reports::results::{ControlKind, Subject};

use super::{only_own_origin, plan_permitted, relays_work};
use crate::{
    case::Case,
    check::{Capability, Check},
    planner::{Planner, exchange, instance},
};

pub static CHECK: Check = Check::facts("ORIGIN-11", "origin::framing", ControlKind::Twin, plan, judge)
    .about(Subject::Relay)
    .waived_by(&[Capability::Instance])
    .of_relays()
    .caught_on(&["accept-bare-line-feeds"]).spared(&[("*-permitted", "a control of the check"), ("*", "hyper refuses it or makes the framing anew as well: of our own refusals that of bare line feeds stands alone")]);

/// Framing headers of a message whose body holds a second request, by name.
const AMBIGUOUS: [(&str, &str); 13] = [
    ("length-then-chunked", "content-length: 4\r\ntransfer-encoding: chunked"),
    ("chunked-then-length", "transfer-encoding: chunked\r\ncontent-length: 4"),
    ("two-lengths", "content-length: 0\r\ncontent-length: 200"),
    ("list-of-lengths", "content-length: 0, 200"),
    ("plus-length", "content-length: +0"),
    ("negative-length", "content-length: -1"),
    ("huge-length", "content-length: 18446744073709551621"),
    ("hex-length", "content-length: 0x0"),
    ("unknown-coding", "transfer-encoding: xchunked"),
    ("chunked-not-last", "transfer-encoding: chunked, identity"),
    ("space-before-colon", "transfer-encoding : chunked"),
    ("folded", "x-a: b\r\n transfer-encoding: chunked"),
    ("bare-line-feed", "x-a: b\ntransfer-encoding: chunked"),
];

fn plan(plan: &mut Planner<'_>) {
    plan_permitted(plan);
    for (name, framing) in AMBIGUOUS {
        let name = format!("instance-{name}");
        let nonce = plan.nonce(&name);
        let head = format!(
            "POST /api/v1/outer HTTP/1.1\r\nhost: 127.0.0.1\r\nx-watertight: wt:{nonce} plain\r\n{framing}\r\n\r\n"
        );
        let inner =
            format!("GET /api/v1/smuggled HTTP/1.1\r\nhost: 127.0.0.1\r\nx-watertight: wt:{nonce} plain\r\n\r\n");
        let steps = vec![Step::Send(format!("{head}0\r\n\r\n{inner}")), Step::HalfClose, Step::ReadToEnd];
        plan.ask(name, exchange(instance(), steps));
    }
}

fn judge(case: &mut Case<'_>) {
    relays_work(case);
    for (name, _) in AMBIGUOUS {
        let name = format!("instance-{name}");
        only_own_origin(case, &name);
        // One request that stands for itself may go on. Even a message that is read by its chunks alone must be the
        // last of its connection (RFC 9112 6.1), so the one behind it never goes.
        let hits = case.requests(&name, "instance").len();
        if hits > 1 {
            case.breach(format!("{name}: {hits} requests went upstream"));
        }
    }
}

//! Who may ask: only a client with this launch's bearer, byte for byte (catalogue C2, C10).

use watertight_reference::guards::{AllUp, RelayGuards};

use crate::running::{KEY, Kind, Running, relay};
use crate::upstream::Upstream;

/// The header lines of one way to be wrong.
fn wrong(relay: &Running, name: &str) -> String {
    let bearer = &relay.bearer;
    let flipped = |at: usize| {
        let mut bytes = bearer.clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        String::from_utf8(bytes).expect("ASCII")
    };
    let value = match name {
        "none" => return String::new(),
        "only in x-api-key" => return format!("X-Api-Key: {bearer}\r\nApi-Key: Bearer {bearer}\r\n"),
        "wrong, then right" => return format!("Authorization: Bearer x\r\nAuthorization: Bearer {bearer}\r\n"),
        "right, then wrong" => return format!("Authorization: Bearer {bearer}\r\nAuthorization: Bearer x\r\n"),
        "right twice" => format!("Bearer {bearer}\r\nauthorization: Bearer {bearer}"),
        "empty" => String::new(),
        "short" => format!("Bearer {}", &bearer[..42]),
        "long" => format!("Bearer {bearer}x"),
        "other token" => format!("Bearer {}", "~".repeat(43)),
        "first byte" => format!("Bearer {}", flipped(0)),
        "middle byte" => format!("Bearer {}", flipped(21)),
        "last byte" => format!("Bearer {}", flipped(42)),
        "scheme in lower case" => format!("bearer {bearer}"),
        "token in lower case" => format!("Bearer {}", bearer.to_lowercase()),
        "multibyte" => format!("Bearer {}", "\u{e9}".repeat(43)),
        "two spaces" => format!("Bearer  {bearer}"),
        "tab" => format!("Bearer\t{bearer}"),
        "no scheme" => bearer.clone(),
        "basic" => format!("Basic {bearer}"),
        "real key" => format!("Bearer {KEY}"),
        "list" => format!("Bearer {bearer}, Bearer {bearer}"),
        other => panic!("unknown {other}"),
    };
    format!("Authorization: {value}\r\n")
}

pub fn wrong_bearer_is_401<G: RelayGuards>(name: &str) {
    let upstream = Upstream::ok();
    let relay = relay::<G>(Kind::Provider, &upstream.origin());
    let head = format!("GET /v1/models HTTP/1.1\r\nHost: relay\r\n{}\r\n", wrong(&relay, name));
    let answer = relay.connect().ask(head);
    assert_eq!((answer.status, answer.text().as_str()), (401, ""), "{name}");
    assert_eq!(upstream.ledger().accepted, 0, "{name} reached the upstream");
    let answer = relay.connect().ask(relay.get());
    assert_eq!((answer.status, upstream.ledger().accepted), (200, 1), "the right bearer");
}

#[test]
fn every_wrong_bearer_is_401_and_never_reaches_the_upstream() {
    for name in [
        "none",
        "only in x-api-key",
        "wrong, then right",
        "right, then wrong",
        "right twice",
        "empty",
        "short",
        "long",
        "other token",
        "first byte",
        "middle byte",
        "last byte",
        "scheme in lower case",
        "token in lower case",
        "multibyte",
        "two spaces",
        "tab",
        "no scheme",
        "basic",
        "real key",
        "list",
    ] {
        wrong_bearer_is_401::<AllUp>(name);
    }
}

#[test]
fn one_launchs_bearer_is_worth_nothing_at_another() {
    let upstream = Upstream::ok();
    let (one, two) =
        (relay::<AllUp>(Kind::Provider, &upstream.origin()), relay::<AllUp>(Kind::Provider, &upstream.origin()));
    assert_eq!(two.connect().ask(one.get()).status, 401);
    assert_eq!(one.connect().ask(one.get()).status, 200);
    assert_eq!(upstream.ledger().accepted, 1);
}

#[test]
fn without_the_bearer_nothing_else_is_told() {
    let upstream = Upstream::ok();
    let relay = relay::<AllUp>(Kind::Provider, &upstream.origin());
    for line in ["DELETE /v1/models", "GET //evil/x", "GET http://evil/x", "GET /v1%2fmodels", "GET /nowhere"] {
        assert_eq!(relay.connect().ask(format!("{line} HTTP/1.1\r\nHost: h\r\n\r\n")).status, 401, "{line}");
    }
    assert_eq!(upstream.ledger().accepted, 0);
}

//! What one client may take from the others (catalogue M), and what it may write to the log.

use std::time::Duration;

use watertight_reference::guards::{AllUp, RelayGuards};
use watertight_reference::relay::{Limits, Trust};

use crate::running::{Kind, for_both, relay, relay_with};
use crate::upstream::Upstream;

pub fn connections_beyond_the_cap_wait<G: RelayGuards>() {
    let upstream = Upstream::ok();
    let limits = Limits { connections: 2, ..Limits::default() };
    let relay = relay_with::<G>(Kind::Instance, &upstream.origin(), limits, &Trust::public());
    let mut first = relay.connect();
    let mut second = relay.connect();
    assert_eq!((first.ask(relay.get()).status, second.ask(relay.get()).status), (200, 200));
    let mut third = relay.connect();
    third.send(relay.get());
    // The two that are served get further answers, the third gets none.
    assert_eq!((first.ask(relay.get()).status, second.ask(relay.get()).status), (200, 200));
    third.stream.set_nonblocking(true).expect("nonblocking");
    let early = std::io::Read::read(&mut third.stream, &mut [0; 1]);
    assert_eq!(early.map_err(|error| error.kind()), Err(std::io::ErrorKind::WouldBlock), "the third has to wait");
    assert_eq!(upstream.ledger().accepted, 4);
    third.stream.set_nonblocking(false).expect("blocking");
    drop(first);
    assert_eq!(third.answer().status, 200);
}

pub fn slow_head_ends_the_connection<G: RelayGuards>() {
    let limits = Limits { head: Duration::from_millis(100), linger: Duration::from_millis(100), ..Limits::default() };
    let relay = relay_with::<G>(Kind::Instance, "http://127.0.0.1:9", limits, &Trust::public());
    for sent in ["", "GET / HTTP/1.1\r\nHost: h\r\nX: "] {
        let mut client = relay.connect();
        client.send(sent);
        // At most an answer that says so, and then the end.
        assert!(client.try_answer().is_none_or(|answer| answer.status == 408) && client.is_ended());
    }
}

pub fn large_head_is_431<G: RelayGuards>(kind: Kind) {
    let upstream = Upstream::ok();
    let relay = relay::<G>(kind, &upstream.origin());
    let large = "x".repeat(1 << 20);
    for head in [
        relay.head("GET /v1/models", &format!("X: {large}\r\n")),
        relay.head("GET /v1/models", &"X: y\r\n".repeat(10_000)),
        relay.head(&format!("GET /{large}"), ""),
        large,
    ] {
        let mut client = relay.connect();
        client.try_send(head);
        assert_eq!(client.answer().status, 431);
        assert!(client.is_ended());
    }
    assert_eq!(upstream.ledger().accepted, 0);
}

pub fn log_is_printable_short_and_without_queries<G: RelayGuards>() {
    let relay = relay::<G>(Kind::Provider, "http://127.0.0.1:9");
    relay.connect().ask(relay.head("GET /a\\b?key=secret", "X: secret\r\n"));
    relay.connect().ask(relay.head("DELETE /a%0d%0a#secret", ""));
    let lines = relay.lines.lock().expect("lines").clone();
    assert_eq!(lines, ["provider relay refused GET /a\\\\b", "provider relay refused DELETE /a%0d%0a"]);
}

pub fn log_is_limited_in_rate<G: RelayGuards>() {
    let relay = relay::<G>(Kind::Provider, "http://127.0.0.1:9");
    let mut client = relay.connect();
    let flood = relay.head("GET /nowhere", "").repeat(100);
    for _ in 0..20 {
        client.send(&flood);
        for _ in 0..100 {
            assert_eq!(client.answer().status, 403);
        }
    }
    let lines = relay.lines.lock().expect("lines").len();
    assert!((20..500).contains(&lines), "{lines} lines for 2000 refusals");
}

#[test]
fn a_connection_beyond_the_cap_waits_for_its_turn() {
    connections_beyond_the_cap_wait::<AllUp>();
}

#[test]
fn a_head_that_does_not_come_ends_its_connection() {
    slow_head_ends_the_connection::<AllUp>();
}

#[test]
fn a_head_that_is_too_large_is_431() {
    for_both(large_head_is_431::<AllUp>);
}

#[test]
fn the_log_names_method_and_path_and_nothing_else() {
    log_is_printable_short_and_without_queries::<AllUp>();
}

#[test]
fn a_flood_of_refusals_does_not_flood_the_log() {
    log_is_limited_in_rate::<AllUp>();
}

#[test]
fn a_hundred_slow_clients_do_not_keep_another_from_being_served() {
    let upstream = Upstream::ok();
    let relay = relay::<AllUp>(Kind::Provider, &upstream.origin());
    let _slow: Vec<_> = (0..128)
        .map(|_| {
            let mut client = relay.connect();
            client.send("GET / HTTP/1.1\r\nX");
            client
        })
        .collect();
    assert_eq!(relay.connect().ask(relay.get()).status, 200);
}

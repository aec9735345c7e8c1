//! The origin is fixed: what a request may ask for, and that nothing in it, or in an answer, leads elsewhere (catalogue I).

use watertight_reference::guards::{AllUp, RelayGuards};

use crate::running::{KEY, Kind, for_both, relay};
use crate::upstream::Upstream;

/// What each request of a client with the bearer gets; `EVIL` is the address of a listener that must hear nothing.
const PROVIDER: [(&str, u16); 26] = [
    ("PUT /v1/models", 405),
    ("HEAD /v1/models", 405),
    ("TRACE /v1/models", 405),
    ("OPTIONS *", 405),
    ("DELETE //EVIL/v1/models", 405),
    ("GET //EVIL/v1/models", 400),
    ("GET ///EVIL/v1/models", 400),
    ("GET http://EVIL/v1/models", 400),
    ("POST http://EVIL/v1/chat/completions", 400),
    ("GET *", 400),
    ("GET /v1%2fmodels", 400),
    ("GET /v1%5Cmodels", 400),
    ("GET /v1/%2e%2E/models", 400),
    ("GET /v1/models?%2f", 400),
    ("GET /", 403),
    ("GET /v1/models?key=x", 403),
    ("GET /v1/models?", 403),
    ("GET /v1/models#x", 403),
    ("GET /v1/x/../models", 403),
    ("GET /v1\\models", 403),
    ("GET /\\EVIL/v1/models", 403),
    ("GET /http://EVIL/v1/models", 403),
    ("GET /v1/chat/completions", 403),
    ("POST /v1/models", 403),
    ("POST /v1/embeddings", 403),
    ("GET /metrics", 403),
];

const INSTANCE: [(&str, u16); 9] = [
    ("GET //EVIL/x", 400),
    ("GET ///EVIL", 400),
    ("GET http://EVIL/x", 400),
    ("POST http://EVIL/x", 400),
    ("OPTIONS *", 400),
    ("GET /x#y", 400),
    ("TRACE /x", 405),
    ("TRACK /x", 405),
    ("trace /x", 405),
];

pub fn request_line_is_refused<G: RelayGuards>(kind: Kind, line: &str, status: u16) {
    let (upstream, evil) = (Upstream::ok(), Upstream::ok());
    let relay = relay::<G>(kind, &upstream.origin());
    let line = line.replace("EVIL", &evil.address.to_string());
    let answer = relay.connect().ask(relay.head(&line, ""));
    assert_eq!((answer.status, upstream.ledger().accepted, evil.ledger().accepted), (status, 0, 0), "{line}");
    assert!(!answer.text().contains(KEY));
    if status == 403 {
        let path = line.split(['?', '#']).next().expect("line").replace('\\', "\\\\");
        assert_eq!(answer.text(), format!("Unsupported provider request: {path}"));
    }
}

/// A Host that names another server changes nothing, whatever the request line is.
pub fn host_is_the_origins<G: RelayGuards>(kind: Kind) {
    let (upstream, evil) = (Upstream::ok(), Upstream::ok());
    let relay = relay::<G>(kind, &upstream.origin());
    let head = relay.get().replace("Host: relay", &format!("Host: {}", evil.address));
    let answer = relay.connect().ask(head);
    let ledger = upstream.ledger();
    assert_eq!((answer.status, ledger.accepted, evil.ledger().accepted), (200, 1, 0));
    assert_eq!(ledger.requests[0].all("host"), [upstream.address.to_string()]);
}

pub fn target_is_the_constant<G: RelayGuards>() {
    let upstream = Upstream::ok();
    let relay = relay::<G>(Kind::Provider, &upstream.origin());
    relay.connect().ask(relay.get());
    relay.connect().ask(relay.post("Content-Length: 0"));
    let lines: Vec<String> = upstream.ledger().requests.iter().map(|request| request.line.clone()).collect();
    assert_eq!(lines, ["GET /v1/models HTTP/1.1", "POST /v1/chat/completions HTTP/1.1"]);
}

pub fn connect_is_no_tunnel<G: RelayGuards>(kind: Kind) {
    let (upstream, evil) = (Upstream::ok(), Upstream::ok());
    let relay = relay::<G>(kind, &upstream.origin());
    for target in [evil.address.to_string(), upstream.address.to_string()] {
        for head in
            [relay.head(&format!("CONNECT {target}"), ""), format!("CONNECT {target} HTTP/1.1\r\nHost: h\r\n\r\n")]
        {
            let mut client = relay.connect();
            client.send(head);
            client.try_send(relay.get());
            let answer = client.try_answer();
            assert!(answer.as_ref().is_none_or(|answer| answer.status == 400), "{answer:?}");
            assert!(client.is_ended(), "{target}");
        }
    }
    assert_eq!((upstream.ledger().accepted, evil.ledger().accepted), (0, 0));
}

/// The witness on the other side alone, whatever the client is told.
pub fn connect_leads_to_no_other_server<G: RelayGuards>(kind: Kind) {
    let (upstream, evil) = (Upstream::ok(), Upstream::ok());
    let relay = relay::<G>(kind, &upstream.origin());
    let mut client = relay.connect();
    client.send(relay.head(&format!("CONNECT {}", evil.address), ""));
    client.head();
    client.try_send("GET /through HTTP/1.1\r\nHost: h\r\n\r\n");
    client.half_close();
    client.try_answer();
    assert_eq!(evil.ledger().requests.len(), 0, "{:?}", evil.ledger().requests);
}

pub fn upgrade_leads_nowhere<G: RelayGuards>(kind: Kind) {
    let upstream = Upstream::ok();
    let relay = relay::<G>(kind, &upstream.origin());
    for upgrade in ["websocket", "h2c", "anything"] {
        let more = format!("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: {upgrade}\r\nHTTP2-Settings: AAMAAABk\r\n");
        let answer = relay.connect().ask(relay.head("GET /v1/models", &more));
        assert_eq!(answer.status, if kind == Kind::Provider { 200 } else { 400 }, "{upgrade}");
    }
    for request in upstream.ledger().requests {
        assert!(request.all("upgrade").is_empty() && request.all("http2-settings").is_empty());
    }
    assert_eq!(upstream.ledger().accepted, if kind == Kind::Provider { 3 } else { 0 });
}

pub fn redirect_is_not_followed<G: RelayGuards>(kind: Kind) {
    let evil = Upstream::ok();
    for status in [301, 302, 303, 307, 308] {
        let location = format!("http://{}/v1/models", evil.address);
        let upstream =
            Upstream::saying(format!("HTTP/1.1 {status} Moved\r\nLocation: {location}\r\nContent-Length: 2\r\n\r\nno"));
        let relay = relay::<G>(kind, &upstream.origin());
        let answer = relay.connect().ask(relay.get());
        match kind {
            Kind::Provider => {
                assert_eq!((answer.status, answer.text().as_str()), (502, "Provider redirects are not supported"));
            }
            Kind::Instance => {
                assert_eq!((answer.status, answer.header("location")), (status, Some(location.as_str())));
            }
        }
        assert_eq!((upstream.ledger().accepted, evil.ledger().accepted), (1, 0));
    }
}

pub fn protocol_switch_is_502<G: RelayGuards>(kind: Kind) {
    let upstream = Upstream::start(|visit| {
        visit.request();
        visit.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n");
        visit.until_closed();
    });
    let relay = relay::<G>(kind, &upstream.origin());
    assert_eq!(relay.connect().ask(relay.get()).status, 502);
    upstream.wait("the upstream connection ends", |ledger| ledger.live == 0);
}

#[test]
fn every_other_request_to_the_provider_is_refused_before_any_connection() {
    for (line, status) in PROVIDER {
        request_line_is_refused::<AllUp>(Kind::Provider, line, status);
    }
}

#[test]
fn every_other_form_of_a_request_to_the_instance_is_refused_before_any_connection() {
    for (line, status) in INSTANCE {
        request_line_is_refused::<AllUp>(Kind::Instance, line, status);
    }
}

#[test]
fn a_forged_host_does_not_reach_the_upstream() {
    for_both(host_is_the_origins::<AllUp>);
}

#[test]
fn the_provider_sees_two_constant_targets() {
    target_is_the_constant::<AllUp>();
}

#[test]
fn connect_is_refused_and_what_follows_it_goes_nowhere() {
    for_both(connect_is_no_tunnel::<AllUp>);
    for_both(connect_leads_to_no_other_server::<AllUp>);
}

#[test]
fn upgrade_is_ignored_by_the_provider_and_refused_by_the_instance() {
    for_both(upgrade_leads_nowhere::<AllUp>);
}

#[test]
fn a_redirect_is_refused_by_the_provider_and_handed_on_by_the_instance() {
    for_both(redirect_is_not_followed::<AllUp>);
}

#[test]
fn a_protocol_switch_of_the_upstream_is_502() {
    for_both(protocol_switch_is_502::<AllUp>);
}

#[test]
fn an_upstream_that_is_not_there_is_502_without_a_word_about_it() {
    let gone = Upstream::ok().address;
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("bind").local_addr().expect("address");
    assert_ne!(gone, free);
    for (kind, text) in [(Kind::Provider, "Provider request failed"), (Kind::Instance, "Instance request failed")] {
        let relay = relay::<AllUp>(kind, &format!("http://{free}"));
        let answer = relay.connect().ask(relay.get());
        assert_eq!((answer.status, answer.text().as_str()), (502, text));
    }
}

#[test]
fn the_instance_gets_every_path_and_method_as_they_are() {
    let upstream = Upstream::ok();
    let relay = relay::<AllUp>(Kind::Instance, &upstream.origin());
    let lines = ["GET /", "DELETE /a//b/../c?d=%2F&e", "PATCH /\\x", "PROPFIND /%2e%2e/x", "get /http://evil/"];
    for line in lines {
        assert_eq!(relay.connect().ask(relay.head(line, "")).status, 200, "{line}");
    }
    let seen: Vec<String> = upstream.ledger().requests.iter().map(|request| request.line.clone()).collect();
    assert_eq!(seen, lines.map(|line| format!("{line} HTTP/1.1")));
}

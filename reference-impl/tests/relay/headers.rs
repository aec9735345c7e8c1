//! What the upstream and the client see of each other's headers (catalogue K).

use watertight_reference::guards::{AllUp, RelayGuards};

use crate::running::{KEY, Kind, for_both, relay};
use crate::upstream::Upstream;

/// Everything that a client might send to be forwarded, and must not be.
const DIRTY: &str = "Connection: close, X-Nominated\r\nX-Nominated: 1\r\nKeep-Alive: timeout=5\r\nTE: trailers\r\n\
    Proxy-Authorization: Basic x\r\nProxy-Connection: keep-alive\r\nProxy-Authenticate: x\r\nTrailer: X\r\n\
    Forwarded: for=1.2.3.4\r\nX-Forwarded-For: 1.2.3.4\r\nX-Forwarded-Host: evil\r\nX-Forwarded-Proto: https\r\n\
    X-Real-IP: 1.2.3.4\r\nVia: 1.1 evil\r\nX-HTTP-Method-Override: DELETE\r\nContent_Length: 5\r\nX_Api_Key: y\r\n";

/// What a client may say.
const CLEAN: &str = "Accept: text/event-stream\r\nUser-Agent: agent/1\r\nX-Watertight: wt:00\r\n";

const CREDENTIALS: &str = "X-Api-Key: client\r\nApi-Key: client\r\nCookie: session=client\r\n";

fn seen<G: RelayGuards>(kind: Kind, more: &str) -> Vec<(String, String)> {
    let upstream = Upstream::ok();
    let relay = relay::<G>(kind, &upstream.origin());
    let answer = relay.connect().ask(relay.head("GET /v1/models", more));
    assert_eq!(answer.status, 200);
    let bearer = format!("Bearer {}", relay.bearer);
    let headers = upstream.ledger().requests.remove(0).headers;
    headers
        .into_iter()
        .filter(|(name, _)| name != "host")
        .map(|(name, value)| (name, value.replace(&bearer, "BEARER")))
        .collect()
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
}

pub fn only_clean_headers_go_up<G: RelayGuards>(kind: Kind) {
    let mut headers = seen::<G>(kind, &format!("{DIRTY}{CLEAN}"));
    headers.retain(|(name, _)| name != "authorization");
    assert_eq!(
        headers,
        pairs(&[("accept", "text/event-stream"), ("user-agent", "agent/1"), ("x-watertight", "wt:00")])
    );
}

pub fn provider_sees_one_credential<G: RelayGuards>() {
    let headers = seen::<G>(Kind::Provider, CREDENTIALS);
    assert_eq!(headers, pairs(&[("authorization", &format!("Bearer {KEY}"))]));
}

pub fn instance_sees_the_clients_credentials_and_no_other<G: RelayGuards>() {
    let headers = seen::<G>(Kind::Instance, CREDENTIALS);
    let expected =
        [("authorization", "BEARER"), ("x-api-key", "client"), ("api-key", "client"), ("cookie", "session=client")];
    assert_eq!(headers, pairs(&expected));
}

pub fn only_clean_headers_come_down<G: RelayGuards>(kind: Kind) {
    let upstream = Upstream::saying(
        "HTTP/1.1 200 Fine\r\nConnection: close, X-Nominated\r\nX-Nominated: 1\r\nKeep-Alive: timeout=5\r\n\
         Proxy-Authenticate: x\r\nProxy-Connection: close\r\nTrailer: X\r\nUpgrade: h2c\r\nTE: x\r\n\
         Alt-Svc: h3=\"evil:443\"\r\nReport-To: {}\r\nNEL: {}\r\nSet-Cookie: a=b\r\nX-Request-Id: 7\r\n\
         Content-Type: text/plain\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nok",
    );
    let relay = relay::<G>(kind, &upstream.origin());
    let mut client = relay.connect();
    let answer = client.ask(relay.get());
    let mut expected = pairs(&[
        ("x-request-id", "7"),
        ("content-type", "text/plain"),
        ("content-encoding", "gzip"),
        ("content-length", "2"),
    ]);
    if kind == Kind::Instance {
        expected.insert(0, ("set-cookie".to_owned(), "a=b".to_owned()));
    }
    assert_eq!((answer.text().as_str(), answer.headers), ("ok", expected));
    assert_eq!(client.ask(relay.get()).status, 200, "the client's connection is its own");
}

pub fn nothing_of_one_client_is_kept_for_another<G: RelayGuards>() {
    let upstream = Upstream::saying("HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 2\r\n\r\nok");
    let relay = relay::<G>(Kind::Instance, &upstream.origin());
    for _ in 0..2 {
        relay.connect().ask("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    }
    for request in upstream.ledger().requests {
        assert!(request.all("cookie").is_empty() && request.all("authorization").is_empty(), "{request:?}");
    }
    assert_eq!(upstream.ledger().accepted, 2, "a connection of its own for each request");
}

#[test]
fn nothing_of_the_connection_and_no_claim_of_a_proxy_goes_up() {
    for_both(only_clean_headers_go_up::<AllUp>);
}

#[test]
fn the_provider_sees_the_real_key_and_no_credential_of_the_client() {
    provider_sees_one_credential::<AllUp>();
}

#[test]
fn the_instance_sees_what_the_client_sent_and_nothing_of_ours() {
    instance_sees_the_clients_credentials_and_no_other::<AllUp>();
}

#[test]
fn nothing_of_the_connection_comes_down() {
    for_both(only_clean_headers_come_down::<AllUp>);
}

#[test]
fn two_clients_share_neither_cookie_nor_connection() {
    nothing_of_one_client_is_kept_for_another::<AllUp>();
}

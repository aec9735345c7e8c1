//! One request is one request: nothing that two parsers could read in two ways goes on (catalogue J).

use watertight_reference::guards::{AllUp, RelayGuards};

use crate::running::{BOTH, KEY, Kind, for_both, relay};
use crate::upstream::Upstream;

/// Headers that make a POST ambiguous, and what follows the head.
const AMBIGUOUS: [(&str, &str); 26] = [
    ("Content-Length: 5\r\nContent-Length: 6", "hello!"),
    ("Content-Length: 5\r\nContent-Length: 5", "hello"),
    ("Content-Length: 5, 5", "hello"),
    ("Content-Length: +5", "hello"),
    ("Content-Length: 5 5", "hello"),
    ("Content-Length: 0x5", "hello"),
    ("Content-Length: -1", ""),
    ("Content-Length:", ""),
    ("Content-Length: 18446744073709551621", "hello"),
    ("Content-Length: 5\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
    ("Transfer-Encoding: chunked\r\nContent-Length: 5", "0\r\n\r\n"),
    ("Transfer-Encoding: chunked, identity", "0\r\n\r\n"),
    ("Transfer-Encoding: gzip, chunked", "0\r\n\r\n"),
    ("Transfer-Encoding: xchunked", "0\r\n\r\n"),
    ("Transfer-Encoding : chunked", "0\r\n\r\n"),
    (" Transfer-Encoding: chunked", "0\r\n\r\n"),
    ("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", "0\r\n\r\n"),
    ("Transfer-Encoding:\x0bchunked", "0\r\n\r\n"),
    ("X: a\r\n folded", ""),
    ("X: a\nY: b", ""),
    ("X: a\rY: b", ""),
    ("X: \0", ""),
    ("X y: b", ""),
    (": b", ""),
    ("\u{e9}: b", ""),
    ("Host: two", ""),
];

/// Whole requests, with the relay's credentials where `AUTH` stands.
const NOT_HTTP_1_1: [&str; 14] = [
    "GET /v1/models\r\n",
    "GET /v1/models HTTP/1.0\r\nHost: h\r\nAUTH\r\n",
    "GET /v1/models HTTP/1.2\r\nHost: h\r\nAUTH\r\n",
    "GET /v1/models http/1.1\r\nHost: h\r\nAUTH\r\n",
    "GET /v1/models HTTP/1.1 \r\nHost: h\r\nAUTH\r\n",
    "GET  /v1/models HTTP/1.1\r\nHost: h\r\nAUTH\r\n",
    "GET\t/v1/models\tHTTP/1.1\r\nHost: h\r\nAUTH\r\n",
    "GET /v1/models HTTP/1.1\nHost: h\nAUTH\n",
    "\r\nGET /v1/models HTTP/1.1\r\nHost: h\r\nAUTH\r\n",
    "GET /v1/models HTTP/1.1\r\nAUTH\r\n",
    "GET /v1/models HTTP/1.1\r\nHost: \r\nAUTH\r\n",
    "GET /v1/models HTTP/1.1\r\nHost: a, b\r\nAUTH\r\n",
    "GET /v1/models HTTP/1.1\r\nHost: u@h/p\r\nAUTH\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
];

const MALFORMED_CHUNKS: [&str; 14] = [
    "\r\n",
    "g\r\n",
    "-1\r\nx",
    "0x1\r\nx\r\n0\r\n\r\n",
    " 1\r\nx\r\n0\r\n\r\n",
    "1 \r\nx\r\n0\r\n\r\n",
    "1\nx\r\n0\r\n\r\n",
    "1;a\nx\r\n0\r\n\r\n",
    "1;a\rb\r\nx\r\n0\r\n\r\n",
    "1\r\nxX\r\n0\r\n\r\n",
    "1\r\nx\n0\r\n\r\n",
    "10000000000000001\r\nx\r\n0\r\n\r\n",
    "0\r\n\n",
    "0\r\nContent-Length: 5\n\r\n",
];

/// 400, the connection's end, and nothing upstream, also not the request that hides behind.
pub fn is_refused_whole<G: RelayGuards>(kind: Kind, sent: &str) {
    let upstream = Upstream::ok();
    let relay = relay::<G>(kind, &upstream.origin());
    let mut client = relay.connect();
    let authorization = format!("Authorization: Bearer {}\r\n", relay.bearer);
    client.send(sent.replace("AUTH", &authorization));
    client.try_send(relay.get());
    let answer = client.answer();
    assert_eq!(answer.status, 400, "{sent:?}");
    assert!(client.is_ended(), "{sent:?}: the connection goes on");
    assert_eq!(upstream.ledger().accepted, 0, "{sent:?} reached the upstream");
}

fn post(header: &str, body: &str) -> String {
    format!("POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\nAUTH{header}\r\n\r\n{body}")
}

pub fn malformed_chunks_never_complete<G: RelayGuards>(kind: Kind, body: &str) {
    let upstream = Upstream::ok();
    let relay = relay::<G>(kind, &upstream.origin());
    let mut client = relay.connect();
    client.send(relay.post("Transfer-Encoding: chunked"));
    client.try_send(body);
    client.try_send(relay.get());
    let answer = client.try_answer();
    assert!(answer.is_none_or(|answer| answer.status == 400), "{body:?}");
    assert!(client.is_ended(), "{body:?}: the connection goes on");
    upstream.wait("the upstream connection ends", |ledger| ledger.live == 0);
    assert_eq!(upstream.ledger().requests.len(), 0, "{body:?} became a request");
}

/// Several requests in one write: each is judged, answered in order, and has an upstream connection of its own.
pub fn each_request_is_judged<G: RelayGuards>(kind: Kind) {
    let upstream = Upstream::ok();
    let relay = relay::<G>(kind, &upstream.origin());
    let bad = match kind {
        Kind::Provider => "GET /v1/models HTTP/1.1\r\nHost: h\r\n\r\n".to_owned(),
        Kind::Instance => relay.head("TRACE /x", ""),
    };
    let body = relay.post("Content-Length: 5") + "hello";
    let chunked = relay.post("Transfer-Encoding: chunked") + "5;x=y\r\nhello\r\n0\r\nX-T: 1\r\n\r\n";
    let mut client = relay.connect();
    client.send([relay.get(), bad, body, chunked, relay.get()].concat());
    let statuses: Vec<u16> = (0..5).map(|_| client.answer().status).collect();
    assert_eq!(statuses, [200, if kind == Kind::Provider { 401 } else { 405 }, 200, 200, 200]);
    let ledger = upstream.ledger();
    assert_eq!((ledger.accepted, ledger.requests.len()), (4, 4));
    assert_eq!((&*ledger.requests[1].body, &*ledger.requests[2].body), (&b"hello"[..], &b"hello"[..]));
}

/// A refused request's body is not the next request.
pub fn refused_body_is_no_request<G: RelayGuards>(kind: Kind) {
    let upstream = Upstream::ok();
    let relay = relay::<G>(kind, &upstream.origin());
    let hidden = relay.get();
    let line = if kind == Kind::Provider { "POST /nowhere" } else { "TRACE /x" };
    for framing in [format!("Content-Length: {}\r\n", hidden.len()), "Content-Length: 9999\r\n".to_owned()] {
        let mut client = relay.connect();
        client.send(relay.head(line, &framing) + &hidden);
        assert!(client.answer().status >= 400);
        assert!(client.is_ended(), "the connection goes on");
    }
    assert_eq!(upstream.ledger().accepted, 0);
}

pub fn trailers_stay_behind<G: RelayGuards>(kind: Kind) {
    let upstream = Upstream::start(|visit| {
        visit.request();
        visit.write(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Up\r\n\r\n2\r\nok\r\n0\r\nX-Up: 1\r\n\r\n",
        );
        visit.until_closed();
    });
    let relay = relay::<G>(kind, &upstream.origin());
    let head = relay.post("Transfer-Encoding: chunked\r\nTrailer: X-Down, Authorization\r\nTE: trailers");
    let mut client = relay.connect();
    let answer = client.ask(head + "2\r\nhi\r\n0\r\nX-Down: 1\r\nAuthorization: Bearer x\r\nContent-Length: 5\r\n\r\n");
    assert_eq!((answer.status, answer.text().as_str(), answer.complete), (200, "ok", true));
    assert_eq!(client.ask(relay.get()).status, 200, "what follows is in step");
    let request = &upstream.ledger().requests[0];
    assert!(!request.headers.iter().any(|(name, _)| name.starts_with("trailer")), "{request:?}");
    assert_eq!(request.body, b"hi");
}

/// An answer of the upstream that is framed in two ways, or more than one answer.
pub fn ambiguous_answer_is_502<G: RelayGuards>(kind: Kind, head: &str, body: &str) {
    let upstream = Upstream::saying(format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n{body}"));
    let relay = relay::<G>(kind, &upstream.origin());
    assert_eq!(relay.connect().ask(relay.get()).status, 502, "{head}");
}

#[test]
fn every_ambiguous_head_is_400_and_the_end_of_the_connection() {
    for kind in BOTH {
        for (header, body) in AMBIGUOUS {
            is_refused_whole::<AllUp>(kind, &post(header, body));
        }
        for sent in NOT_HTTP_1_1 {
            is_refused_whole::<AllUp>(kind, sent);
        }
    }
}

#[test]
fn what_is_not_http_at_all_is_refused_at_once() {
    for sent in ["\x05\x01\0", "\x16\x03\x01\x02\0\x01\0", "\0\0\0\0"] {
        for_both(|kind| is_refused_whole::<AllUp>(kind, sent));
    }
}

#[test]
fn a_malformed_chunked_body_never_becomes_a_request() {
    for body in MALFORMED_CHUNKS {
        for_both(|kind| malformed_chunks_never_complete::<AllUp>(kind, body));
    }
}

#[test]
fn pipelined_requests_are_judged_one_by_one() {
    for_both(each_request_is_judged::<AllUp>);
}

#[test]
fn the_body_of_a_refused_request_is_not_taken_for_a_request() {
    for_both(refused_body_is_no_request::<AllUp>);
}

#[test]
fn trailers_do_not_cross_in_either_direction() {
    for_both(trailers_stay_behind::<AllUp>);
}

#[test]
fn an_answer_framed_in_two_ways_is_502() {
    for kind in BOTH {
        ambiguous_answer_is_502::<AllUp>(
            kind,
            "Content-Length: 2\r\nTransfer-Encoding: chunked",
            "2\r\nok\r\n0\r\n\r\n",
        );
        ambiguous_answer_is_502::<AllUp>(
            kind,
            "Transfer-Encoding: chunked\r\nContent-Length: 2",
            "2\r\nok\r\n0\r\n\r\n",
        );
        ambiguous_answer_is_502::<AllUp>(kind, "Content-Length: 2\r\nContent-Length: 2", "ok");
        ambiguous_answer_is_502::<AllUp>(kind, "Content-Length: 2\r\nContent-Length: 3", "ok!");
        ambiguous_answer_is_502::<AllUp>(kind, "Transfer-Encoding: gzip, chunked", "2\r\nok\r\n0\r\n\r\n");
    }
}

#[test]
fn bytes_after_an_answer_reach_nobody() {
    let extra = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison";
    for kind in BOTH {
        let upstream = Upstream::saying(extra);
        let relay = relay::<AllUp>(kind, &upstream.origin());
        let mut client = relay.connect();
        for _ in 0..2 {
            assert_eq!(client.ask(relay.get()).text(), "ok");
        }
        assert_eq!(upstream.ledger().accepted, 2);
    }
}

#[test]
fn interim_answers_are_swallowed_however_many_there_are() {
    let storm = "HTTP/1.1 100 Continue\r\n\r\n".repeat(500) + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    let upstream = Upstream::saying(storm);
    let relay = relay::<AllUp>(Kind::Instance, &upstream.origin());
    assert_eq!(relay.connect().ask(relay.get()).text(), "ok");
}

#[test]
fn expect_is_answered_by_the_relay_and_goes_no_further() {
    for kind in BOTH {
        let upstream = Upstream::ok();
        let relay = relay::<AllUp>(kind, &upstream.origin());
        let mut client = relay.connect();
        client.send(relay.post("Content-Length: 5\r\nExpect: 100-continue"));
        assert_eq!(client.head().expect("interim answer").status, 100);
        assert_eq!(client.ask("hello").status, 200);
        assert_eq!(client.ask(relay.get()).status, 200, "what follows is in step");
        assert_eq!(upstream.ledger().requests[0].body, b"hello");
        assert!(upstream.ledger().requests[0].all("expect").is_empty());
        let mut client = relay.connect();
        assert_eq!(client.ask(relay.post("Content-Length: 5\r\nExpect: miracles")).status, 417);
        assert!(client.is_ended());
    }
}

#[test]
fn a_body_on_a_get_stays_the_body_of_that_request() {
    for kind in BOTH {
        let upstream = Upstream::ok();
        let relay = relay::<AllUp>(kind, &upstream.origin());
        let hidden = relay.head("GET /hidden", "");
        let mut client = relay.connect();
        let head = relay.head("GET /v1/models", &format!("Content-Length: {}\r\n", hidden.len()));
        assert_eq!(client.ask(head + &hidden).status, 200);
        assert_eq!(client.ask(relay.get()).status, 200);
        let ledger = upstream.ledger();
        assert_eq!((ledger.accepted, ledger.requests.len()), (2, 2));
        assert_eq!(ledger.requests[0].body, hidden.as_bytes());
    }
}

#[test]
fn no_error_answer_holds_the_key_or_the_bearer() {
    let upstream = Upstream::saying("garbage\r\n\r\n");
    let relay = relay::<AllUp>(Kind::Provider, &upstream.origin());
    for sent in
        [relay.get(), relay.head("PUT /", ""), relay.head("GET //x", ""), relay.head("GET /x", ""), "x\r\n".into()]
    {
        let mut client = relay.connect();
        let answer = client.ask(sent);
        let all = format!("{answer:?} {}", answer.text());
        assert!(answer.status >= 400 && !all.contains(KEY) && !all.contains(&relay.bearer), "{all}");
    }
    let lines = relay.lines.lock().expect("lines").join("\n");
    assert!(!lines.is_empty() && !lines.contains(KEY) && !lines.contains(&relay.bearer), "{lines}");
}

//! Who leaves takes the other side along; what is cut short looks cut short (catalogue C6, C9, D7 to D13, L).

use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use watertight_reference::guards::{AllUp, RelayGuards};
use watertight_reference::relay::listen_with;

use crate::client::Client;
use crate::running::{BOTH, Kind, Running, for_both, impatiently, instance_on, relay};
use crate::upstream::Upstream;

/// Where a request is when somebody leaves.
#[derive(Clone, Copy, Debug)]
pub enum State {
    /// The upstream has the request and does not answer.
    Pending,
    /// The client has not sent the whole body.
    IncompleteBody,
    /// The upstream has sent part of its answer.
    MidStream,
    /// The client does not read, and everything in between is full.
    Stalled,
}

pub const STATES: [State; 4] = [State::Pending, State::IncompleteBody, State::MidStream, State::Stalled];

/// Brings one request into this state: the upstream has one live connection when this returns.
fn bring_into<G: RelayGuards>(kind: Kind, state: State) -> (Upstream, Running, Client) {
    let upstream = match state {
        State::Pending | State::IncompleteBody => Upstream::silent(),
        State::MidStream => Upstream::start(|visit| {
            visit.request();
            visit.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
            visit.until_closed();
        }),
        State::Stalled => Upstream::start(|visit| {
            visit.request();
            visit.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n");
            visit.pour(1_000_000_000);
        }),
    };
    let relay = relay::<G>(kind, &upstream.origin());
    let mut client = relay.connect();
    match state {
        State::Pending => client.send(relay.get()),
        State::IncompleteBody => client.send(relay.post("Content-Length: 100") + "half"),
        State::MidStream => {
            client.send(relay.get());
            client.head().expect("head");
            assert_eq!(client.chunk().expect("chunk"), b"hello");
        }
        State::Stalled => {
            client.send(relay.get());
            upstream.wait("bytes flow", |ledger| ledger.poured > 0);
        }
    }
    upstream.wait("the upstream has the request", |ledger| ledger.live == 1);
    (upstream, relay, client)
}

pub fn leaving_client_ends_the_upstream_connection<G: RelayGuards>(kind: Kind, state: State) {
    let (upstream, _relay, client) = bring_into::<G>(kind, state);
    drop(client);
    upstream.wait("the upstream connection ends with the client", |ledger| ledger.live == 0);
    assert_eq!(upstream.ledger().accepted, 1, "sent once");
}

pub fn shutdown_ends_every_connection<G: RelayGuards>(kind: Kind, state: State) {
    let (upstream, mut relay, mut client) = bring_into::<G>(kind, state);
    let path = relay.path.clone();
    relay.stop();
    upstream.wait("the upstream connection ends with the relay", |ledger| ledger.live == 0);
    assert!(!path.exists(), "the socket's file is gone");
    match state {
        State::Stalled => {}
        State::MidStream => assert_eq!(client.chunk(), None),
        State::Pending | State::IncompleteBody => assert!(client.is_ended()),
    }
}

/// How the upstream stops in the middle of a body.
const CUTS: [&str; 3] = [
    "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\npart",
];

pub fn truncated_answer_looks_truncated<G: RelayGuards>(kind: Kind) {
    for cut in CUTS {
        for reset in [false, true] {
            let upstream = Upstream::start(move |visit| {
                if visit.request().is_some_and(|request| request.line.starts_with("POST")) {
                    visit.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
                    return;
                }
                visit.write(cut);
                if reset {
                    let linger = libc::linger { l_onoff: 1, l_linger: 0 };
                    nix::sys::socket::setsockopt(&visit.stream, nix::sys::socket::sockopt::Linger, &linger)
                        .expect("linger");
                }
            });
            let relay = relay::<G>(kind, &upstream.origin());
            let mut client = relay.connect();
            client.send(relay.get());
            if let Some(answer) = client.try_answer() {
                assert!(!answer.complete, "{cut:?} looks complete");
                assert!(reset || answer.status == 502 || answer.text() == "part", "what came is handed on");
            } else {
                assert!(reset, "what came is handed on");
            }
            assert!(client.is_ended());
            let next = relay.connect().ask(relay.post("Content-Length: 0"));
            assert_eq!((next.status, next.text().as_str()), (200, "ok"), "the next request works");
        }
    }
}

pub fn dead_upstream_is_502_and_sent_once<G: RelayGuards>(kind: Kind) {
    for with_body in [true, false] {
        let upstream = Upstream::start(|visit| drop(visit.request()));
        let relay = relay::<G>(kind, &upstream.origin());
        let request = if with_body { relay.post("Content-Length: 5") + "hello" } else { relay.get() };
        let answer = relay.connect().ask(request);
        assert_eq!((answer.status, upstream.ledger().accepted), (502, 1), "with a body: {with_body}");
    }
}

pub fn half_closed_client_gets_its_answer<G: RelayGuards>(kind: Kind) {
    let (body, answer) = (vec![b'x'; 1 << 20], b"HTTP/1.1 200 OK\r\nContent-Length: 1048576\r\n\r\n");
    let whole = [&answer[..], &body].concat();
    let (ready, shut) = std::sync::mpsc::channel::<()>();
    let shut = std::sync::Mutex::new(shut);
    let upstream = Upstream::start(move |visit| {
        visit.request();
        let _ = shut.lock().expect("signal").recv();
        visit.write(&whole);
    });
    let relay = relay::<G>(kind, &upstream.origin());
    let mut client = relay.connect();
    client.send(relay.get());
    client.half_close();
    upstream.wait("the request is there", |ledger| ledger.requests.len() == 1);
    ready.send(()).expect("signal");
    let answer = client.answer();
    assert!(answer.complete && answer.body == body, "{} bytes", answer.body.len());
}

pub fn early_answer_reaches_a_client_that_still_sends<G: RelayGuards>(kind: Kind) {
    let upstream = Upstream::start(|visit| {
        visit.request_head();
        visit.write("HTTP/1.1 413 Too Large\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbig!");
    });
    let relay = relay::<G>(kind, &upstream.origin());
    let mut client = relay.connect();
    client.send(relay.post("Content-Length: 67108864"));
    let block = vec![b'x'; 1 << 20];
    let mut sent = 0;
    // A client that reads only when it has sent everything is the hard case.
    while sent < 64 && std::io::Write::write_all(&mut client.stream, &block).is_ok() {
        sent += 1;
    }
    let answer = client.answer();
    assert_eq!((answer.status, answer.text().as_str(), sent), (413, "big!", 64));
    upstream.wait("the upstream connection ends", |ledger| ledger.live == 0);
}

pub fn socket_file_is_removed<G: RelayGuards>() {
    let directory = tempfile::tempdir().expect("directory");
    let path = directory.path().join("relay.sock");
    instance_on::<G>(listen_with::<G>(&path).expect("listen"), "http://127.0.0.1:9").join().expect("served");
    assert!(!path.exists());
}

pub fn socket_is_private<G: RelayGuards>() {
    let directory = tempfile::tempdir().expect("directory");
    let path = directory.path().join("relay.sock");
    let _listener = listen_with::<G>(&path).expect("listen");
    let mode = std::fs::metadata(&path).expect("metadata").permissions().mode();
    assert_eq!(mode & 0o7777, 0o600);
    UnixStream::connect(&path).expect("its owner connects");
}

/// Looks at the file all the while that sockets come and go.
pub fn socket_is_never_wider<G: RelayGuards>() {
    let directory = tempfile::tempdir().expect("directory");
    let path = directory.path().join("relay.sock");
    const SEEN: u32 = 0o1_000_000;
    let (stop, seen) = (AtomicBool::new(false), AtomicU32::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                if let Ok(metadata) = std::fs::symlink_metadata(&path) {
                    let wider = metadata.permissions().mode() & 0o7777 & !0o600;
                    seen.fetch_or(SEEN | wider, Ordering::Relaxed);
                }
            }
        });
        for round in 0..200_000 {
            drop(listen_with::<G>(&path).expect("listen"));
            let seen = seen.load(Ordering::Relaxed);
            if seen > SEEN || (round >= 5000 && seen == SEEN) {
                break;
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(seen.into_inner(), SEEN, "the racing thread saw the file, and only with mode 0600");
}

#[test]
fn a_client_that_leaves_takes_the_upstream_connection_along() {
    for state in STATES {
        for_both(|kind| leaving_client_ends_the_upstream_connection::<AllUp>(kind, state));
    }
}

#[test]
fn a_relay_that_shuts_down_takes_every_connection_along() {
    for state in STATES {
        for_both(|kind| shutdown_ends_every_connection::<AllUp>(kind, state));
    }
}

#[test]
fn an_answer_that_was_cut_short_looks_cut_short_and_the_next_request_works() {
    for_both(truncated_answer_looks_truncated::<AllUp>);
}

#[test]
fn an_upstream_that_dies_gets_the_request_once_and_the_client_502() {
    for_both(dead_upstream_is_502_and_sent_once::<AllUp>);
}

#[test]
fn a_client_that_has_finished_sending_still_gets_a_mebibyte() {
    for_both(half_closed_client_gets_its_answer::<AllUp>);
}

#[test]
fn an_early_answer_reaches_a_client_that_sends_64_mebibytes_first() {
    for_both(early_answer_reaches_a_client_that_still_sends::<AllUp>);
}

#[test]
fn the_sockets_file_goes_with_the_relay() {
    socket_file_is_removed::<AllUp>();
}

#[test]
fn the_socket_is_for_its_owner_only() {
    socket_is_private::<AllUp>();
    socket_is_never_wider::<AllUp>();
}

#[test]
fn a_half_closed_client_that_sent_half_a_body_is_ended() {
    for kind in BOTH {
        let (upstream, _relay, mut client) = bring_into::<AllUp>(kind, State::IncompleteBody);
        client.half_close();
        let answer = client.try_answer();
        assert!(answer.is_none_or(|answer| answer.status == 400));
        upstream.wait("the upstream connection ends", |ledger| ledger.live == 0);
        assert_eq!(upstream.ledger().requests.len(), 0);
    }
}

#[test]
fn the_log_tells_who_left_first() {
    let (upstream, relay, client) = bring_into::<AllUp>(Kind::Provider, State::MidStream);
    drop(client);
    upstream.wait("the upstream connection ends", |ledger| ledger.live == 0);
    relay.wait_for_line("provider relay cancelled a request: its client is gone");
    let upstream = Upstream::saying(CUTS[0]);
    let relay = crate::running::relay::<AllUp>(Kind::Instance, &upstream.origin());
    relay.connect().ask(relay.get());
    relay.wait_for_line("instance relay cut an answer short: its upstream is gone");
}

#[test]
fn a_relay_with_nothing_to_do_stops_at_once() {
    let started = Instant::now();
    let mut relay = relay::<AllUp>(Kind::Instance, "http://127.0.0.1:9");
    let _idle = relay.connect();
    relay.stop();
    assert!(started.elapsed() < Duration::from_secs(10));
    assert!(impatiently(|| std::fs::metadata(&relay.path)).is_err());
}

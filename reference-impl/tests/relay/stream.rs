//! Bytes go through as they come, all of them, and no more of them are held than a few buffers (catalogue L03, L09).

use std::io::Write;
use std::sync::{Mutex, mpsc};

use watertight_reference::guards::{AllUp, RelayGuards};

use crate::running::{BOTH, Kind, for_both, relay};
use crate::upstream::Upstream;

/// What a stalled peer may cost: the kernel's buffers on both sides, and the relay's own.
const HELD: u64 = 24 << 20;

fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_u32;
    let mut bytes = Vec::with_capacity(len + 4);
    while bytes.len() < len {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        bytes.extend(state.to_le_bytes());
    }
    bytes.truncate(len);
    bytes
}

/// The upstream sends an event only when the client has read the one before.
pub fn events_arrive_one_by_one<G: RelayGuards>(kind: Kind) {
    let (read, events) = mpsc::channel::<()>();
    let events = Mutex::new(events);
    let upstream = Upstream::start(move |visit| {
        visit.request();
        visit.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
        for number in 0..10 {
            visit.write(format!("d\r\ndata: event-{number}\r\n"));
            if events.lock().expect("events").recv().is_err() {
                return;
            }
        }
        visit.write("0\r\n\r\n");
        visit.until_closed();
    });
    let relay = relay::<G>(kind, &upstream.origin());
    let mut client = relay.connect();
    client.send(relay.post("Content-Length: 0"));
    assert_eq!(client.head().expect("head").header("content-type"), Some("text/event-stream"));
    for number in 0..10 {
        let expected = format!("data: event-{number}");
        let mut event = Vec::new();
        while event.len() < expected.len() {
            event.extend(client.chunk().expect("event"));
        }
        assert_eq!(event, expected.as_bytes());
        read.send(()).expect("upstream");
    }
    assert_eq!(client.chunk().expect("last chunk"), b"");
}

/// The upstream sees what the client has sent before the client sends more.
pub fn request_arrives_piece_by_piece<G: RelayGuards>(kind: Kind) {
    let (seen, pieces) = mpsc::channel();
    let seen = Mutex::new(seen);
    let upstream = Upstream::start(move |visit| {
        visit.request_head();
        let mut got = Vec::new();
        while !got.ends_with(b"end") {
            let Some(piece) = visit.piece() else { return };
            got.extend(piece);
            let _ = seen.lock().expect("seen").send(());
        }
        visit.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    });
    let relay = relay::<G>(kind, &upstream.origin());
    let mut client = relay.connect();
    client.send(relay.post("Content-Length: 11"));
    for piece in ["one ", "two ", "end"] {
        client.send(piece);
        pieces.recv_timeout(crate::running::patience()).expect("the upstream sees each piece");
    }
    assert_eq!(client.answer().text(), "ok");
}

pub fn unread_answer_is_not_buffered<G: RelayGuards>(kind: Kind) {
    let total = 256 << 20;
    let upstream = Upstream::start(move |visit| {
        visit.request();
        visit.write(format!("HTTP/1.1 200 OK\r\nContent-Length: {total}\r\n\r\n"));
        visit.pour(total);
        visit.until_closed();
    });
    let relay = relay::<G>(kind, &upstream.origin());
    let mut client = relay.connect();
    client.send(relay.get());
    upstream.wait("bytes flow", |ledger| ledger.poured > 0);
    // Full when nothing moves while another client's whole request goes through the same runtime.
    let mut poured = 0;
    loop {
        let now = upstream.ledger().poured;
        assert!(now < HELD, "{now} bytes are held for a client that does not read");
        if now == poured {
            break;
        }
        poured = now;
        let other = Upstream::ok();
        let second = crate::running::relay::<AllUp>(kind, &other.origin());
        for _ in 0..20 {
            assert_eq!(second.connect().ask(second.get()).status, 200);
        }
    }
}

#[test]
fn events_come_through_one_by_one() {
    for_both(events_arrive_one_by_one::<AllUp>);
}

#[test]
fn a_request_goes_up_piece_by_piece() {
    for_both(request_arrives_piece_by_piece::<AllUp>);
}

#[test]
fn an_answer_that_nobody_reads_stays_with_the_upstream() {
    for_both(unread_answer_is_not_buffered::<AllUp>);
}

#[test]
fn bodies_of_32_mebibytes_arrive_byte_for_byte_in_both_directions() {
    let sent = noise(32 << 20);
    for kind in BOTH {
        for chunked in [false, true] {
            let upstream = Upstream::start(move |visit| {
                let Some(request) = visit.request() else { return };
                let body = request.body;
                if chunked {
                    visit.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
                    for part in body.chunks(100_001) {
                        visit.write(format!("{:x}\r\n", part.len()));
                        visit.write(part);
                        visit.write("\r\n");
                    }
                    visit.write("0\r\n\r\n");
                } else {
                    visit.write(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len()));
                    visit.write(&body);
                }
                visit.until_closed();
            });
            let relay = relay::<AllUp>(kind, &upstream.origin());
            let mut client = relay.connect();
            let mut writer = client.stream.try_clone().expect("clone");
            let head = relay.post(if chunked { "Transfer-Encoding: chunked" } else { "Content-Length: 33554432" });
            let answer = std::thread::scope(|scope| {
                scope.spawn(|| {
                    writer.write_all(head.as_bytes()).expect("head");
                    for part in sent.chunks(65_537) {
                        if chunked {
                            write!(writer, "{:X}\r\n", part.len()).expect("size");
                        }
                        writer.write_all(part).expect("part");
                        if chunked {
                            writer.write_all(b"\r\n").expect("end");
                        }
                    }
                    if chunked {
                        writer.write_all(b"0\r\n\r\n").expect("end");
                    }
                });
                client.answer()
            });
            assert!(answer.complete && answer.body == sent, "{kind:?} chunked {chunked}: {} bytes", answer.body.len());
        }
    }
}

#[test]
fn a_declared_length_costs_nothing_until_it_comes() {
    let upstream = Upstream::silent();
    let relay = relay::<AllUp>(Kind::Provider, &upstream.origin());
    let clients: Vec<_> = (0..64)
        .map(|_| {
            let mut client = relay.connect();
            client.send(relay.post("Content-Length: 10737418240"));
            client
        })
        .collect();
    upstream.wait("all are there", |ledger| ledger.live == 64);
    drop(clients);
    upstream.wait("all are gone", |ledger| ledger.live == 0);
}

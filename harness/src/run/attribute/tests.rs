//! Whose each thing seen outside is.

use super::*;
use crate::{planner::udp, site::address};

const METADATA: SocketAddr = at([169, 254, 169, 254], 80);
/// Where several attempts of one launch go.
const SHARED: SocketAddr = at([9, 0, 0, 1], 443);
const ELSEWHERE: SocketAddr = at([9, 0, 0, 2], 443);

const fn at([a, b, c, d]: [u8; 4], port: u16) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(a, b, c, d)), port)
}

fn run() -> RunNonce {
    RunNonce::from_bytes([7; 32])
}

/// A launch that began at that time, in microseconds, and went on for 100.
fn launch(id: &str, began: u64, attempts: &[(&str, Attempt)]) -> Launch {
    let mut launch = Launch::not_made(id, LaunchKind::Target);
    launch.outside.insert(BEGAN_AT.into(), began.to_string());
    launch.micros = 100;
    for (name, attempt) in attempts {
        let (nonce, attempt) = (run().attempt(id, name), attempt.clone());
        let (evil, began, observation, sightings) = (None, true, None, vec![]);
        let record = AttemptRecord { nonce, attempt, evil, began, observation, sightings };
        launch.attempts.insert((*name).to_owned(), record);
    }
    launch
}

fn connect(to: SocketAddr) -> Attempt {
    Attempt::Connect { transport: Stream::Tcp, to, source_port: None }
}

fn sighting(to: SocketAddr, nonces: Vec<Nonce>, event: Event) -> Sighting {
    Sighting { seq: 1, micros: 50, fixture: "canary".into(), nonces, to: Some(to), from: "host0".into(), event }
}

fn syn(micros: u64) -> Sighting {
    let event = Event::Frame { link: "host0".into(), len: 74, protocol: "tcp".into() };
    Sighting { micros, ..sighting(METADATA, vec![], event) }
}

fn accepted(connection: u64) -> Event {
    Event::Accepted { connection }
}

fn received(connection: Option<u64>) -> Event {
    Event::Received { connection, len: 1, head: "x".into() }
}

/// In which launches, by index, one of these is an attempt's.
fn launches_with(mut launches: Vec<Launch>, sightings: Vec<Sighting>) -> Vec<usize> {
    attribute(&mut launches, sightings, &run());
    let has = |launch: &Launch| launch.attempts.values().any(|record| !record.sightings.is_empty());
    launches.iter().enumerate().filter(|(_, launch)| has(launch)).map(|(index, _)| index).collect()
}

/// How many of these belong to each attempt of a launch, and to none.
fn shares(attempts: &[(&str, Attempt)], sightings: Vec<Sighting>) -> (Vec<(String, usize)>, u64) {
    let mut launches = [launch("target", 0, attempts)];
    let rest = attribute(&mut launches, sightings, &run());
    let records = launches[0].attempts.iter();
    (records.map(|(name, record)| (name.clone(), record.sightings.len())).collect(), rest.count)
}

fn share(name: &str, count: usize) -> (String, usize) {
    (name.to_owned(), count)
}

#[test]
fn only_a_nonce_tells_whose_connection_to_an_origin_it_is() {
    let connect = |to: IpAddr| destination(&connect(SocketAddr::new(to, 80)));
    for origin in [address::PROVIDER_V4.into(), address::INSTANCE_V6.into()] {
        assert_eq!(connect(origin), None);
    }
    assert!(connect(Ipv4Addr::new(203, 0, 113, 1).into()).is_some());
}

#[test]
fn a_lone_syn_to_an_address_that_every_launch_shares_is_that_launch_s_in_whose_time_it_came() {
    let launches = |names: &[&str]| -> Vec<Launch> {
        let attempts: Vec<_> = names.iter().map(|name| (*name, connect(METADATA))).collect();
        [("before", 0), ("target", 1_000), ("after", 2_000)].map(|(id, began)| launch(id, began, &attempts)).into()
    };
    assert_eq!(launches_with(launches(&["metadata"]), vec![syn(1_050)]), [1]);
    assert_eq!(launches_with(launches(&["metadata"]), vec![syn(2_050)]), [2]);
    assert_eq!(launches_with(launches(&["metadata"]), vec![syn(500)]), [0; 0], "between launches it is nobody's");
    assert_eq!(launches_with(launches(&["metadata", "another"]), vec![syn(1_050)]), [0; 0], "two attempts share it");
}

#[test]
fn a_connection_and_a_datagram_to_the_same_place_belong_to_different_attempts() {
    let attempts = [("connection", connect(SHARED)), ("datagram", udp(SHARED))];
    let frame = |protocol: &str| Event::Frame { link: "host0".into(), len: 74, protocol: protocol.into() };
    let question = |over: &str| Event::Question { name: "x".into(), qtype: 1, over: over.into() };
    for event in [accepted(1), received(Some(1)), question("tcp"), frame("tcp"), frame("tcp-syn")] {
        let came = shares(&attempts, vec![sighting(SHARED, vec![], event.clone())]);
        assert_eq!(came, (vec![share("connection", 1), share("datagram", 0)], 0), "{event:?}");
    }
    for event in [received(None), question("udp"), frame("udp")] {
        let came = shares(&attempts, vec![sighting(SHARED, vec![], event.clone())]);
        assert_eq!(came, (vec![share("connection", 0), share("datagram", 1)], 0), "{event:?}");
    }
    let neither = shares(&attempts, vec![sighting(SHARED, vec![], frame("icmp"))]);
    assert_eq!(neither, (vec![share("connection", 0), share("datagram", 0)], 1));
}

#[test]
fn what_belongs_to_a_connection_goes_where_the_nonce_in_its_bytes_says_and_only_else_by_its_place() {
    let attempts = [("another", connect(ELSEWHERE)), ("place", connect(SHARED))];
    let nonce = run().attempt("target", "another");
    // The first and the last event of a connection carry no bytes.
    let with_bytes = |connection, nonces| {
        let closed = Event::Closed { connection, by: "peer".into() };
        let parts = [(vec![], accepted(connection)), (nonces, received(Some(connection))), (vec![], closed)];
        parts.map(|(nonces, event)| sighting(SHARED, nonces, event)).to_vec()
    };
    let named = shares(&attempts, with_bytes(1, vec![nonce]));
    assert_eq!(named, (vec![share("another", 3), share("place", 0)], 0));
    let silent = shares(&attempts, with_bytes(1, vec![]));
    assert_eq!(silent, (vec![share("another", 0), share("place", 3)], 0));
    let both = shares(&attempts, [with_bytes(1, vec![nonce]), with_bytes(2, vec![])].concat());
    assert_eq!(both, (vec![share("another", 3), share("place", 3)], 0), "one connection says nothing of the next");
}

#[test]
fn what_reaches_the_listener_of_inherited_descriptors_is_theirs_by_nonce_alone() {
    let attempts = [("descriptors", Attempt::Descriptors { reach: SHARED })];
    let of = |nonces, event| shares(&attempts, vec![sighting(SHARED, nonces, event)]);
    for event in [accepted(1), received(None)] {
        let came = of(vec![], event.clone());
        assert_eq!(came, (vec![share("descriptors", 0)], 1), "whoever finds it, {event:?}, has no descriptor");
    }
    let nonce = run().attempt("target", "descriptors");
    assert_eq!(of(vec![nonce], received(None)), (vec![share("descriptors", 1)], 0));
}

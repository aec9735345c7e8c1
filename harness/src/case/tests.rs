//! What a rule reads of the evidence, and what is recorded when it is not there.

use std::net::Ipv4Addr;

use watertight_probe::{
    nonce::RunNonce,
    observation::{Ended, Observation},
    plan::{Endpoint, Step},
};

use super::*;

fn request(fixture: &str) -> Sighting {
    Sighting {
        seq: 1,
        micros: 1,
        fixture: fixture.into(),
        nonces: vec![],
        to: None,
        from: "relay".into(),
        event: Event::Request {
            connection: 1,
            request: 1,
            method: "GET".into(),
            target: "/".into(),
            version: "1.1".into(),
            headers: vec![],
        },
    }
}

fn evidence(outcome: Option<Outcome>, sightings: Vec<Sighting>) -> Evidence {
    let record = AttemptRecord {
        nonce: RunNonce::from_bytes([1; 32]).attempt("target", "x::y/one"),
        attempt: Attempt::Exchange {
            to: Endpoint::Tcp((Ipv4Addr::LOCALHOST, 8765).into()),
            steps: vec![Step::ReadHead, Step::ReadToEnd],
        },
        evil: None,
        began: true,
        observation: outcome.map(|outcome| Observation { attempt: "x::y/one".into(), outcome, micros: 1, cut: false }),
        sightings,
    };
    let launch = Launch {
        id: "target".into(),
        kind: LaunchKind::Target,
        argv: vec![],
        hello: None,
        done: true,
        errors: vec![],
        attempts: [("x::y/one".to_owned(), record)].into(),
        processes: vec![],
        sockets: vec![],
        left: vec![],
        outside: Default::default(),
        exit: None,
        stderr: String::new(),
        micros: 1,
    };
    Evidence { launches: vec![launch], ..Evidence::default() }
}

fn exchanged() -> Outcome {
    let exchange = Exchange { status: Some(200), ended: Ended::Complete, steps_done: 2, ..Exchange::default() };
    Outcome::Found { facts: Facts::Exchange { exchange } }
}

#[test]
fn an_exchange_is_read_as_it_was_had() {
    let evidence = evidence(Some(exchanged()), vec![]);
    let mut case = Case::new("x::y", &evidence);
    let answer = case.exchange("one");
    assert_eq!((answer.status, answer.ended, case.steps("one")), (Some(200), Ended::Complete, 2));
    assert_eq!(case.ruling, Ruling::default());
}

#[test]
fn an_exchange_that_could_not_be_had_is_empty_and_says_why() {
    let evidence = evidence(Some(Outcome::Refused { call: "connect".into(), errno: libc::ECONNREFUSED }), vec![]);
    let answer = Case::new("x::y", &evidence).exchange("one");
    assert_eq!(answer.status, None);
    assert_eq!(answer.stopped.as_deref(), Some("connect: ECONNREFUSED"));
}

#[test]
fn what_is_not_there_is_recorded_as_missing_each_time() {
    let empty = Evidence::default();
    let silent = evidence(None, vec![]);
    for (evidence, name) in [(&empty, "one"), (&silent, "one"), (&silent, "other")] {
        let reads: [fn(&mut Case<'_>, &str); 6] = [
            |case, name| assert_eq!(case.exchange(name), Exchange::default()),
            |case, name| assert!(case.requests(name, "provider").is_empty()),
            |case, name| assert!(case.facts_in(LaunchKind::Target, name).is_none()),
            |case, name| assert!(case.arrived(name).is_empty()),
            |case, name| assert!(case.outcome(name).is_none()),
            |case, _| assert!(case.witnessed().is_empty()),
        ];
        for read in reads {
            let mut case = Case::new("x::y", evidence);
            read(&mut case, name);
            assert!(!case.ruling.missing.is_empty());
        }
        let mut case = Case::new("x::y", evidence);
        assert!(case.launch_named("ends-exit").is_none() && case.launch(LaunchKind::Second).is_none());
        assert_eq!(case.ruling.missing.len(), 2);
    }
}

#[test]
fn only_requests_at_the_named_fixture_count() {
    let mut seen = vec![request("provider"), request("provider"), request("instance"), request("provider")];
    seen[3].event = Event::Accepted { connection: 1 };
    let evidence = evidence(Some(exchanged()), seen);
    let mut case = Case::new("x::y", &evidence);
    assert_eq!(case.requests("one", "provider").len(), 2);
    assert_eq!(case.requests("one", "instance").len(), 1);
    assert_eq!(case.arrived("one").len(), 4);
}

#[test]
fn an_attempt_is_found_in_whichever_launch_of_the_kind_made_it() {
    let mut evidence = evidence(Some(exchanged()), vec![]);
    let mut first = evidence.launches[0].clone();
    first.attempts.clear();
    evidence.launches.insert(0, first);
    let mut case = Case::new("x::y", &evidence);
    assert_eq!(case.exchange("one").status, Some(200));
    assert!(case.ruling.missing.is_empty());
}

#[test]
fn only_what_does_not_hold_is_recorded() {
    let evidence = Evidence::default();
    let mut case = Case::new("x::y", &evidence);
    case.require(true, "held");
    case.control(true, "held");
    assert_eq!(case.ruling, Ruling::default());
    case.require(false, "fault");
    case.control(false, "control");
    case.breach("breach");
    let Ruling { breaches, faults, control_faults, missing, notes, looked_outside } = case.ruling;
    assert_eq!(
        (breaches, faults, control_faults),
        (vec!["breach".into()], vec!["fault".into()], vec!["control".into()])
    );
    assert!(missing.is_empty() && notes.is_empty() && !looked_outside);
}

#[test]
fn a_note_is_kept_and_judges_nothing() {
    let evidence = Evidence::default();
    let mut case = Case::new("x::y", &evidence);
    case.note("worth telling");
    assert_eq!(case.ruling, Ruling { notes: vec!["worth telling".into()], ..Ruling::default() });
}

#[test]
fn a_session_is_read_as_it_was_had_and_is_empty_where_there_was_none() {
    let call = McpCall { tool: "query".into(), is_error: true, text: "no".into() };
    let facts = Facts::Mcp { tools: vec!["query".into()], calls: vec![call.clone()] };
    let mut had = evidence(Some(Outcome::Found { facts }), vec![]);
    let record = had.launches[0].attempts.get_mut("x::y/one").expect("recorded");
    record.attempt = Attempt::Mcp { instance: "/run/instance.sock".into() };
    assert_eq!(Case::new("x::y", &had).mcp("one"), (vec!["query".into()], vec![call]));
    had.launches[0].attempts.get_mut("x::y/one").expect("recorded").observation =
        evidence(Some(Outcome::TimedOut { step: "read".into() }), vec![]).launches[0].attempts["x::y/one"]
            .observation
            .clone();
    let mut case = Case::new("x::y", &had);
    assert_eq!(case.mcp("one"), (vec![], vec![]));
    assert_eq!(case.ruling.faults.len(), 1);
}

#[test]
fn a_look_around_that_did_not_come_to_its_end_says_nothing() {
    let mut timed_out = evidence(Some(Outcome::TimedOut { step: "netlink".into() }), vec![]);
    timed_out.launches[0].attempts.get_mut("x::y/one").expect("recorded").attempt = Attempt::Network;
    let mut case = Case::new("x::y", &timed_out);
    assert!(case.facts_in(LaunchKind::Target, "one").is_none());
    assert_eq!(case.ruling.control_faults, ["one: timed out at netlink"]);
    assert!(case.ruling.faults.is_empty());
}

#[test]
fn the_launch_of_an_attempt_is_the_one_that_made_it() {
    let mut evidence = evidence(Some(exchanged()), vec![]);
    let mut first = evidence.launches[0].clone();
    first.attempts.clear();
    first.id = "first".into();
    evidence.launches.insert(0, first);
    let mut case = Case::new("x::y", &evidence);
    assert_eq!(case.launch_of("one").map(|launch| launch.id.as_str()), Some("target"));
    assert!(case.ruling.missing.is_empty());
    assert!(case.launch_of("other").is_none());
    assert_eq!(case.ruling.missing, ["x::y/other was made in no launch of the target"]);
    assert_eq!(case.launch_named("first").map(|launch| launch.id.as_str()), Some("first"));
}

#[test]
fn the_routes_are_those_that_are_not_declared_absent() {
    let mut evidence = Evidence::default();
    assert_eq!(Case::new("x::y", &evidence).routes(), Capability::ROUTES);
    evidence.absent.insert("provider".into(), "it has none".into());
    assert_eq!(Case::new("x::y", &evidence).routes(), [Capability::Instance]);
}

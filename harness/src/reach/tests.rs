//! What counts as getting through, fact by fact.

use std::net::Ipv4Addr;

use watertight_probe::{
    nonce::RunNonce,
    observation::{Descriptor, Exchange, McpCall, Observation},
    plan::{Endpoint, NetworkChange, UnixAddress, UnixKind},
    sighting::{Event, Sighting},
};

use super::*;

fn record(outcome: Option<Outcome>, seen: bool) -> AttemptRecord {
    let sighting = Sighting {
        seq: 1,
        micros: 1,
        fixture: "canary-tcp".into(),
        nonces: vec![],
        to: None,
        from: "inside".into(),
        event: Event::Accepted { connection: 1 },
    };
    AttemptRecord {
        nonce: RunNonce::from_bytes([1; 32]).attempt("l", "a"),
        attempt: Attempt::Descriptors { reach: (Ipv4Addr::LOCALHOST, 1).into() },
        evil: None,
        began: true,
        observation: outcome.map(|outcome| Observation { attempt: "a".into(), outcome, micros: 1, cut: false }),
        sightings: if seen { vec![sighting] } else { vec![] },
    }
}

/// An attempt that can find such facts.
fn maker(facts: &Facts) -> Attempt {
    let reach = (Ipv4Addr::LOCALHOST, 1).into();
    let path = || "/x".to_owned();
    match facts {
        Facts::SocketMade => Attempt::Socket { family: 40, kind: 1, protocol: 0 },
        Facts::DescriptorsReceived { .. } => {
            Attempt::Unix { address: UnixAddress::Path(path()), kind: UnixKind::Stream }
        }
        Facts::Descriptors { .. } => Attempt::Descriptors { reach },
        Facts::Network { .. } => Attempt::Network,
        Facts::Changed => Attempt::ChangeNetwork { change: NetworkChange::LinkDown },
        Facts::Privileges { .. } => Attempt::Privileges,
        Facts::Namespaces { .. } => {
            Attempt::NewNamespaces { user: true, network: false, mount: false, by_clone3: false, reach }
        }
        Facts::Identity { .. } => Attempt::SetUserId { path: path() },
        Facts::File { .. } => Attempt::Read { path: path() },
        Facts::Written => Attempt::Write { path: path() },
        Facts::Scanned { .. } => Attempt::Scan { needles: vec![], roots: vec![] },
        Facts::Exchange { .. } => Attempt::Exchange { to: Endpoint::Tcp(reach), steps: vec![] },
        Facts::Ports { .. } => Attempt::Ports { of: Ipv4Addr::LOCALHOST.into(), from: 1, to: 2, known: false },
        Facts::Mcp { .. } => Attempt::Mcp { instance: path() },
        Facts::Lingering { .. } => Attempt::Linger { comm: path(), holding: None },
        Facts::Mounted => Attempt::Mount { over: path(), new_api: false },
        Facts::Granted => Attempt::Open { path: path(), read: false },
        Facts::ProxyVariables { .. } => Attempt::ProxyVariables,
    }
}

/// Every kind of fact, as got through and, where it can be, as not.
fn facts() -> Vec<(Facts, bool)> {
    let open = vec![Descriptor { fd: 7, kind: "pipe".into(), usable: false }];
    let identity = |ruid, euid, effective| Facts::Identity { ruid, euid, no_new_privs: true, effective };
    let scanned = |found| Facts::Scanned { found, places: 1, bytes: 1, complete: true };
    let namespaces = |reached| Facts::Namespaces { reached, tries: vec![] };
    let file = |has_nonce| Facts::File { len: 1, sha256: String::new(), has_nonce };
    vec![
        (Facts::SocketMade, true),
        (Facts::Changed, true),
        (Facts::Mounted, true),
        (Facts::Granted, true),
        (Facts::Written, true),
        (Facts::Lingering { pid: 2 }, true),
        (Facts::DescriptorsReceived { count: 1 }, true),
        (Facts::DescriptorsReceived { count: 0 }, false),
        (Facts::Descriptors { open }, true),
        (Facts::Descriptors { open: vec![] }, false),
        (namespaces(true), true),
        (namespaces(false), false),
        (identity(1777, 0, 0), true),
        (identity(1777, 1777, 1), true),
        (identity(1777, 1777, 0), false),
        (file(true), true),
        (file(false), false),
        (scanned(vec![("key".into(), "environ".into())]), true),
        (scanned(vec![]), false),
        (Facts::Ports { open: vec![80], tried: 2, known: None }, true),
        (Facts::Ports { open: vec![], tried: 2, known: None }, false),
        (Facts::Ports { open: vec![7], tried: 2, known: Some(7) }, false),
        (Facts::Network { links: vec![], addresses: vec![], routes: vec![] }, false),
        (Facts::Privileges { of: vec![] }, false),
        (Facts::Exchange { exchange: Exchange::default() }, false),
        (
            Facts::Mcp {
                tools: vec![],
                calls: vec![McpCall { tool: "t".into(), is_error: false, text: String::new() }],
            },
            false,
        ),
    ]
}

#[test]
fn each_fact_got_through_or_did_not() {
    for (facts, expected) in facts() {
        let mut record = record(Some(Outcome::Found { facts: facts.clone() }), false);
        record.attempt = maker(&facts);
        let reach = of(&record, &[]);
        assert_eq!(matches!(reach, Reach::Inside(_)), expected, "{facts:?}: {reach:?}");
        assert!(expected || reach == Reach::Nowhere, "{facts:?}: {reach:?}");
    }
}

#[test]
fn facts_of_another_kind_than_the_attempts_show_nothing_but_a_liar() {
    for (facts, _) in facts() {
        for (other, _) in self::facts() {
            let mut record = record(Some(Outcome::Found { facts: facts.clone() }), false);
            record.attempt = maker(&other);
            let foreign = std::mem::discriminant(&facts) != std::mem::discriminant(&other);
            assert_eq!(of(&record, &[]) == Reach::Foreign, foreign, "{facts:?} of {other:?}");
        }
        let mut record = record(Some(Outcome::Found { facts }), false);
        record.attempt = Attempt::Frame;
        assert_eq!(of(&record, &[]), Reach::Foreign, "a frame finds nothing");
    }
}

#[test]
fn what_was_seen_outside_outweighs_every_report_and_none() {
    let reports = facts().into_iter().map(|(facts, _)| Some(Outcome::Found { facts }));
    let refused = Some(Outcome::Refused { call: "connect".into(), errno: libc::EPERM });
    for outcome in reports.chain([None, refused]) {
        assert_eq!(of(&record(outcome, true), &[]), Reach::Outside);
    }
}

#[test]
fn only_a_canarys_own_secret_counts_as_its_banner() {
    let heard = |head: &str| Some(Outcome::Heard { len: 9, sha256: String::new(), head: head.into() });
    let banners = ["one-secret".to_owned(), "two-secret".to_owned()];
    assert_eq!(of(&record(heard("220 two-secret hello"), false), &banners), Reach::Banner);
    assert_eq!(of(&record(heard("220 two-secre"), false), &banners), Reach::Nowhere);
    assert_eq!(of(&record(heard("220 two-secret"), false), &[]), Reach::Nowhere);
    assert_eq!(of(&record(heard("HTTP/1.1 403 Forbidden"), false), &banners), Reach::Nowhere);
}

#[test]
fn no_report_and_every_report_of_an_end_without_facts_is_nowhere() {
    let step = || "read".to_owned();
    for outcome in [
        None,
        Some(Outcome::Refused { call: step(), errno: 0 }),
        Some(Outcome::Killed { signal: 31 }),
        Some(Outcome::TimedOut { step: step() }),
        Some(Outcome::Silent { step: step() }),
        Some(Outcome::Absent { what: step(), errno: 2 }),
        Some(Outcome::Broken { message: step() }),
    ] {
        assert_eq!(of(&record(outcome.clone(), false), &["banner".into()]), Reach::Nowhere, "{outcome:?}");
    }
}

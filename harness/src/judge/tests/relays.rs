//! Rules about relays against evidence as a liar, a hanging relay or a leak would leave it.

use watertight_probe::{
    observation::{Ended, Exchange, Facts},
    plan::Attempt,
    sighting::{Event, Sighting},
};
use watertight_reports::{
    evidence::{AttemptRecord, Evidence, LaunchKind},
    results::Verdict,
};

use super::{
    super::check as judge,
    evidence::{found, items, layout, recorded, run, sighting, target},
};
use crate::{
    check::{Check, Item},
    checks::{auth, cancel, origin, route},
};

pub fn named(checks: &[&'static Check], id: &str) -> &'static Check {
    checks.iter().find(|check| check.id == id).expect("a check with this id")
}

pub fn verdict(check: &Check, evidence: &Evidence) -> Verdict {
    judge(check, &items(check, &layout(), LaunchKind::Target), evidence).0.verdict
}

/// Each attempt had this exchange, and this was seen of it outside.
fn exchanged(check: &Check, of: impl Fn(&str) -> Exchange, seen: impl Fn(&str) -> Vec<Sighting>) -> Evidence {
    let mut evidence = run(check, |_, item: &Item| Some(had(item, of(&item.name), seen(&item.name))));
    evidence.secrets.insert("provider-key".into(), KEY.into());
    target(&mut evidence).outside.insert("bearer".into(), "the-bearer".into());
    evidence
}

const KEY: &str = "the-real-key";

/// All steps done, each within a millisecond.
fn had(item: &Item, exchange: Exchange, seen: Vec<Sighting>) -> AttemptRecord {
    let Attempt::Exchange { steps, .. } = &item.attempt else { panic!("{} is no exchange", item.name) };
    let steps_done = steps.len() as u32;
    let step_micros = if exchange.step_micros.is_empty() { vec![1_000; steps.len()] } else { exchange.step_micros };
    let exchange = Exchange { steps_done, step_micros, ..exchange };
    recorded(item.attempt.clone(), Some(found(Facts::Exchange { exchange })), seen)
}

fn answer(status: u16) -> Exchange {
    Exchange { status: Some(status), ended: Ended::Complete, ..Exchange::default() }
}

fn fixture(name: &str) -> &'static str {
    if name.starts_with("instance") { "instance" } else { "provider" }
}

fn event(fixture: &str, micros: u64, event: Event) -> Sighting {
    Sighting { micros, event, ..sighting(fixture) }
}

fn request(fixture: &str, headers: &[(&str, &str)]) -> Sighting {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let (method, target, version) = ("GET".into(), "/".into(), "HTTP/1.1".into());
    event(fixture, 10, Event::Request { connection: 4, request: 1, method, target, version, headers })
}

#[test]
fn a_cancelled_request_must_be_seen_to_end_outside_while_the_workload_runs() {
    let closed = |connection, micros| Some(Event::Closed { connection, by: "peer".into() }).map(|one| (micros, one));
    for id in ["CANCEL-1", "CANCEL-2", "CANCEL-3"] {
        let check = named(cancel::CHECKS, id);
        for (end, expected) in [
            (closed(4, 20), Verdict::Pass),
            (closed(4, 99), Verdict::Fail),
            (closed(5, 20), Verdict::Fail),
            (None, Verdict::Fail),
        ] {
            let seen = |name: &str| {
                let end = end.clone().map(|(micros, end)| event(fixture(name), micros, end));
                [request(fixture(name), &[])].into_iter().chain(end).collect()
            };
            let mut evidence = exchanged(check, |_| answer(200), seen);
            target(&mut evidence).outside.insert("done_at".into(), "50".into());
            assert_eq!(verdict(check, &evidence), expected, "{id}: {end:?}");
        }
        let evidence = exchanged(check, |_| answer(200), |_| vec![]);
        assert_eq!(verdict(check, &evidence), Verdict::Inconclusive, "{id}: the origin never had the request");
    }
}

#[test]
fn a_cut_response_must_end_within_its_time_however_long_earlier_steps_took() {
    let check = named(cancel::CHECKS, "CANCEL-5");
    for (reading, earlier, expected) in
        [(1_000, 1_000, Verdict::Pass), (600_000, 1_000, Verdict::Fail), (600_000, 599_000, Verdict::Fail)]
    {
        let mut evidence = exchanged(check, |_| answer(200), |name| vec![request(fixture(name), &[])]);
        for (id, record) in target(&mut evidence).attempts.iter_mut().filter(|(id, _)| !id.ends_with("whole")) {
            let Attempt::Exchange { steps, .. } = &record.attempt else { panic!("{id}") };
            let mut step_micros = vec![earlier; steps.len()];
            step_micros[steps.len() - 2] = reading;
            let steps_done = steps.len() as u32;
            let exchange = Exchange { ended: Ended::Truncated, steps_done, step_micros, ..answer(200) };
            record.observation.as_mut().expect("reported").outcome = found(Facts::Exchange { exchange });
        }
        assert_eq!(verdict(check, &evidence), expected, "{reading} after {earlier}");
    }
}

#[test]
fn a_relay_that_hangs_has_not_refused() {
    let check = named(origin::CHECKS, "ORIGIN-3");
    for (ended, expected) in [
        (Ended::Closed, Verdict::Pass),
        (Ended::Reset, Verdict::Pass),
        (Ended::Truncated, Verdict::Pass),
        (Ended::Open, Verdict::Fail),
    ] {
        let of = |name: &str| {
            if name.ends_with("permitted") { answer(200) } else { Exchange { ended, ..Exchange::default() } }
        };
        let seen = |name: &str| {
            let host = if fixture(name) == "provider" { "203.0.113.10" } else { "203.0.113.20" };
            if name.ends_with("permitted") { vec![request(fixture(name), &[("host", host)])] } else { vec![] }
        };
        assert_eq!(verdict(check, &exchanged(check, of, seen)), expected, "{ended:?}");
    }
}

#[test]
fn bytes_behind_an_upgrade_that_reach_the_origin_fail_as_bytes_and_as_a_request() {
    let check = named(origin::CHECKS, "ORIGIN-6");
    let of = |name: &str| answer(if name.ends_with("permitted") { 200 } else { 400 });
    assert_eq!(verdict(check, &exchanged(check, of, |_| vec![])), Verdict::Pass);
    let host = [("host", "203.0.113.10")];
    let bytes = event("provider", 20, Event::Received { connection: Some(4), len: 40, head: "wt:".into() });
    for more in [bytes, request("provider", &host)] {
        let seen = |name: &str| {
            if name == "provider-websocket" { vec![request("provider", &host), more.clone()] } else { vec![] }
        };
        assert_eq!(verdict(check, &exchanged(check, of, seen)), Verdict::Fail, "{more:?}");
    }
}

#[test]
fn what_goes_upstream_is_judged_only_where_a_request_was_seen_and_the_secrets_are_known() {
    let check = named(auth::CHECKS, "AUTH-4");
    let right = request("provider", &[("authorization", "Bearer the-real-key")]);
    let with = |times: usize| exchanged(check, |_| answer(200), |_| vec![right.clone(); times]);
    assert_eq!(verdict(check, &with(1)), Verdict::Pass);
    assert_eq!(verdict(check, &with(0)), Verdict::Inconclusive);
    assert_eq!(verdict(check, &with(2)), Verdict::Pass, "how often is ROUTE-1's to say");
    let mut unknown = with(1);
    unknown.secrets.clear();
    assert_eq!(verdict(check, &unknown), Verdict::Inconclusive, "without the key nothing is right");
    let mut unread = with(1);
    target(&mut unread).outside.clear();
    assert_eq!(verdict(check, &unread), Verdict::Inconclusive);
    let leaked = request("provider", &[("authorization", "Bearer the-real-key"), ("x-api-key", "the-bearer")]);
    assert_eq!(verdict(check, &exchanged(check, |_| answer(200), |_| vec![leaked.clone()])), Verdict::Fail);
}

#[test]
fn without_the_key_no_credential_of_the_instance_is_taken_for_it() {
    let check = named(origin::CHECKS, "ORIGIN-10");
    let seen = |name: &str| match name {
        "instance-own-credential" => vec![request("instance", &[("authorization", "Bearer the-clients-own")])],
        name => vec![request(fixture(name), &[("accept", "text/plain")])],
    };
    let mut evidence = exchanged(check, |_| answer(200), seen);
    assert_eq!(verdict(check, &evidence), Verdict::Pass);
    evidence.secrets.clear();
    assert_eq!(verdict(check, &evidence), Verdict::Inconclusive);
}

#[test]
fn a_frame_between_workload_and_relay_is_no_request_at_the_provider() {
    let frame = || event("capture", 5, Event::Frame { link: "lo".into(), len: 90, protocol: "tcp".into() });
    for (id, twin) in [("AUTH-1", "right"), ("AUTH-2", "own")] {
        let check = named(auth::CHECKS, id);
        let of = |name: &str| answer(if name == twin { 200 } else { 401 });
        let seen = |name: &str| if name == twin { vec![request("provider", &[])] } else { vec![frame()] };
        let mut evidence = exchanged(check, of, seen);
        evidence.launches.iter_mut().for_each(|launch| {
            launch.outside.insert("bearer".into(), "x".into());
        });
        assert_eq!(verdict(check, &evidence), Verdict::Pass, "{id}");
        let asked = |name: &str| if name == twin { seen(name) } else { vec![frame(), request("provider", &[])] };
        assert_eq!(verdict(check, &exchanged(check, of, asked)), Verdict::Fail, "{id}");
    }
}

#[test]
fn a_body_of_the_right_length_and_another_digest_is_not_the_response() {
    let check = named(route::CHECKS, "ROUTE-7");
    let digest = route::body::digest(1024 * 1024, 7);
    let sent = |name: &str| vec![event(fixture(name), 20, Event::Responded { request: 1, status: 200 })];
    let of = |sha256: &str| {
        let (whole, other) = (digest.clone(), sha256.to_owned());
        move |name: &str| {
            let body_sha256 = if name.ends_with("whole") { whole.clone() } else { other.clone() };
            Exchange { body_len: 1024 * 1024, body_sha256, ..answer(200) }
        }
    };
    assert_eq!(verdict(check, &exchanged(check, of(&digest), sent)), Verdict::Pass);
    assert_eq!(verdict(check, &exchanged(check, of("another"), sent)), Verdict::Fail);
    let unsent = verdict(check, &exchanged(check, of(&digest), |_| vec![]));
    assert_eq!(unsent, Verdict::Inconclusive, "nothing outside says that it was sent");
}

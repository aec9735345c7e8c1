//! Waivers: what is declared absent, what is tried of it, and what stays to be judged.

use std::net::Ipv4Addr;

use watertight_probe::{
    observation::{Exchange, Facts, Outcome},
    plan::{Attempt, Carry, Endpoint, ProxyAt},
};
use watertight_reports::{
    evidence::{AttemptRecord, Evidence, LaunchKind},
    results::{Level, Verdict},
};

use super::{
    super::check as judge,
    evidence::{denied, found, items, launch, layout, recorded, sighting, target},
};
use crate::{
    check::{Capability, Check},
    checks,
    planner::Layout,
    way::{Proxies, Way},
};

fn without(routes: &[Capability]) -> Layout {
    Layout { absent: routes.to_vec(), ..layout() }
}

/// A run against a target without these routes in which each attempt of the target went like this.
fn run(check: &Check, absent: &[Capability], record: impl Fn(Attempt) -> AttemptRecord) -> Evidence {
    let mut evidence = Evidence { launches: vec![launch("target", LaunchKind::Target)], ..Evidence::default() };
    evidence.absent = absent.iter().map(|route| (route.name().to_owned(), "it has no network".to_owned())).collect();
    for item in items(check, &without(absent), LaunchKind::Target) {
        target(&mut evidence).attempts.insert(format!("{}/{}", check.slug, item.name), record(item.attempt));
    }
    evidence
}

fn verdict(check: &Check, absent: &[Capability], evidence: &Evidence) -> Verdict {
    judge(check, &items(check, &without(absent), LaunchKind::Target), evidence).0.verdict
}

fn refused(attempt: Attempt) -> AttemptRecord {
    recorded(attempt, Some(denied(libc::ECONNREFUSED)), vec![])
}

fn waivable() -> Vec<&'static Check> {
    let all: Vec<_> = checks::all().into_iter().filter(|check| !check.waived_by.is_empty()).collect();
    assert!(all.len() > 25, "only {}", all.len());
    all
}

#[test]
fn a_requirement_is_waived_where_all_its_routes_are_declared_absent_and_refused() {
    for check in waivable() {
        let evidence = run(check, check.waived_by, refused);
        assert_eq!(verdict(check, check.waived_by, &evidence), Verdict::NotApplicable, "{}", check.slug);
    }
}

#[test]
fn what_is_declared_absent_and_answers_or_asks_its_origin_fails() {
    let answered = |attempt| recorded(attempt, Some(found(Facts::Exchange { exchange: Exchange::default() })), vec![]);
    let asked = |attempt| recorded(attempt, Some(denied(libc::ECONNREFUSED)), vec![sighting("provider")]);
    for check in waivable() {
        for evidence in [run(check, check.waived_by, answered), run(check, check.waived_by, asked)] {
            assert_eq!(verdict(check, check.waived_by, &evidence), Verdict::Fail, "{}", check.slug);
        }
    }
}

#[test]
fn an_origin_that_was_asked_fails_on_a_dead_target_too() {
    for check in waivable().into_iter().filter(|check| check.level == Level::Must) {
        let mut evidence = run(check, check.waived_by, |attempt| {
            recorded(attempt, Some(denied(libc::ECONNREFUSED)), vec![sighting("provider")])
        });
        target(&mut evidence).done = false;
        assert_eq!(verdict(check, check.waived_by, &evidence), Verdict::Fail, "{}", check.slug);
    }
}

#[test]
fn a_declaration_alone_waives_nothing() {
    for check in waivable() {
        let silent = run(check, check.waived_by, |attempt| recorded(attempt, None, vec![]));
        assert_eq!(verdict(check, check.waived_by, &silent), Verdict::HarnessError, "{}", check.slug);
        let late = |attempt| recorded(attempt, Some(Outcome::TimedOut { step: "connect".into() }), vec![]);
        let late = run(check, check.waived_by, late);
        assert_eq!(verdict(check, check.waived_by, &late), Verdict::Inconclusive, "{}", check.slug);
        let mut dead = run(check, check.waived_by, refused);
        target(&mut dead).done = false;
        assert_eq!(verdict(check, check.waived_by, &dead), Verdict::HarnessError, "{}", check.slug);
    }
}

#[test]
fn no_declaration_waives_what_does_not_name_every_route_of_it() {
    for check in checks::all() {
        for absent in [&[Capability::Provider][..], &[Capability::Instance], Capability::ROUTES, &[Capability::Relay]] {
            let routes = !check.waived_by.is_empty() && check.waived_by.iter().all(|route| absent.contains(route));
            let all = routes || check.of_relays && absent.contains(&Capability::Relay);
            let evidence = run(check, absent, refused);
            let waived = verdict(check, absent, &evidence) == Verdict::NotApplicable;
            assert_eq!(waived, all, "{} without {absent:?}", check.slug);
        }
    }
}

#[test]
fn a_check_asks_nothing_of_a_route_that_the_target_does_not_have() {
    for check in waivable().into_iter().filter(|check| check.waived_by == Capability::ROUTES) {
        for route in Capability::ROUTES {
            for item in items(check, &without(&[*route]), LaunchKind::Target) {
                let Attempt::Exchange { to, .. } = &item.attempt else { continue };
                let absent: &Endpoint = &layout().endpoint(*route);
                assert_ne!(to, absent, "{}/{}", check.slug, item.name);
            }
        }
    }
}

#[test]
fn where_there_is_no_relay_of_ours_a_port_of_one_must_be_closed() {
    let answered = |attempt| recorded(attempt, Some(found(Facts::Exchange { exchange: Exchange::default() })), vec![]);
    let of_relays: Vec<_> = checks::all().into_iter().filter(|check| check.of_relays).collect();
    assert!(of_relays.len() > 10, "only {}", of_relays.len());
    for check in of_relays {
        let evidence = run(check, &[Capability::Relay], answered);
        assert_eq!(verdict(check, &[Capability::Relay], &evidence), Verdict::Fail, "{}", check.slug);
    }
}

#[test]
fn what_is_denied_is_tried_by_each_use_of_a_proxy_and_unconfined_at_the_same_place() {
    let at = Some(ProxyAt::Environment);
    let proxies = Proxies { connect: at, absolute: at, socks5: at };
    let layout = Layout { way: Way::Proxy(proxies), absent: vec![Capability::Provider, Capability::Relay], ..layout() };
    for id in ["EGRESS-3", "EGRESS-4", "EGRESS-5", "EGRESS-9", "EGRESS-10", "EGRESS-17", "DNS-2"] {
        let check = checks::all().into_iter().find(|check| check.id == id).expect("there is such a check");
        let of = |kind| items(check, &layout, kind);
        let by: Vec<_> = of(LaunchKind::Target)
            .iter()
            .filter_map(|item| match &item.attempt {
                Attempt::Proxied { proxy, .. } => Some((item.name.clone(), proxy.by)),
                _ => None,
            })
            .collect();
        for use_of_it in [Carry::Connect, Carry::Absolute, Carry::Socks5] {
            assert!(by.iter().any(|(_, by)| *by == use_of_it), "{id} by {use_of_it:?}");
        }
        for item in of(LaunchKind::ControlBefore).iter().filter(|item| by.iter().any(|(name, _)| *name == item.name)) {
            assert!(matches!(item.attempt, Attempt::Connect { .. }), "{id}: {}", item.name);
        }
    }
}

#[test]
fn what_the_proxy_says_in_place_of_the_destination_is_a_refusal_and_its_ports_are_of_a_route() {
    let check = checks::all().into_iter().find(|check| check.id == "ROUTE-5").expect("there is such a check");
    let way = Way::Proxy(Proxies { connect: Some(ProxyAt::Environment), ..Proxies::default() });
    let layout = Layout { way, absent: vec![Capability::Provider, Capability::Relay], ..layout() };
    let proxy = Some((Ipv4Addr::LOCALHOST, 3128).into());
    for (open, expected) in [(vec![3128, 40_000], Verdict::Pass), (vec![3128, 8766, 40_000], Verdict::Fail)] {
        let mut evidence = run(check, &[], refused);
        evidence.absent = [("provider".into(), "no".into()), ("relay".into(), "no".into())].into();
        for item in items(check, &layout, LaunchKind::Target) {
            let facts = match &item.attempt {
                Attempt::ProxyVariables => Facts::ProxyVariables { connect: proxy, absolute: None, socks5: None },
                _ => Facts::Ports { open: open.clone(), tried: 65_535, known: Some(40_000) },
            };
            let id = format!("{}/{}", check.slug, item.name);
            target(&mut evidence).attempts.insert(id, recorded(item.attempt, Some(found(facts)), vec![]));
        }
        let judged = judge(check, &items(check, &layout, LaunchKind::Target), &evidence).0;
        assert_eq!(judged.verdict, expected, "{open:?}: {:?}", judged.reason);
    }
}

//! Rules about the sandbox's walls against reports that say too little, and the reach of attempts at the first instruction.

use std::net::{IpAddr, Ipv4Addr};

use watertight_probe::{
    observation::{Address, Facts, Link, Outcome, Route},
    plan::Attempt,
};
use watertight_reports::{
    evidence::{Evidence, LaunchKind},
    results::Verdict,
};

use super::{
    evidence::{denied, found, is_control, items, layout, recorded, run, target},
    relays::{named, verdict},
};
use crate::{
    check::{Check, Item},
    checks::{egress, privilege, route},
    run::{LEADING, LISTENING},
    site::address::is_origin,
};

/// What the unconfined probe found, and what the target's did.
fn with(check: &Check, control: &Outcome, inside: &Outcome) -> Evidence {
    run(check, |kind, item| {
        let outcome = if is_control(kind) { control } else { inside };
        Some(recorded(item.attempt.clone(), Some(outcome.clone()), vec![]))
    })
}

fn refused(call: &str, errno: i32) -> Outcome {
    Outcome::Refused { call: call.into(), errno }
}

#[test]
fn only_a_refusal_denies_a_user_namespace() {
    let check = named(privilege::CHECKS, "PRIV-3");
    let made = found(Facts::Namespaces { reached: false, tries: vec![] });
    for (inside, expected) in [
        (denied(libc::EPERM), Verdict::Pass),
        (Outcome::Killed { signal: libc::SIGSYS }, Verdict::Pass),
        (made.clone(), Verdict::Fail),
        (Outcome::Killed { signal: libc::SIGKILL }, Verdict::Inconclusive),
        (Outcome::TimedOut { step: "unshare".into() }, Verdict::Inconclusive),
        (Outcome::Absent { what: "/proc".into(), errno: libc::ENOENT }, Verdict::Inconclusive),
        (Outcome::Broken { message: "x".into() }, Verdict::HarnessError),
    ] {
        assert_eq!(verdict(check, &with(check, &made, &inside)), expected, "{inside:?}");
    }
    assert_eq!(verdict(check, &with(check, &denied(libc::EPERM), &denied(libc::EPERM))), Verdict::Inconclusive);
}

#[test]
fn a_dump_without_even_loopback_says_nothing() {
    let check = named(egress::CHECKS, "EGRESS-2");
    let link = |index, name: &str, loopback| Link { index, name: name.into(), loopback, up: true };
    let network = |links| found(Facts::Network { links, addresses: vec![], routes: vec![] });
    let world = found(Facts::Network {
        links: vec![link(1, "lo", true), link(2, "host0", false)],
        addresses: vec![Address { link: 2, address: IpAddr::from(Ipv4Addr::new(198, 51, 100, 2)) }],
        routes: vec![Route { table: 254, destination: "default".into(), link: 2 }],
    });
    for (inside, expected) in [
        (network(vec![link(1, "lo", true)]), Verdict::Pass),
        (network(vec![]), Verdict::Inconclusive),
        (network(vec![link(1, "lo", true), link(2, "eth0", false)]), Verdict::Fail),
    ] {
        assert_eq!(verdict(check, &with(check, &world, &inside)), expected, "{inside:?}");
    }
}

#[test]
fn where_netlink_is_refused_inside_the_harness_tells_what_leads_out() {
    let check = named(egress::CHECKS, "EGRESS-2");
    let world = found(Facts::Network {
        links: vec![Link { index: 2, name: "host0".into(), loopback: false, up: true }],
        addresses: vec![],
        routes: vec![],
    });
    for (leading, expected) in [
        (Some(""), Verdict::Pass),
        (Some("a route by link host0, address 198.51.100.2"), Verdict::Fail),
        (None, Verdict::Fail),
    ] {
        let mut evidence = with(check, &world, &refused("socket", libc::EPERM));
        let target = evidence.launches.iter_mut().find(|launch| launch.kind == LaunchKind::Target);
        let outside = &mut target.expect("launched").outside;
        outside.extend(leading.map(|leading| (LEADING.to_owned(), leading.to_owned())));
        assert_eq!(verdict(check, &evidence), expected, "{leading:?}");
    }
}

#[test]
fn a_scan_of_ports_counts_where_it_sees_the_one_that_the_probe_opened() {
    let check = named(route::CHECKS, "ROUTE-5");
    let ports = |open: &[u16], known| found(Facts::Ports { open: open.to_vec(), tried: 65_535, known });
    for (inside, expected) in [
        (ports(&[8765, 8766, 40_000], Some(40_000)), Verdict::Pass),
        (ports(&[40_000], Some(40_000)), Verdict::Pass),
        (ports(&[8765, 8766], Some(40_000)), Verdict::Inconclusive),
        (ports(&[8765, 8766], None), Verdict::Inconclusive),
        (ports(&[8765, 9999, 40_000], Some(40_000)), Verdict::Fail),
        // What may not connect at all finds no port; what may not listen may connect.
        (refused("connect", libc::EPERM), Verdict::Pass),
        (refused("socket", libc::EACCES), Verdict::Pass),
        (refused("connect", libc::EMFILE), Verdict::Fail),
        (refused("bind", libc::EPERM), Verdict::Fail),
    ] {
        assert_eq!(verdict(check, &with(check, &inside, &inside)), expected, "{inside:?}");
    }
    // Where the probe may not listen, the kernel's list shows what there is to see.
    for (open, expected) in [(vec![8765, 8766], Verdict::Pass), (vec![8765, 9999], Verdict::Fail)] {
        let inside = ports(&open, None);
        let mut evidence = with(check, &inside, &inside);
        target(&mut evidence).outside.insert(LISTENING.into(), "127.0.0.1:8765".into());
        assert_eq!(verdict(check, &evidence), expected, "{open:?}");
    }
    let both = ports(&[8765, 8766, 40_000], Some(40_000));
    let mut without = with(check, &both, &both);
    without.absent.insert("instance".into(), "it has none".into());
    assert_eq!(verdict(check, &without), Verdict::Fail, "the port of a route that is declared absent");
}

#[test]
fn where_there_is_no_ipv6_inside_no_port_of_it_is_open() {
    let check = named(route::CHECKS, "ROUTE-5");
    let file = |len| found(Facts::File { len, sha256: String::new(), has_nonce: false });
    let met = |errno| refused("connect", errno);
    let v4 = found(Facts::Ports { open: vec![8765, 8766, 40_000], tried: 65_535, known: Some(40_000) });
    let missing = Outcome::Refused { call: "open".into(), errno: libc::ENOENT };
    for (family, listed, scanned, expected) in [
        ("v6", file(0), met(libc::EADDRNOTAVAIL), Verdict::Pass),
        ("v6", missing.clone(), refused("socket", libc::EAFNOSUPPORT), Verdict::Pass),
        ("v6", file(0), v4.clone(), Verdict::Pass),
        // One of the two alone says nothing.
        ("v6", file(54), met(libc::EADDRNOTAVAIL), Verdict::Fail),
        ("v6", file(0), met(libc::ECONNREFUSED), Verdict::Fail),
        ("v6", refused("open", libc::EACCES), met(libc::EADDRNOTAVAIL), Verdict::Fail),
        ("v6", file(0), Outcome::TimedOut { step: "port 1".into() }, Verdict::Inconclusive),
        // Nothing excuses IPv4.
        ("v4", file(0), met(libc::EADDRNOTAVAIL), Verdict::Fail),
    ] {
        let evidence = run(check, |_, item| {
            let outcome = match item.name.as_str() {
                "v6 addresses" => &listed,
                name if name == family => &scanned,
                _ => &v4,
            };
            Some(recorded(item.attempt.clone(), Some(outcome.clone()), vec![]))
        });
        assert_eq!(verdict(check, &evidence), expected, "{family}: {listed:?}, {scanned:?}");
    }
}

#[test]
fn the_first_instruction_is_tried_in_every_launch_of_the_target() {
    let check = named(egress::CHECKS, "EGRESS-16");
    for kind in [LaunchKind::Target, LaunchKind::Second, LaunchKind::NoInstance, LaunchKind::Own] {
        let items = items(check, &layout(), kind);
        assert!(items.len() >= 3 && items.iter().all(|item| item.launches.contains(&kind)), "{kind:?}");
    }
}

#[test]
fn the_origins_are_tried_directly_over_both_families() {
    let direct = items(named(egress::CHECKS, "EGRESS-5"), &layout(), LaunchKind::Target);
    let tried = |item: &&Item| match &item.attempt {
        Attempt::Connect { to, .. } => is_origin(to.ip()),
        _ => false,
    };
    assert_eq!(direct.iter().filter(tried).count(), 4);
}

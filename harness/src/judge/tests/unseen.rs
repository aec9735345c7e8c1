//! Targets whose processes cannot be seen: what the probe says itself, and who holds its streams, take the witness's place.

use std::net::IpAddr;

use watertight_fixtures::world::HOST_V4;
use watertight_probe::{
    observation::{Address, Facts, Outcome},
    plan::Attempt,
};
use watertight_reports::{
    evidence::{Evidence, Launch, LaunchKind, Process, Thread},
    results::{Seen, Verdict},
};

use super::{
    evidence::{found, launch, recorded, run},
    relays::named,
};
use crate::{
    check::Check,
    checks::{egress, privilege},
    run::{HELD_AS, LOOK, LOOK_AT_NETWORK, UNSEEN},
};

const USER: u32 = 1777;
const WORLD: u64 = 5;

/// A run of which the witness saw the controls and nothing of the target.
fn unseen(check: &Check, cookie: Option<u64>, look: Option<Outcome>) -> Evidence {
    let mut evidence = run(check, |_, _| None);
    for launch in &mut evidence.launches {
        match launch.kind {
            LaunchKind::Target => {
                launch.outside.insert(UNSEEN.into(), "A kernel of its own.".into());
                hello(launch, cookie);
            }
            kind => {
                hello(launch, Some(WORLD));
                launch.processes = vec![process(if kind == LaunchKind::RootBefore { 0 } else { USER })];
            }
        }
    }
    let mut first = launch(LOOK, LaunchKind::Own);
    first.attempts.insert(LOOK_AT_NETWORK.into(), recorded(Attempt::Network, look, vec![]));
    evidence.launches.push(first);
    evidence
}

fn hello(launch: &mut Launch, cookie: Option<u64>) {
    launch.hello.as_mut().expect("it answered").netns = cookie;
}

fn process(uid: u32) -> Process {
    let namespaces = [("net".to_owned(), 9)];
    let thread = Thread { uid: [uid; 4], gid: [uid; 4], ..Thread::default() };
    Process {
        namespaces: namespaces.clone().into(),
        world_namespaces: namespaces.into(),
        threads: vec![thread],
        ..Process::default()
    }
}

fn judged(check: &Check, evidence: &Evidence) -> (Verdict, Seen) {
    let result = crate::judge::check(check, &[], evidence).0;
    (result.verdict, result.seen)
}

#[test]
fn its_network_is_told_by_the_cookie_or_by_the_addresses_in_it() {
    let check = named(egress::CHECKS, "EGRESS-1");
    let network = |addresses: &[IpAddr]| {
        let addresses = addresses.iter().map(|address| Address { link: 1, address: *address }).collect();
        Some(found(Facts::Network { links: vec![], addresses, routes: vec![] }))
    };
    let (own, worlds) = (network(&[[127, 0, 0, 1].into()]), network(&[HOST_V4.into()]));
    for (cookie, look, expected) in [
        (Some(WORLD + 1), None, Verdict::Pass),
        (Some(WORLD), own.clone(), Verdict::Fail),
        (None, own, Verdict::Pass),
        (None, worlds, Verdict::Fail),
        (None, None, Verdict::Inconclusive),
    ] {
        let words = format!("{cookie:?} {look:?}");
        assert_eq!(judged(check, &unseen(check, cookie, look)), (expected, Seen::InsideOnly), "{words}");
    }
    // Nothing is taken for unseen that the manifest does not call so.
    let mut evidence = unseen(check, Some(WORLD + 1), None);
    for launch in &mut evidence.launches {
        launch.outside.remove(UNSEEN);
    }
    assert_eq!(judged(check, &evidence), (Verdict::HarnessError, Seen::TwoSided));
}

#[test]
fn it_is_the_launching_users_where_all_who_may_run_it_are() {
    let check = named(privilege::CHECKS, "PRIV-7");
    for (held, expected) in [
        ("1777", Verdict::Pass),
        ("0 1777", Verdict::Inconclusive),
        ("0", Verdict::Inconclusive),
        ("", Verdict::Inconclusive),
    ] {
        let mut evidence = unseen(check, None, None);
        for launch in evidence.launches.iter_mut().filter(|launch| launch.kind == LaunchKind::Target) {
            launch.outside.insert(HELD_AS.into(), held.into());
        }
        assert_eq!(judged(check, &evidence), (expected, Seen::InsideOnly), "{held:?}");
    }
}

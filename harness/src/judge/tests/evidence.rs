//! Evidence as a run would record it, for checks that exist and for single attempts.

use std::{net::Ipv4Addr, path::PathBuf};

use watertight_probe::{
    nonce::{Nonce, RunNonce},
    observation::{Descriptor, Facts, Hello, Observation, Outcome},
    plan::{Attempt, Needle, UnixAddress, UnixKind},
    sighting::{Event, Sighting},
};
use watertight_reports::evidence::{AttemptRecord, Evidence, Exit, Launch, LaunchKind};

use crate::{
    check::{Check, Item, Shows},
    planner::{Allocator, Layout, Planner},
    way::Way,
};

/// A canary's secret.
pub const BANNER: &str = "watertight-canary-5f1d";

pub const KINDS: [LaunchKind; 7] = [
    LaunchKind::ControlBefore,
    LaunchKind::RootBefore,
    LaunchKind::Target,
    LaunchKind::ControlAfter,
    LaunchKind::RootAfter,
    LaunchKind::NoInstance,
    LaunchKind::Second,
];

/// A world made by root, in which everything can be planted.
pub fn layout() -> Layout {
    let needle = |name: &str| Needle { name: name.into(), len: 8, sum: 1, sha256: "0".repeat(64) };
    Layout {
        link: 2,
        by_root: true,
        resolver: (Ipv4Addr::new(198, 51, 100, 53), 53).into(),
        set_user_id: Some(PathBuf::from("/planted/set-user-id")),
        closed_file: PathBuf::from("/planted/closed"),
        tun: true,
        group_file: Some(PathBuf::from("/planted/group")),
        home: PathBuf::from("/home/agent"),
        workspace: PathBuf::from("/workspace"),
        absent: vec![],
        way: Way::Relays,
        needles: vec![needle("key"), needle("marker-file"), needle("marker-environment")],
        planted: vec![needle("planted-token")],
        spare: Some("/srv".into()),
        typing: true,
        granted: crate::site::asked(),
        second_bearer: Some("B".repeat(43)),
    }
}

/// What `check` plans for a launch of this kind.
pub fn items(check: &Check, layout: &Layout, kind: LaunchKind) -> Vec<Item> {
    let run = RunNonce::from_bytes([3; 32]);
    Planner::plan(check, id(kind), kind, layout, &run, &mut Allocator::default())
}

pub fn id(kind: LaunchKind) -> &'static str {
    match kind {
        LaunchKind::ControlBefore => "control-before",
        LaunchKind::RootBefore => "root-before",
        LaunchKind::Target => "target",
        LaunchKind::ControlAfter => "control-after",
        LaunchKind::RootAfter => "root-after",
        LaunchKind::NoInstance => "no-instance",
        LaunchKind::Second => "second",
        LaunchKind::Own => "own",
    }
}

/// A launch of a probe that answered and came to its end.
pub fn launch(id: &str, kind: LaunchKind) -> Launch {
    Launch {
        id: id.into(),
        kind,
        argv: vec!["sandbox".into()],
        hello: Some(Hello {
            pid: 2,
            forked: 3,
            executed: Some(4),
            uid: 1777,
            gid: 1777,
            netns: Some(1),
            ..Hello::default()
        }),
        done: true,
        errors: vec![],
        attempts: Default::default(),
        processes: vec![],
        sockets: vec![],
        left: vec![],
        outside: Default::default(),
        exit: Some(Exit::Status(0)),
        stderr: String::new(),
        micros: 1,
    }
}

/// A record of an attempt of which success shows there.
pub fn record(shows: Shows, outcome: Option<Outcome>, sightings: Vec<Sighting>) -> AttemptRecord {
    let attempt = match shows {
        Shows::Outside => {
            Attempt::Unix { address: UnixAddress::Abstract("watertight-1".into()), kind: UnixKind::Stream }
        }
        Shows::Inside => Attempt::Descriptors { reach: (Ipv4Addr::LOCALHOST, 1).into() },
    };
    recorded(attempt, outcome, sightings)
}

pub fn recorded(attempt: Attempt, outcome: Option<Outcome>, sightings: Vec<Sighting>) -> AttemptRecord {
    let nonce = Nonce::parse(&[b'a'; 32]).expect("32 digits");
    let observation = outcome.map(|outcome| Observation { attempt: "x::y/z".into(), outcome, micros: 7, cut: false });
    AttemptRecord { nonce, attempt, evil: None, began: true, observation, sightings }
}

pub fn sighting(fixture: &str) -> Sighting {
    Sighting {
        seq: 1,
        micros: 1,
        fixture: fixture.into(),
        nonces: vec![],
        to: None,
        from: "somewhere".into(),
        event: Event::Accepted { connection: 1 },
    }
}

pub fn denied(errno: i32) -> Outcome {
    Outcome::Refused { call: "connect".into(), errno }
}

pub fn found(facts: Facts) -> Outcome {
    Outcome::Found { facts }
}

/// Looked, and found nothing that counts as getting through.
pub fn found_nothing(shows: Shows) -> Outcome {
    found(match shows {
        Shows::Outside => Facts::DescriptorsReceived { count: 0 },
        Shows::Inside => Facts::Descriptors { open: vec![] },
    })
}

/// Achieved what only the probe can tell.
pub fn through(shows: Shows) -> Outcome {
    found(match shows {
        Shows::Outside => Facts::DescriptorsReceived { count: 1 },
        Shows::Inside => Facts::Descriptors { open: vec![descriptor()] },
    })
}

fn descriptor() -> Descriptor {
    Descriptor { fd: 5, kind: "pipe".into(), usable: false }
}

/// The record of this item where it got through: seen outside, or told by the probe where only that can show it.
pub fn got_through(item: &Item) -> AttemptRecord {
    match item.shows {
        Shows::Outside => {
            let silent = Outcome::Silent { step: "connect".into() };
            recorded(item.attempt.clone(), Some(silent), vec![sighting("canary-tcp")])
        }
        Shows::Inside => recorded(item.attempt.clone(), Some(found(achieved(&item.attempt))), vec![]),
    }
}

/// What the probe reports of an attempt that worked, by its kind.
fn achieved(attempt: &Attempt) -> Facts {
    match attempt {
        Attempt::Descriptors { .. } => Facts::Descriptors { open: vec![descriptor()] },
        Attempt::ChangeNetwork { .. } => Facts::Changed,
        Attempt::NewNamespaces { .. } => Facts::Namespaces { reached: true, tries: vec![] },
        Attempt::Mount { .. } => Facts::Mounted,
        Attempt::SetUserId { .. } => Facts::Identity { ruid: 1777, euid: 0, no_new_privs: false, effective: 0 },
        Attempt::Read { .. } => Facts::File { len: 32, sha256: String::new(), has_nonce: true },
        Attempt::Write { .. } => Facts::Written,
        Attempt::Scan { .. } => {
            Facts::Scanned { found: vec![("key".into(), "/etc/key".into())], places: 1, bytes: 1, complete: true }
        }
        Attempt::Ports { .. } => Facts::Ports { open: vec![1], tried: 65_535, known: None },
        Attempt::Linger { .. } => Facts::Lingering { pid: 9 },
        Attempt::Ipc { .. }
        | Attempt::Key { .. }
        | Attempt::Process { .. }
        | Attempt::Open { .. }
        | Attempt::Kernel { .. } => Facts::Granted,
        _ => Facts::SocketMade,
    }
}

/// The evidence of a run in which `record` says what became of each item of `check` in each launch.
pub fn run(check: &Check, mut record: impl FnMut(LaunchKind, &Item) -> Option<AttemptRecord>) -> Evidence {
    let layout = layout();
    let mut evidence = Evidence { banners: vec![BANNER.into()], ..Evidence::default() };
    for kind in KINDS {
        let mut launch = launch(id(kind), kind);
        for item in items(check, &layout, kind).iter().filter(|item| item.launches.contains(&kind)) {
            if let Some(record) = record(kind, item) {
                launch.attempts.insert(format!("{}/{}", check.slug, item.name), record);
            }
        }
        evidence.launches.push(launch);
    }
    for scenario in check.scenarios {
        evidence.launches.push(launch(&scenario.id(), LaunchKind::Own));
    }
    evidence
}

pub fn is_control(kind: LaunchKind) -> bool {
    let name = id(kind);
    name.starts_with("control-") || name.starts_with("root-")
}

/// The target's launch.
pub fn target(evidence: &mut Evidence) -> &mut Launch {
    evidence.launches.iter_mut().find(|launch| launch.kind == LaunchKind::Target).expect("the target was launched")
}

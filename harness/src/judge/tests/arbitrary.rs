//! Arbitrary evidence: whatever a probe may report, liars included, and whatever may be seen outside.

use proptest::{collection::vec, prelude::*, sample::select};
use watertight_probe::{
    observation::{Descriptor, Exchange, Facts, Outcome},
    sighting::Sighting,
};
use watertight_reports::{
    evidence::{AttemptRecord, Evidence, Launch, LaunchKind},
    results::Verdict,
};

use super::evidence::{BANNER, found_nothing, id, launch, record, sighting, through};
use crate::{
    check::{Item, Need, Shows},
    judge::{Control, Evidenced, Judged, attempt},
};

/// So many cases of each law, and no file with those that failed: the failure's text has the whole case.
pub fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) }
}

pub fn shows() -> impl Strategy<Value = Shows> {
    select(vec![Shows::Outside, Shows::Inside])
}

pub fn seen() -> impl Strategy<Value = Sighting> {
    select(vec!["canary-tcp", "canary-unix", "dns", "provider", "capture"]).prop_map(sighting)
}

pub fn verdict() -> impl Strategy<Value = Verdict> {
    select(vec![Verdict::Pass, Verdict::Fail, Verdict::Inconclusive, Verdict::NotApplicable, Verdict::HarnessError])
}

fn word() -> impl Strategy<Value = String> {
    select(vec![String::new(), "connect".into(), "read".into(), "hi: \u{e9}".into(), format!("220 {BANNER}")])
}

fn errno() -> impl Strategy<Value = i32> {
    let known = vec![libc::ECONNREFUSED, libc::EPERM, libc::ENETUNREACH, libc::EAFNOSUPPORT, libc::ENOSYS];
    prop_oneof![4 => select(known), 1 => any::<i32>()]
}

fn facts() -> impl Strategy<Value = Facts> {
    let descriptor = Descriptor { fd: 5, kind: "pipe".into(), usable: true };
    prop_oneof![
        (0..3u32).prop_map(|count| Facts::DescriptorsReceived { count }),
        (0..3usize).prop_map(move |len| Facts::Descriptors { open: vec![descriptor.clone(); len] }),
        any::<bool>().prop_map(|has_nonce| Facts::File { len: 1, sha256: String::new(), has_nonce }),
        select(vec![Facts::SocketMade, Facts::Written, Facts::Exchange { exchange: Exchange::default() }]),
    ]
}

pub fn outcome() -> BoxedStrategy<Outcome> {
    prop_oneof![
        (word(), errno()).prop_map(|(call, errno)| Outcome::Refused { call, errno }),
        prop_oneof![Just(libc::SIGSYS), 1..65i32].prop_map(|signal| Outcome::Killed { signal }),
        word().prop_map(|step| Outcome::TimedOut { step }),
        word().prop_map(|step| Outcome::Silent { step }),
        word().prop_map(|head| Outcome::Heard { len: head.len() as u64, sha256: String::new(), head }),
        facts().prop_map(|facts| Outcome::Found { facts }),
        (word(), errno()).prop_map(|(what, errno)| Outcome::Absent { what, errno }),
        word().prop_map(|message| Outcome::Broken { message }),
    ]
    .boxed()
}

/// What a target's launch recorded of an attempt: most often a plain denial, so that laws about passes have some.
pub fn report(shows: Shows) -> BoxedStrategy<AttemptRecord> {
    let denied = prop_oneof![
        Just(found_nothing(shows)),
        Just(Outcome::Refused { call: "connect".into(), errno: libc::EPERM }),
        Just(Outcome::Silent { step: "read".into() }),
    ];
    let plain = denied.prop_map(move |outcome| record(shows, Some(outcome), vec![]));
    let any = (proptest::option::weighted(0.8, outcome()), vec(seen(), 0..2), any::<bool>());
    let any = any.prop_map(move |(outcome, seen, began)| AttemptRecord { began, ..record(shows, outcome, seen) });
    prop_oneof![2 => plain, 1 => any].boxed()
}

/// A control's record, where it was made: most often alive.
pub fn control(shows: Shows) -> BoxedStrategy<Option<AttemptRecord>> {
    let alive =
        Just(record(shows, Some(through(shows)), if shows == Shows::Outside { vec![sighting("dns")] } else { vec![] }));
    prop_oneof![4 => alive.prop_map(Some), 2 => report(shows).prop_map(Some), 1 => Just(None)].boxed()
}

/// What the table of deny-checks reads.
#[derive(Clone, Debug)]
pub struct Situation {
    pub shows: Shows,
    pub target: AttemptRecord,
    /// Each with whether its launch is broken.
    pub controls: Vec<(Option<AttemptRecord>, bool)>,
    pub gaps: bool,
}

impl Situation {
    pub fn judged(&self) -> Judged {
        let controls =
            self.controls.iter().map(|(record, broken)| Control { record: record.as_ref(), broken: *broken });
        attempt(Evidenced {
            shows: self.shows,
            target: Some(&self.target),
            controls: &controls.collect::<Vec<_>>(),
            banners: &[BANNER.to_owned()],
            gaps: self.gaps,
        })
    }
}

pub fn controls(shows: Shows) -> impl Strategy<Value = Vec<(Option<AttemptRecord>, bool)>> {
    vec((control(shows), prop::bool::weighted(0.1)), 0..4)
}

pub fn situation() -> impl Strategy<Value = Situation> {
    shows().prop_flat_map(|shows| {
        (report(shows), controls(shows), any::<bool>()).prop_map(move |(target, controls, gaps)| Situation {
            shows,
            target,
            controls,
            gaps,
        })
    })
}

/// The attempts of one check, and a run of them.
#[derive(Clone, Debug)]
pub struct Run {
    pub items: Vec<Item>,
    pub evidence: Evidence,
}

impl Run {
    /// What the first launch of this kind recorded of the item with this number; nothing yet where it has no record.
    pub fn record(&mut self, kind: LaunchKind, number: usize) -> &mut AttemptRecord {
        let (key, shows) = (self.key(number), self.items[number].shows);
        self.launch(kind).attempts.entry(key).or_insert_with(|| record(shows, None, vec![]))
    }

    /// The first launch of this kind, made where there was none.
    pub fn launch(&mut self, kind: LaunchKind) -> &mut Launch {
        let found = self.evidence.launches.iter().position(|launch| launch.kind == kind);
        let at = found.unwrap_or_else(|| {
            self.evidence.launches.push(launch(id(kind), kind));
            self.evidence.launches.len() - 1
        });
        &mut self.evidence.launches[at]
    }

    pub fn key(&self, number: usize) -> String {
        format!("{SLUG}/{}", self.items[number].name)
    }
}

pub const SLUG: &str = "test::one";

/// Launches of the target, none of which may leak.
pub const OF_TARGET: [LaunchKind; 4] =
    [LaunchKind::Target, LaunchKind::NoInstance, LaunchKind::Second, LaunchKind::Own];

fn item(number: usize, shows: Shows, need: Need) -> Item {
    const CONTROLLED: [LaunchKind; 3] = [LaunchKind::ControlBefore, LaunchKind::Target, LaunchKind::ControlAfter];
    let mut item = Item::new(format!("try-{number}"), record(shows, None, vec![]).attempt, &CONTROLLED);
    item.need = need;
    item
}

type Recorded = [Option<AttemptRecord>; 4];

fn tried() -> impl Strategy<Value = (Shows, Need, Recorded)> {
    let need = prop_oneof![Just(Need::Required), Just(Need::WhereSupported)];
    (shows(), need).prop_flat_map(|(shows, need)| {
        let target = proptest::option::weighted(0.95, report(shows));
        let other = proptest::option::weighted(0.1, report(shows));
        let recorded = (control(shows), target, control(shows), other);
        (Just(shows), Just(need), recorded.prop_map(|(before, target, after, other)| [before, target, after, other]))
    })
}

/// One to three attempts, in the target and its controls, and in some runs in another launch of the target. Most
/// launches end well.
pub fn run() -> impl Strategy<Value = Run> {
    let kinds = [LaunchKind::ControlBefore, LaunchKind::Target, LaunchKind::ControlAfter, LaunchKind::Second];
    let sound = prop::bool::weighted(0.95);
    (vec(tried(), 1..4), vec(sound, 4), prop::bool::weighted(0.1)).prop_map(move |(tried, sound, gaps)| {
        let mut evidence = Evidence { banners: vec![BANNER.into()], ..Evidence::default() };
        if gaps {
            evidence.gaps.push("the capture lost 1 frame".into());
        }
        for (column, (kind, sound)) in kinds.into_iter().zip(sound).enumerate() {
            let mut launch = launch(id(kind), kind);
            launch.done = sound;
            for (number, (_, _, recorded)) in tried.iter().enumerate() {
                let record = recorded[column].clone();
                launch.attempts.extend(record.map(|record| (format!("{SLUG}/try-{number}"), record)));
            }
            evidence.launches.push(launch);
        }
        let items = tried.iter().enumerate().map(|(number, (shows, need, _))| item(number, *shows, *need));
        Run { items: items.collect(), evidence }
    })
}

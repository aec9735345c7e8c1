//! Runs of a real target: green, with failures, dead, and with a bit of everything.

use std::collections::BTreeMap;

use crate::{
    explain::ExplainInput,
    list::Row,
    mutants::{Fate, Mutant},
    results::{
        AttemptOutcome, CheckResult, ControlKind, Counts, Fact, Level, Results, SCHEMA, Seeing, Seen, Status, Subject,
        Target, Verdict,
    },
};

const AREAS: &[(&str, &[&str])] = &[
    (
        "ROUTE",
        &[
            "provider_answers_once",
            "instance_is_transparent",
            "mcp_composes",
            "no_instance_no_port",
            "no_other_port",
            "events_are_not_held_back",
            "half_close_keeps_response",
        ],
    ),
    (
        "EGRESS",
        &[
            "own_network_namespace",
            "nothing_but_loopback",
            "host_loopback",
            "host_interface",
            "tcp_to_internet",
            "udp_to_internet",
            "other_transports",
            "raw_packets",
            "metadata",
            "relay_port_elsewhere",
            "abstract_sockets",
            "pathname_sockets",
            "inherited_descriptors",
            "vsock",
            "network_changes",
            "first_instruction",
            "special_addresses",
        ],
    ),
    (
        "DNS",
        &[
            "libc_resolver",
            "queries_by_hand",
            "encrypted",
            "multicast_names",
            "resolver_daemons",
            "relays_resolve_nothing",
        ],
    ),
    ("PRIV", &["capability_sets", "no_new_privs", "no_user_namespace", "nested_namespaces_reach_nothing", "mount"]),
    ("AUTH", &["wrong_bearers", "other_spawn", "key_stays_outside", "bearer_stays_inside"]),
    ("TEARDOWN", &["no_processes", "no_namespaces", "no_files", "killed_early"]),
];

/// The sentence of a few requirements.
pub(crate) fn sentence(id: &str) -> Option<&'static str> {
    match id {
        "EGRESS-5" => Some("A workload MUST NOT be able to open a TCP connection to any address of the internet."),
        "EGRESS-14" => Some("A workload MUST NOT be able to make an `AF_VSOCK` socket."),
        "PRIV-3" => Some("A workload SHOULD NOT be able to make a new user namespace."),
        "DNS-1" => Some(
            "No name that a workload asks for through the C library's resolver MUST reach a resolver outside the \
             sandbox, whatever the resolver's configuration says.",
        ),
        _ => None,
    }
}

fn check(area: &str, number: usize, name: &str) -> CheckResult {
    let slug = format!("{}::{name}", area.to_lowercase());
    let observations = ["v4", "v6"].map(|family| {
        seeing(&slug, family, "connect: ENETUNREACH", "nothing", "canary-tcp saw a connection", AttemptOutcome::Denied)
    });
    CheckResult {
        id: format!("{area}-{number}"),
        level: if name == "no_user_namespace" { Level::Should } else { Level::Must },
        subject: match area {
            "AUTH" => Subject::Relay,
            "TEARDOWN" => Subject::Launcher,
            _ => Subject::Isolation,
        },
        verdict: Verdict::Pass,
        reason: vec![],
        seen: Seen::TwoSided,
        control: ControlKind::Unconfined,
        observations: observations.to_vec(),
        witness: vec![],
        mutants: vec![format!("share-{}", area.to_lowercase())],
        duration_us: 1_280,
        slug,
    }
}

fn seeing(slug: &str, name: &str, inside: &str, outside: &str, control: &str, outcome: AttemptOutcome) -> Seeing {
    Seeing {
        attempt: format!("{slug}/{name}"),
        inside: inside.into(),
        outside: outside.into(),
        control: if control.is_empty() { String::new() } else { format!("connect worked; outside, {control}") },
        outcome,
    }
}

/// Counts and status by the model's own rules.
pub(crate) fn judged(mut results: Results) -> Results {
    results.counts = Counts::of(&results.checks);
    results.status = Status::of(&results.checks, true);
    results
}

fn change(results: &mut Results, id: &str, change: impl FnOnce(&mut CheckResult)) {
    change(results.checks.iter_mut().find(|check| check.id == id).expect("a check of the run"));
}

/// Everything passed.
pub(crate) fn green() -> Results {
    let checks = AREAS
        .iter()
        .flat_map(|(area, names)| names.iter().enumerate().map(|(index, name)| check(area, index + 1, name)))
        .collect();
    judged(Results {
        schema: SCHEMA.into(),
        spec: "1.0".into(),
        target: Target {
            name: "bubblewrap".into(),
            version: "bubblewrap 0.11.0".into(),
            route: "sockets".into(),
            launched_as: "user".into(),
            argv: ["bwrap", "--unshare-all", "--", "watertight", "probe"].map(String::from).to_vec(),
        },
        profile: "core 1.0".into(),
        status: Status::Incomplete,
        counts: Counts::default(),
        untestable: [
            "egress::other_transports/sctp",
            "egress::other_transports/dccp",
            "egress::raw_packets/packet-as-user",
        ]
        .map(String::from)
        .to_vec(),
        checks,
        sensitivity: vec![],
        environment: BTreeMap::from([
            ("cgroup".into(), Fact::Unavailable("EACCES".into())),
            ("identity".into(), Fact::Known("uid 1000 in a user namespace".into())),
            ("kernel".into(), Fact::Known("6.18.44 x86_64".into())),
        ]),
        started_at: "2026-01-02T03:04:05Z".into(),
        wall_ms: 1_420,
    })
}

/// Bubblewrap without a seccomp filter: one MUST and one SHOULD fail.
pub(crate) fn vsock_failed() -> Results {
    let mut results = green();
    change(&mut results, "EGRESS-14", |check| {
        check.verdict = Verdict::Fail;
        check.seen = Seen::InsideOnly;
        check.reason = vec!["stream: the socket was made".into(), "datagram: the socket was made".into()];
        check.mutants = vec!["allow-vsock".into()];
        check.observations = ["stream", "datagram", "seqpacket"]
            .map(|kind| Seeing {
                attempt: format!("egress::vsock/{kind}"),
                inside: if kind == "seqpacket" { "socket: EPERM" } else { "the socket was made" }.into(),
                outside: "nothing".into(),
                control: "the socket was made; outside, nothing".into(),
                outcome: if kind == "seqpacket" { AttemptOutcome::Denied } else { AttemptOutcome::GotThrough },
            })
            .to_vec();
    });
    change(&mut results, "PRIV-3", |check| {
        check.verdict = Verdict::Fail;
        check.reason = vec!["user: made; reached nothing; mount EPERM".into()];
        check.observations.truncate(1);
        check.observations[0] =
            seeing("priv::no_user_namespace", "user", "made; reached nothing", "nothing", "", AttemptOutcome::Recorded);
    });
    judged(results)
}

/// A target that exits 0 and never runs the probe.
pub(crate) fn dead() -> Results {
    let mut results = green();
    for (index, check) in results.checks.iter_mut().enumerate() {
        check.verdict = Verdict::HarnessError;
        check.reason = match index % 3 {
            0 => vec![],
            1 => vec!["v4: the attempt was not planned".into(), "v6: the attempt was not planned".into()],
            _ => vec!["no record of `key`".into()],
        };
        check.reason.push(
            "the probe did not answer from inside the target: it ended with status 0 before its first line; its \
             standard error ends: bwrap: execvp watertight: No such file or directory"
                .into(),
        );
        for seen in &mut check.observations {
            seen.inside = "no report".into();
            seen.outcome = AttemptOutcome::NoReport;
        }
    }
    judged(results)
}

/// Every verdict at both levels, shared and single causes.
pub(crate) fn mixed() -> Results {
    let mut results = vsock_failed();
    change(&mut results, "EGRESS-5", |check| {
        check.verdict = Verdict::Fail;
        check.reason = (1..=9).map(|port| format!("port-{port}: outside, canary-tcp saw a connection")).collect();
        check.observations = (1..=9)
            .map(|port| {
                let outside = format!("canary-tcp at 198.51.100.77:{port} saw a connection (and 2 more)");
                let inside = "read 21 bytes: banner of the canary";
                let name = format!("port-{port}");
                seeing(
                    "egress::tcp_to_internet",
                    &name,
                    inside,
                    &outside,
                    "canary-tcp saw a connection",
                    AttemptOutcome::GotThrough,
                )
            })
            .collect();
        check.witness = vec!["the capture holds 27 frames of this attempt on host0".into()];
    });
    for id in ["DNS-1", "DNS-2", "DNS-3", "DNS-4"] {
        change(&mut results, id, |check| {
            check.verdict = Verdict::Inconclusive;
            let why = "the outside record has gaps, so silence means nothing";
            check.reason = ["v4", "v6"].map(|name| format!("{name}: {why}")).to_vec();
            check.observations.iter_mut().for_each(|seen| seen.outcome = AttemptOutcome::Undecided);
        });
    }
    change(&mut results, "EGRESS-7", |check| {
        check.verdict = Verdict::Inconclusive;
        check.reason = vec!["v6: timed out at connect".into()];
        check.observations[1].outcome = AttemptOutcome::Undecided;
        check.observations[1].inside = "timed out at connect".into();
    });
    change(&mut results, "AUTH-2", |check| {
        check.verdict = Verdict::HarnessError;
        check.reason = vec!["v4: the attempt has no report".into()];
        check.observations[0].outcome = AttemptOutcome::NoReport;
        check.observations[0].inside = "no report".into();
    });
    change(&mut results, "ROUTE-3", |check| {
        check.verdict = Verdict::NotApplicable;
        check.reason = vec!["the manifest declares `instance` absent: it has no such route".into()];
    });
    change(&mut results, "EGRESS-6", |check| check.reason = vec!["v4: answered-locally".into()]);
    results.sensitivity = edits();
    judged(results)
}

/// Edits of the target: caught, caught by too few and by too many, and not run.
pub(crate) fn edits() -> Vec<Mutant> {
    let edit = |slug, sentence, expected: &[&str], kills: &[&str], error: Option<&str>| {
        let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
        let mut mutant = Mutant::new(slug, sentence, ids(expected));
        mutant.kills = ids(kills);
        mutant.reasons = kills.iter().map(|id| ((*id).to_owned(), format!("{slug} was seen"))).collect();
        (mutant.checked, mutant.micros) = (17, 840_000);
        mutant.status = mutant.judge(true);
        if let Some(error) = error {
            (mutant.status, mutant.error) = (Fate::Failed, Some(error.into()));
        }
        mutant
    };
    let network = ["EGRESS-1", "EGRESS-10", "EGRESS-2"];
    vec![
        edit("share-network", "The host's network is shared.", &network, &network, None),
        edit("bind-run", "The host's /run is shown.", &["DNS-5", "EGRESS-12"], &["DNS-5", "ROUTE-3"], None),
        edit("keep-pids", "The host's processes are seen.", &["TEARDOWN-1"], &[], Some("the target did not run: gone")),
    ]
}

/// One check, for documents that are shown whole.
pub(crate) fn small() -> Results {
    let mut results = vsock_failed();
    results.checks.retain(|check| check.id == "EGRESS-14");
    judged(results)
}

/// What `explain EGRESS-14` is given.
pub(crate) fn explained(last: Option<&CheckResult>) -> ExplainInput<'_> {
    ExplainInput {
        id: "EGRESS-14",
        slug: "egress::vsock",
        profile: "core",
        level: Level::Must,
        subject: Subject::Isolation,
        sentence: sentence("EGRESS-14").expect("known"),
        paragraph: "Network namespaces do not cover `AF_VSOCK`: on a virtual machine such a socket reaches the\n\
                    hypervisor's host from any of them. Only a filter of system calls keeps it out.\n\n\
                    The socket is only created, never connected or bound.",
        attempts: [("stream", "socket(AF_VSOCK, SOCK_STREAM)"), ("datagram", "socket(AF_VSOCK, SOCK_DGRAM)")]
            .map(|(name, what)| (name.into(), what.into()))
            .to_vec(),
        control: ControlKind::Unconfined,
        closes: "Refuse the family in a filter of system calls.",
        mutants: vec![("allow-vsock".into(), "The filter forgets AF_VSOCK.".into())],
        waived_by: None,
        target: None,
        last,
    }
}

/// A catalogue of a few requirements.
pub(crate) fn rows() -> Vec<Row> {
    let checks = green().checks.into_iter();
    let known = checks.filter_map(|check| Some((sentence(&check.id)?, check)));
    known
        .map(|(sentence, check)| Row {
            id: check.id,
            profile: "core".into(),
            level: check.level,
            subject: check.subject,
            slug: check.slug,
            sentence: sentence.into(),
            mutants: check.mutants,
        })
        .collect()
}

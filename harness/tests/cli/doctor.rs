//! `doctor`: what it tries, and that it agrees with what `check` can do.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use super::support::{command, directory, ended, identities, json, run_as};

const NEEDED: [&str; 10] = [
    "user-namespaces",
    "network-namespaces",
    "veth",
    "proc",
    "sysfs",
    "packet-capture",
    "seccomp",
    "nft-socket",
    "nft-tproxy",
    "world",
];

#[test]
fn everything_that_a_run_needs_is_tried_and_there() {
    for user in identities() {
        let ended = run_as(user, &["doctor", "--json"]);
        let document = json(&ended.stdout);
        assert_eq!((ended.code, document["can_check"].as_bool()), (Some(0), Some(true)), "{document:#}");
        let findings = document["findings"].as_array().expect("an array");
        let needed: Vec<_> = findings.iter().filter(|one| one["group"] == "needed").collect();
        assert_eq!(needed.iter().map(|one| &one["id"]).collect::<Vec<_>>(), NEEDED);
        assert!(needed.iter().all(|one| one["state"] == "ok"), "{needed:#?}");
        let ids: Vec<_> = findings.iter().filter_map(|one| one["id"].as_str()).collect();
        for id in [
            "landlock",
            "tun",
            "vsock",
            "mptcp",
            "sctp",
            "dccp",
            "udp-lite",
            "io-uring",
            "tiocsti",
            "overlay",
            "cgroup2",
            "reference",
            "bubblewrap",
        ] {
            assert!(ids.contains(&id), "{id}");
        }
    }
}

#[test]
fn what_is_not_there_comes_with_what_would_change_it() {
    for user in identities() {
        let document = json(&run_as(user, &["doctor", "--json"]).stdout);
        for one in document["findings"].as_array().expect("an array") {
            assert_eq!(one["state"] == "ok", one["remedy"].is_null(), "{one:#}");
            assert!(one["detail"].as_str().is_some_and(|detail| !detail.is_empty()), "{one:#}");
        }
    }
}

#[test]
fn the_attempts_that_it_calls_untestable_are_those_that_a_run_calls_so() {
    for user in identities() {
        let doctor = json(&run_as(user, &["doctor", "--json"]).stdout);
        let causes = doctor["untestable"].as_array().expect("an array");
        let attempts = causes.iter().flat_map(|cause| cause["attempts"].as_array().expect("an array"));
        let mut told: Vec<_> = attempts.filter_map(|one| one.as_str().map(str::to_owned)).collect();
        let mut found = vec![];
        // The checks that have such attempts on some kernels and for some users.
        for filter in [
            "egress::network_changes",
            "egress::other_transports",
            "egress::raw_packets",
            "egress::vsock",
            "priv::",
            "ipc::",
            "terminal::",
            "device::",
            "kernel::",
        ] {
            let profile = ["check", "reference", "--profile", "isolation"];
            let arguments = [&profile[..], &["--filter", filter, "--format", "json", "--quiet"]].concat();
            let results = json(&run_as(user, &arguments).stdout);
            let untestable = results["untestable"].as_array().expect("an array").clone();
            found.extend(untestable.iter().filter_map(|one| one.as_str().map(str::to_owned)));
        }
        told.sort();
        found.sort();
        assert_eq!(told, found);
    }
}

#[test]
fn it_fits_the_width_and_says_first_whether_a_run_is_possible() {
    for user in identities() {
        let ended = run_as(user, &["doctor"]);
        assert!(ended.stdout.starts_with("ready: `watertight check` can run here\n"), "{}", ended.stdout);
        assert!(ended.stdout.lines().all(|line| line.chars().count() <= 80), "{}", ended.stdout);
        assert_eq!(ended.stderr, "");
    }
}

#[test]
fn a_version_is_asked_where_nothing_stays_and_is_not_waited_for_long() {
    for user in identities() {
        let word = format!("31536000.{}", std::process::id());
        let tools = directory();
        let bin = tools.path().join("bin");
        fs::create_dir(&bin).expect("a directory");
        for (name, script) in [
            ("hozo", format!("touch /tmp/{word}\nsleep {word} &\nexec sleep {word}")),
            ("agent-nook", format!("touch /tmp/{word}\nsleep {word} &\necho agent-nook 1.2.3")),
            ("bk", "exec yes bk 4.5.6".to_owned()),
        ] {
            fs::write(bin.join(name), format!("#!/bin/sh\n{script}\n")).expect("written");
            fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).expect("mode set");
        }
        let document =
            json(&ended(command(user, &["doctor", "--json"]).env("WATERTIGHT_TARGETS", tools.path())).stdout);
        let findings = document["findings"].as_array().expect("an array");
        let detail = |id: &str| findings.iter().find(|one| one["id"] == id).expect("a finding")["detail"].clone();
        assert_eq!(detail("hozo"), "unknown: it did not say within 5 s");
        assert_eq!(detail("agent-nook"), "agent-nook 1.2.3");
        assert_eq!(detail("buddelkiste"), "bk 4.5.6");
        assert!(!Path::new("/tmp").join(&word).exists());
        let mut processes = fs::read_dir("/proc").expect("/proc").flatten();
        let left =
            processes.find(|one| fs::read_to_string(one.path().join("cmdline")).is_ok_and(|line| line.contains(&word)));
        assert!(left.is_none(), "{left:?}");
    }
}

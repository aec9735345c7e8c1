//! Sandboxes of other people that are installed for this alone: each fails exactly what is committed, its mutants are caught
//! by exactly their checks, and nothing of it is left. `scripts/sandboxes` installs and runs them.

#[path = "conformance/committed.rs"]
#[expect(dead_code, reason = "the lists of the other suite")]
mod committed;
#[path = "conformance/holds.rs"]
mod holds;
#[path = "conformance/machine.rs"]
#[expect(dead_code, reason = "worlds are waited for by the other suite")]
mod machine;
#[path = "conformance/place.rs"]
#[expect(dead_code, reason = "a program for many runs is of the other suite")]
mod place;
#[path = "conformance/runs.rs"]
#[expect(dead_code, reason = "evidence is read by the other suite")]
mod runs;
#[path = "conformance/sys.rs"]
#[expect(dead_code, reason = "frames are captured by the other suite")]
mod sys;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use place::Who;
use runs::Run;
use watertight::target::Target;

/// Each in every usual configuration.
const SANDBOXES: &[&str] = &[
    "chroot",
    "netns",
    "ch-run",
    "bubblewrap-0.11",
    "bubblewrap-0.11:host-root",
    "bubblewrap-0.11:hardened",
    "nsjail",
    "nsjail:root",
    "nsjail:filtered",
    "hakoniwa",
    "hakoniwa:no-capabilities",
    "runsc",
    "runsc-run",
    "runc",
    "runc:as-generated",
    "runc:root",
    "runc:no-capabilities",
    "crun",
    "crun:root",
    "crun:no-capabilities",
    "youki",
    "youki:no-capabilities",
    "firejail",
    "firejail:no-profile",
    "firejail:hardened",
    "firejail:root",
    "systemd-nspawn",
    "systemd-nspawn:hardened",
    "lxc",
    "lxc:users",
    "podman",
    "podman:hardened",
    "podman:root",
    "podman:root-hardened",
    "docker",
    "docker:hardened",
    "buddelkiste-filter",
    "srt",
    "srt-proxy",
    "codex",
    "codex-proxy",
    "codex-landlock",
    "landstrip",
    "landstrip:root",
    "gemini-cli",
    "claude-code",
    "nono",
];

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Runs share the machine: what one leaves behind would be held against another.
    arguments.test_threads = Some(1);
    let conclusion = libtest_mimic::run(&arguments, trials());
    place::remove();
    conclusion.exit_code()
}

fn trials() -> Vec<Trial> {
    let mut trials =
        vec![Trial::test("known_failures_name_checks", || committed::of_checks(SANDBOXES.iter().copied()))];
    for who in Who::here() {
        for target in SANDBOXES {
            let manifest = Target::load(target).expect("every target has a manifest");
            if *who != Who::Root && manifest.only_by_root.is_some() {
                continue;
            }
            let mut of = |name: &str, test: fn(Who, &Run) -> Result<(), Failed>| {
                let name = format!("{}{target}::{name}", who.prefix());
                trials.push(Trial::test(name, move || match &*runs::of(target, *who) {
                    Ok(run) => test(*who, run),
                    Err(error) => Err(error.into()),
                }));
            };
            of("fails_exactly_what_is_committed", holds::fails_what_is_committed);
            of("leaves_nothing_on_the_machine", |_, run| holds::leaves_nothing(run));
            if !target.contains(':') {
                of("each_of_its_mutants_is_caught_by_exactly_its_checks", |who, run| {
                    holds::every_mutant_is_caught(who, run, 3)
                });
            }
        }
    }
    trials
}

//! `try`: both sides of the attempts of one requirement, through any command line, without a verdict.

use std::process::Command;

use crate::support::{As, command, ended, identities, run, run_as};

#[test]
fn alone_the_probe_does_what_a_sandbox_should_not_let_it() {
    for user in identities() {
        let ended = run_as(user, &["try", "egress-13", "--", "{probe}"]);
        let text = &ended.stdout;
        assert_eq!(ended.code, Some(0), "{user:?}: {ended:?}");
        assert!(
            text.starts_with("EGRESS-13 (egress::inherited_descriptors) is tried through\n  '{probe}'\n"),
            "{text}"
        );
        assert!(
            text.contains("  inside   open: 17 ") && text.contains("  outside  canary-tcp at 127.0.0.1:"),
            "{text}"
        );
        assert!(text.contains(" processes that share with the host: ") && text.contains(" net, "), "{text}");
        assert!(
            text.contains("  seen     outside they are uid ") && text.contains("  seen     capabilities inh "),
            "{text}"
        );
        assert!(!text.contains("PASS") && !text.contains("FAIL"), "{text}");
    }
}

#[test]
fn what_explain_prints_for_a_target_works_in_a_shell_as_it_stands() {
    let explained = run(&["explain", "EGRESS-13", "--target", "reference"]).stdout;
    let start = explained.find("    watertight try EGRESS-13 -- ").expect("a command");
    let line = explained[start..].split("\n\n").next().expect("its end");
    let program = command(As::Self_, &[]).get_program().to_str().expect("a path").to_owned();
    let line = line.replacen("watertight", &program, 1);
    let ended = ended(Command::new("sh").args(["-c", &line]));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("  inside   no descriptor but 0, 1 and 2\n"), "{}", ended.stdout);
    assert!(ended.stdout.contains("  outside  nothing\n"), "{}", ended.stdout);
}

#[test]
fn launches_of_a_requirements_own_are_made_too() {
    let ended = run(&["try", "TEARDOWN-3", "--", "{probe}"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.lines().filter(|line| line.starts_with("  end ")).count() > 1, "{}", ended.stdout);
}

#[test]
fn a_sandbox_that_asks_for_it_finds_the_first_process_in_the_worlds_cgroup() {
    // An ordinary user's world may have no cgroup.
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let end = |flags: &[&str]| {
        let told = ["sh", "-c", "tail -n 1 /proc/1/cgroup >&2; exec \"$@\"", "sh", "{probe}"];
        let ended = run(&[&["try", "EGRESS-13"], flags, &["--"], &told].concat());
        assert_eq!(ended.code, Some(0), "{ended:?}");
        ended.stdout.lines().last().unwrap_or_default().to_owned()
    };
    assert!(end(&["--init-in-cgroup"]).ends_with(" ends: 0::/"));
    assert!(end(&[]).ends_with(" ends: 0::/.."));
}

#[test]
fn what_is_said_to_be_unseen_is_let_go_by_who_holds_its_streams() {
    let ended = run(&["try", "EGRESS-13", "--unseen", "--", "{probe}"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("  seen     unseen: the command line says so\n"), "{}", ended.stdout);
}

#[test]
fn what_cannot_be_tried_is_refused_with_the_reason() {
    for (arguments, said) in [
        (&["try", "EGRESS-99", "--", "{probe}"][..], "there is no requirement \"EGRESS-99\""),
        (&["try", "EGRESS-1", "--", "true"], "the command line has no {probe}"),
        (&["try", "EGRESS-1", "--", "{nonsense}", "{probe}"], "`{nonsense}` has a placeholder that does not exist"),
    ] {
        let ended = run(arguments);
        assert!(matches!(ended.code, Some(2 | 3)) && ended.stderr.contains(said), "{arguments:?}: {ended:?}");
        assert_eq!(ended.stdout, "", "{arguments:?}");
    }
}

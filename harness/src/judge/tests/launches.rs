//! Rules about launchers against evidence of launches that were not seen, not declared, or ended before they began.

use watertight_probe::{
    observation::{Facts, Outcome},
    plan::Attempt,
};
use watertight_reports::{
    evidence::{Evidence, Exit, Launch, LaunchKind, Process, Socket},
    results::Verdict,
};

use super::{
    evidence::{denied, found, is_control, recorded, run, target},
    relays::{named, verdict},
};
use crate::{
    check::Check,
    checks::{launch, socket, teardown},
};

fn own(evidence: &mut Evidence) -> impl Iterator<Item = &mut Launch> {
    evidence.launches.iter_mut().filter(|launch| launch.kind == LaunchKind::Own)
}

fn bare(check: &Check) -> Evidence {
    run(check, |_, _| None)
}

fn process(net: Option<u64>, world: Option<u64>) -> Process {
    let of = |inode: Option<u64>| inode.map(|inode| ("net".to_owned(), inode)).into_iter().collect();
    Process { namespaces: of(net), world_namespaces: of(world), ..Process::default() }
}

#[test]
fn a_workload_without_an_optional_prerequisite_is_judged_by_where_it_was_seen() {
    let check = named(launch::CHECKS, "LAUNCH-1");
    for (processes, expected) in [
        (vec![process(Some(2), Some(1))], Verdict::Pass),
        (vec![process(Some(1), Some(1))], Verdict::Fail),
        (vec![process(None, None)], Verdict::Pass),
        (vec![], Verdict::HarnessError),
    ] {
        let mut evidence = bare(check);
        own(&mut evidence).for_each(|launch| launch.processes = processes.clone());
        assert_eq!(verdict(check, &evidence), expected, "{processes:?}");
    }
}

#[test]
fn bad_input_is_judged_where_it_is_declared_and_inconclusive_where_none_is() {
    let check = named(launch::CHECKS, "LAUNCH-2");
    for (declared, ran, expected) in [
        ("no", false, Verdict::Inconclusive),
        ("no", true, Verdict::Inconclusive),
        ("yes", false, Verdict::Pass),
        ("yes", true, Verdict::Fail),
    ] {
        let mut evidence = bare(check);
        for launch in own(&mut evidence) {
            launch.outside.insert("declared".into(), declared.into());
            launch.exit = Some(Exit::Status(1));
            launch.hello = launch.hello.take().filter(|_| ran);
        }
        assert_eq!(verdict(check, &evidence), expected, "declared: {declared}, ran: {ran}");
    }
    assert_eq!(verdict(check, &bare(check)), Verdict::HarnessError, "nobody says whether it is declared");
}

#[test]
fn a_search_that_a_control_could_not_make_is_no_fault_of_the_targets() {
    let check = named(launch::CHECKS, "LAUNCH-3");
    let scanned = |needle: Option<&str>| {
        let found = needle.map(|name| (name.to_owned(), "environ".to_owned())).into_iter().collect();
        Facts::Scanned { found, places: 1, bytes: 1, complete: true }
    };
    let with = |control: Outcome, inside: Outcome| {
        run(check, |kind, item| {
            let outcome = if is_control(kind) { control.clone() } else { inside.clone() };
            Some(recorded(item.attempt.clone(), Some(outcome), vec![]))
        })
    };
    let (sees, clean) = (found(scanned(Some("planted-token"))), found(scanned(None)));
    assert_eq!(verdict(check, &with(sees.clone(), clean.clone())), Verdict::Pass);
    assert_eq!(verdict(check, &with(denied(libc::EACCES), clean)), Verdict::Inconclusive);
    assert_eq!(verdict(check, &with(sees.clone(), sees.clone())), Verdict::Fail);
    let absent = Outcome::Absent { what: "/proc".into(), errno: libc::ENOENT };
    assert_eq!(verdict(check, &with(sees.clone(), absent)), Verdict::Inconclusive);
    assert_eq!(verdict(check, &with(sees.clone(), Outcome::Broken { message: "x".into() })), Verdict::HarnessError);
    assert_eq!(verdict(check, &with(sees, found(Facts::SocketMade))), Verdict::HarnessError, "a liar");
}

#[test]
fn what_one_spawn_leaves_must_not_be_there_for_the_next() {
    let check = named(launch::CHECKS, "LAUNCH-4");
    let file = || found(Facts::File { len: 3, sha256: String::new(), has_nonce: false });
    for (look, expected) in [
        (denied(libc::ENOENT), Verdict::Pass),
        (file(), Verdict::Fail),
        (Outcome::TimedOut { step: "open".into() }, Verdict::Inconclusive),
    ] {
        let mut evidence = run(check, |_, item| {
            let outcome = match item.attempt {
                Attempt::Write { .. } => found(Facts::Written),
                _ => look.clone(),
            };
            Some(recorded(item.attempt.clone(), Some(outcome), vec![]))
        });
        target(&mut evidence).outside.insert("workspace".into(), "/workspace".into());
        assert_eq!(verdict(check, &evidence), expected, "{look:?}");
        target(&mut evidence).outside.insert("HOME".into(), "/workspace/home".into());
        assert_eq!(verdict(check, &evidence), Verdict::Fail, "a home in the workspace");
    }
}

#[test]
fn a_world_with_one_user_shows_no_other_who_knocks() {
    let check = named(socket::CHECKS, "SOCKET-1");
    for (others, expected) in [(None, Verdict::Pass), (Some(false), Verdict::Pass), (Some(true), Verdict::Fail)] {
        let socket = Socket {
            path: "x.sock".into(),
            mode: 0o600,
            changed_after: Some(0),
            directory_mode: 0o700,
            owned_by_user: true,
            answers_user: true,
            answers_others: others,
        };
        let mut evidence = bare(check);
        target(&mut evidence).sockets = vec![socket.clone(), socket.clone()];
        assert_eq!(verdict(check, &evidence), expected, "{others:?}");
        // A mode that came late was another one until then.
        let late = Socket { changed_after: Some(4_000), ..socket.clone() };
        target(&mut evidence).sockets = vec![socket.clone(), late];
        assert_eq!(verdict(check, &evidence), Verdict::Fail);
        // One socket is enough where there is one route.
        target(&mut evidence).sockets = vec![socket];
        let fewer = if others == Some(true) { Verdict::Fail } else { Verdict::Inconclusive };
        assert_eq!(verdict(check, &evidence), fewer);
        evidence.absent.insert("instance".into(), "it has none".into());
        assert_eq!(verdict(check, &evidence), expected);
    }
}

#[test]
fn killing_launchers_that_had_ended_by_themselves_shows_nothing() {
    let check = named(teardown::CHECKS, "TEARDOWN-4");
    for (alive, expected) in [("0", Verdict::Inconclusive), ("7", Verdict::Pass)] {
        let mut evidence = bare(check);
        for launch in own(&mut evidence) {
            let facts = [("kills", "20"), ("kills_alive", alive), ("settled", "yes")];
            launch.outside.extend(facts.map(|(name, value)| (name.to_owned(), value.to_owned())));
        }
        assert_eq!(verdict(check, &evidence), expected, "{alive} alive");
    }
}

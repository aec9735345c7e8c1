//! What the probe does before its first attempt, when it refuses to go on, and how it ends.

use std::{
    io::{BufReader, Read, Seek},
    net::TcpListener,
    os::unix::process::ExitStatusExt,
    process::Stdio,
    time::{Duration, Instant},
};

use watertight_probe::{
    observation::Outcome,
    plan::{Attempt, End, Gate, Plan, Stream},
    wire::Line,
};

use crate::{
    launch::{self, COMM, launch, planned, start},
    sys,
};

crate::trials! {
    no_attempt_is_made_without_go,
    go_opens_the_gate_and_done_counts_the_attempts,
    the_first_attempts_are_made_before_the_gate_and_told_after_hello,
    the_machines_own_network_namespace_is_refused,
    an_expired_plan_is_refused,
    an_unreadable_plan_is_said_so,
    a_plan_in_a_file_is_made_as_one_in_an_argument,
    samples_carry_the_name_and_are_gone_after_go,
    it_ends_by_the_status_or_signal_that_the_plan_asks_for,
    it_stays_until_something_ends_it,
    lines_go_to_a_file_that_is_not_open_for_appending,
    the_last_attempts_run_one_after_another_after_all_others,
}

fn a_plan_in_a_file_is_made_as_one_in_an_argument() {
    let (listener, attempt) = canary();
    let plan = Plan { attempts: vec![quick(attempt), quick_descriptors()], ..launch::plan([]) };
    let file = std::env::temp_dir().join(format!("watertight-plan-{}", std::process::id()));
    std::fs::write(&file, watertight_probe::wire::encode_plan(&plan).expect("short")).expect("written");
    let mut command = std::process::Command::new(launch::program());
    command.args([watertight_probe::PROBE_COMMAND, watertight_probe::PLAN_FILE_OPTION]).arg(&file);
    let told = launch::read(start(&mut command, Stdio::null()));
    std::fs::remove_file(&file).expect("removed");
    assert!(listener.accept().is_ok(), "the attempt came");
    assert_eq!((told.lines.last(), told.status), (Some(&Line::Done { attempts: 2 }), Some(0)));
    // The file itself is no descriptor that somebody left.
    assert_eq!(told.outcome(1), launch(&plan).outcome(1));
    let output = command.stdin(Stdio::null()).output().expect("started");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("No such file"), "{said}");
    assert_eq!(output.status.code(), Some(64));
}

fn quick_descriptors() -> watertight_probe::plan::Planned {
    planned(1, Attempt::Descriptors { reach: "127.0.0.1:9".parse().expect("an address") })
}

/// A listener in a network namespace of this thread's own, and an attempt that would reach it.
fn canary() -> (TcpListener, Attempt) {
    sys::new_network(true);
    let listener = TcpListener::bind("127.0.0.1:0").expect("bound");
    listener.set_nonblocking(true).expect("set");
    let to = listener.local_addr().expect("bound");
    (listener, Attempt::Connect { transport: Stream::Tcp, to, source_port: None })
}

/// With a deadline that a silent listener does not stretch.
fn quick(attempt: Attempt) -> watertight_probe::plan::Planned {
    watertight_probe::plan::Planned { deadline_ms: 1200, ..planned(0, attempt) }
}

fn gated() -> (TcpListener, Plan) {
    let (listener, attempt) = canary();
    (listener, Plan { gate: Gate::Go, attempts: vec![quick(attempt)], ..launch::plan([]) })
}

fn no_attempt_is_made_without_go() {
    let (listener, plan) = gated();
    for (input, said) in [(&b""[..], "ended without go"), (b"x", "instead of go")] {
        let mut child = start(&mut launch::command(&plan), Stdio::piped());
        std::io::Write::write_all(&mut child.stdin.take().expect("piped"), input).expect("taken");
        let told = launch::read(child);
        assert!(told.stopped().is_some_and(|reason| reason.contains(said)), "{told:?}");
        assert_eq!((told.lines.len(), told.status), (2, Some(65)));
        assert!(listener.accept().is_err(), "nobody connected");
    }
}

fn go_opens_the_gate_and_done_counts_the_attempts() {
    let (listener, plan) = gated();
    let mut child = start(&mut launch::command(&plan), Stdio::piped());
    launch::go(&mut child);
    let told = launch::read(child);
    assert!(listener.accept().is_ok(), "the attempt came");
    assert_eq!(told.outcome(0), &Outcome::Silent { step: "recv".into() });
    assert_eq!((told.lines.last(), told.status), (Some(&Line::Done { attempts: 1 }), Some(0)));
}

fn the_first_attempts_are_made_before_the_gate_and_told_after_hello() {
    let (listener, attempt) = canary();
    let plan = Plan { gate: Gate::Go, first: vec![quick(attempt)], ..launch::plan([]) };
    let child = start(&mut launch::command(&plan), Stdio::null());
    let told = launch::read(child);
    told.hello();
    assert!(listener.accept().is_ok(), "the attempt came without go");
    assert_eq!(told.outcome(0), &Outcome::Silent { step: "recv".into() });
    assert!(told.stopped().is_some());
}

fn the_machines_own_network_namespace_is_refused() {
    let (listener, attempt) = canary();
    let plan = Plan { first: vec![quick(attempt)], machine_netns: sys::network_cookie(), ..launch::plan([]) };
    let told = launch(&plan);
    assert!(told.stopped().is_some_and(|reason| reason.contains("network namespace")), "{told:?}");
    assert_eq!((told.lines.len(), told.status), (1, Some(65)));
    assert!(listener.accept().is_err(), "nobody connected");
}

fn an_expired_plan_is_refused() {
    let (listener, attempt) = canary();
    let first = vec![quick(attempt)];
    let told = launch(&Plan { expires: launch::now() - 1, first, ..launch::plan([]) });
    assert!(told.stopped().is_some_and(|reason| reason.contains("expired")), "{told:?}");
    assert_eq!((told.lines.len(), told.status), (1, Some(65)));
    assert!(listener.accept().is_err(), "nobody connected");
}

fn an_unreadable_plan_is_said_so() {
    let mut command = std::process::Command::new(launch::program());
    let output = command.args(["probe", "--plan", "bm8="]).output().expect("ran");
    let line = watertight_probe::wire::decode(output.stdout.trim_ascii_end()).expect("a line").expect("whole");
    assert!(matches!(line.line, Line::Stopped { .. }), "{line:?}");
    assert_eq!(output.status.code(), Some(64));
}

fn samples_carry_the_name_and_are_gone_after_go() {
    sys::new_network(true);
    let plan = Plan { gate: Gate::Go, end: End::Stay, ..launch::plan([]) };
    let mut child = start(&mut launch::command(&plan), Stdio::piped());
    let mut output = BufReader::new(child.stdout.take().expect("piped"));
    let Line::Hello(hello) = launch::next_line(&mut output) else { panic!("no hello") };
    let executed = hello.executed.expect("an executed sample");
    let comm = |pid: i32| std::fs::read_to_string(format!("/proc/{pid}/comm")).expect("there");
    for pid in [hello.pid, hello.forked, executed] {
        assert_eq!(comm(pid).trim_end(), COMM);
    }
    let threads = std::fs::read_dir(format!("/proc/{}/task", hello.pid)).expect("there").count();
    assert_eq!(threads, 2, "itself and the sampled thread");
    let executed_line = std::fs::read_to_string(format!("/proc/{executed}/cmdline")).expect("there");
    assert!(executed_line.contains("probe-sample"), "{executed_line:?}");
    launch::go(&mut child);
    assert_eq!(launch::next_line(&mut output), Line::Done { attempts: 0 });
    for pid in [hello.forked, executed] {
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "sample {pid} has ended");
    }
    child.kill().expect("killed");
    child.wait().expect("ended");
}

fn it_ends_by_the_status_or_signal_that_the_plan_asks_for() {
    sys::new_network(true);
    assert_eq!(launch(&Plan { end: End::Exit(7), ..launch::plan([]) }).status, Some(7));
    let plan = Plan { end: End::Signal(libc::SIGTERM), ..launch::plan([]) };
    let mut child = start(&mut launch::command(&plan), Stdio::null());
    let status = child.wait().expect("ended");
    assert_eq!(status.signal(), Some(libc::SIGTERM));
}

fn it_stays_until_something_ends_it() {
    sys::new_network(true);
    let plan = Plan { end: End::Stay, ..launch::plan([]) };
    let mut child = start(&mut launch::command(&plan), Stdio::null());
    let mut output = BufReader::new(child.stdout.take().expect("piped"));
    while launch::next_line(&mut output) != (Line::Done { attempts: 0 }) {}
    assert!(child.try_wait().expect("asked").is_none(), "still there after done");
    child.kill().expect("killed");
    assert_eq!(child.wait().expect("ended").signal(), Some(libc::SIGKILL));
}

fn lines_go_to_a_file_that_is_not_open_for_appending() {
    sys::new_network(true);
    let mut file = launch::nameless_file();
    let attempts =
        (0..20).map(|_| Attempt::Socket { family: libc::AF_UNIX.into(), kind: libc::SOCK_STREAM, protocol: 0 });
    let mut command = launch::command(&launch::plan(attempts));
    let status = command.stdin(Stdio::null()).stdout(file.try_clone().expect("cloned")).status().expect("ran");
    file.rewind().expect("rewound");
    let mut text = Vec::new();
    file.read_to_end(&mut text).expect("read");
    let lines = launch::lines_of(&text[..]);
    assert_eq!((lines.len(), lines.last(), status.code()), (42, Some(&Line::Done { attempts: 20 }), Some(0)));
}

fn the_last_attempts_run_one_after_another_after_all_others() {
    let (_listener, attempt) = canary();
    let last =
        [1, 2].map(|index| watertight_probe::plan::Planned { deadline_ms: 1200, ..planned(index, attempt.clone()) });
    let plan = Plan { attempts: vec![quick(attempt)], last: last.to_vec(), ..launch::plan([]) };
    let begun = Instant::now();
    let told = launch(&plan);
    assert!(begun.elapsed() >= Duration::from_millis(3 * 950), "not beside each other");
    let order: Vec<_> = told.observations().map(|observation| observation.attempt.clone()).collect();
    assert_eq!(order, [launch::id(0), launch::id(1), launch::id(2)]);
}

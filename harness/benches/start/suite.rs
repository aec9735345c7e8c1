//! What the harness is made from: a world, an attempt, and the core profile against the reference.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nix::unistd::geteuid;
use watertight_fixtures::world::{self, Config, World};
use watertight_probe::nonce::RunNonce;
use watertight_probe::plan::{Attempt, End, Gate, Plan, Planned};
use watertight_probe::wire::encode_plan;

use super::place::{Place, USER};
use super::stopwatch::{median, print};

const WORLDS: usize = 50;
const ATTEMPTS: usize = 200;
const LAUNCHES: usize = 15;
const RUNS: usize = 3;

/// In a process of its own: an ordinary user's worlds are made in a user namespace.
pub fn worlds(place: &Place) {
    world::enter().expect("this user can make worlds");
    let config = Config::new(place.watertight());
    let (mut up, mut down) = (Vec::new(), Vec::new());
    for _ in 0..WORLDS {
        let began = Instant::now();
        let world = World::up(&config).expect("a world");
        up.push(began.elapsed());
        let began = Instant::now();
        world.down().expect("it ends");
        down.push(began.elapsed());
    }
    print("a world up", &up);
    print("a world down", &down);
}

/// What one attempt adds to a launch: one that makes a socket and closes it, in a child of its own.
pub fn attempts(place: &Place) {
    let with: Vec<Duration> = (0..LAUNCHES).map(|_| launch(place, ATTEMPTS)).collect();
    let without: Vec<Duration> = (0..LAUNCHES).map(|_| launch(place, 0)).collect();
    let each = |(with, without): (&Duration, &Duration)| (with.as_secs_f64() - without.as_secs_f64()) / ATTEMPTS as f64;
    println!("attempts, in the reference");
    println!("  {:44} {:8.3} ms", "one of many", median(with.iter().zip(&without).map(each).collect()) * 1e3);
}

fn launch(place: &Place, attempts: usize) -> Duration {
    let run = RunNonce::from_bytes([7; 32]);
    let planned = |index: usize| {
        let id = format!("bench/{index}");
        let attempt = Attempt::Socket { family: libc::AF_INET.into(), kind: libc::SOCK_DGRAM, protocol: 0 };
        Planned { nonce: run.attempt("bench", &id), id, deadline_ms: 5000, attempt }
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
    let plan = Plan {
        launch: "bench".into(),
        comm: "watertightbench".into(),
        expires: now + 60,
        machine_netns: world::machine_netns_cookie().expect("a cookie"),
        machine_mnt: None,
        gate: Gate::Go,
        parallel: 64,
        bearer: None,
        first: Vec::new(),
        attempts: (0..attempts).map(planned).collect(),
        last: Vec::new(),
        end: End::Exit(0),
    };
    let mut command = Command::new(place.watertight());
    command.args(["run", "--provider", "http://203.0.113.10/v1", "--provider-key-file"]).arg(place.key());
    command.arg("--workspace").arg(place.workspace()).arg("--ro").arg(place.watertight());
    if geteuid().is_root() {
        command.args(["--user", &USER.to_string()]);
    }
    command.arg("--").arg(place.watertight()).args(["probe", "--plan", &encode_plan(&plan).expect("a plan")]);
    let began = Instant::now();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("starts");
    child.stdin.take().expect("a pipe").write_all(b"g").expect("sent");
    let output = child.wait_with_output().expect("ends");
    let took = began.elapsed();
    let lines = output.stdout.iter().filter(|byte| **byte == b'\n').count();
    assert!(output.status.success() && lines > attempts, "{} lines of {attempts} attempts", lines);
    took
}

/// Every check of the core profile against the reference, controls included.
pub fn core_profile(place: &Place) {
    let times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let began = Instant::now();
            let output = Command::new(place.watertight()).args(["check", "reference", "--quiet"]).output();
            let (output, took) = (output.expect("starts"), began.elapsed());
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            println!("  {}", text.lines().next().unwrap_or("no result"));
            took
        })
        .collect();
    print("the core profile against the reference", &times);
}

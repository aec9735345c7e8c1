//! Ends: of the command, of the launcher at any moment, and of whatever tries to outlive them.

use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::support::{By, Scene, eventually, family, stdout};

pub fn state(pid: u32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

/// A zombie that its new parent has yet to collect runs no more.
pub fn is_alive(pid: u32) -> bool {
    state(pid).is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

pub fn send(pid: u32, signal: Signal) {
    kill(Pid::from_raw(pid as i32), signal).expect("the process takes a signal");
}

/// Children that ignore signals and leave their session, then a line.
const STUBBORN: &str = "trap '' TERM INT HUP; (trap '' TERM INT HUP; setsid sleep 600 & setsid sleep 600 &) ; \
                        sleep 600 & echo ready; read line; wait";

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for by in By::all() {
        let mut trial = |fact: &str, test: fn(By)| {
            trials.push(Trial::test(format!("lifetime::{fact}_{}", by.name()), move || {
                test(by);
                Ok(())
            }));
        };
        trial("sigkill_of_the_launcher_ends_everything", |by| {
            let mut running = Scene::new(by, "").start(STUBBORN);
            let all = family(running.launcher());
            assert!(all.len() >= 5, "the launcher, init, the shell and its children: {all:?}");
            running.child.kill().expect("killed");
            running.child.wait().expect("collected");
            eventually("everything has ended", || !all.iter().any(|pid| is_alive(*pid)));
        });
        trial("without_the_lifeline_init_outlives_the_launcher", |by| {
            let mut running = Scene::new(by, "outlive-launcher").start(STUBBORN);
            let init = running.init();
            running.child.kill().expect("killed");
            running.child.wait().expect("collected");
            let outlived = is_alive(init);
            send(init, Signal::SIGKILL);
            assert!(outlived);
        });
        trial("orphans_end_with_the_command", |by| {
            let running = Scene::new(by, "").start("setsid sleep 600 & trap '' HUP; sleep 600 & echo ready; read line");
            let all = family(running.launcher());
            let mut running = running;
            drop(running.child.stdin.take());
            running.child.wait().expect("ends");
            eventually("everything has ended", || !all.iter().any(|pid| is_alive(*pid)));
        });
        trial("signals_reach_the_command", |by| {
            for (signal, name) in [(Signal::SIGTERM, "TERM"), (Signal::SIGINT, "INT"), (Signal::SIGHUP, "HUP")] {
                let script = format!("trap 'exit 9' {name}; echo ready; while true; do read line; done");
                let mut running = Scene::new(by, "").start(&script);
                send(running.launcher(), signal);
                assert_eq!(running.child.wait().expect("ends").code(), Some(9), "{name}");
            }
        });
        trial("signals_of_a_terminal_reach_all_of_the_commands_group", |by| {
            let child = "trap 'exit 9' INT; echo ready; while true; do read line; done";
            let script = format!("trap : INT; /bin/sh -c \"{child}\"; exit $?");
            let mut running = Scene::new(by, "").start(&script);
            send(running.launcher(), Signal::SIGINT);
            assert_eq!(running.child.wait().expect("ends").code(), Some(9));
        });
        trial("without_forwarding_a_signal_is_lost", |by| {
            let mut running =
                Scene::new(by, "swallow-signals").start("trap 'exit 9' TERM; echo ready; read line; exit 3");
            send(running.launcher(), Signal::SIGTERM);
            // The command goes on until its input ends, which comes after the signal.
            drop(running.child.stdin.take());
            assert_eq!(running.child.wait().expect("ends").code(), Some(3));
        });
        trial("a_killed_init_is_reported_as_a_failure", |by| {
            let mut running = Scene::new(by, "").start("echo ready; read line");
            send(running.init(), Signal::SIGKILL);
            assert_eq!(running.child.wait().expect("ends").code(), Some(125));
        });
        trial("the_workload_cannot_end_or_stop_init", |by| {
            let script = "kill -KILL 1; kill -STOP 1; kill -0 1 && echo alive";
            assert_eq!(Scene::new(by, "").shell(script), "alive");
        });
        trial("a_launcher_killed_at_any_moment_leaves_no_process", kill_at_any_moment);
        trial("launches_beside_each_other_do_not_meet", |by| {
            let launches: Vec<_> = (0..8)
                .map(|index| {
                    let mut scene = Scene::new(by, "");
                    let command = scene.command.args(["--", "/bin/sh", "-c", "exit $0"]).arg(index.to_string());
                    let child = command.stdout(Stdio::null()).spawn().expect("starts");
                    (index, child, scene)
                })
                .collect();
            for (index, mut child, _scene) in launches {
                assert_eq!(child.wait().expect("ends").code(), Some(index));
            }
        });
    }
    trials
}

/// 200 launches, each killed after 0 to 30 ms; whatever existed of each must be gone.
fn kill_at_any_moment(by: By) {
    let mut with_sandbox = 0;
    for round in 0..200u64 {
        let mut scene = Scene::new(by, "");
        scene.command.args(["--", "/bin/sleep", "600"]).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = scene.command.spawn().expect("the launcher starts");
        // 150 µs apart, in an order that does not follow the machine's load.
        let moment = Instant::now() + Duration::from_micros(round * 77 % 200 * 150);
        while Instant::now() < moment {
            std::hint::spin_loop();
        }
        // Stopped at that moment, it makes no process between the look at its family and its end.
        send(child.id(), Signal::SIGSTOP);
        eventually("the launcher has stopped", || state(child.id()) == Some('T'));
        let all = family(child.id());
        with_sandbox += usize::from(all.len() > 1);
        child.kill().expect("killed");
        assert_eq!(child.wait().expect("collected").signal(), Some(9), "killed while it ran");
        eventually("no process of the launch is left", || !all.iter().any(|pid| is_alive(*pid)));
    }
    assert!(with_sandbox > 20, "some launches had come to a sandbox: {with_sandbox}");
    let output = Scene::new(by, "").run(["/bin/echo", "still works"]);
    assert_eq!(stdout(&output), "still works");
}

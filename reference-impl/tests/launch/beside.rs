//! The relays beside somebody else's sandbox: who sees their sockets, and what is left when either side ends.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, chown};
use std::path::PathBuf;
use std::process::Stdio;

use libtest_mimic::Trial;
use nix::sys::signal::Signal;

use super::lifetime::{is_alive, send};
use super::support::{By, Running, Scene, UID, eventually, family, start_strings, stdout};

/// A launch beside the relays, and the directory that it mounts their sockets on.
fn scene(by: By) -> (Scene, PathBuf) {
    let mut scene = Scene::new(by, "");
    let directory = scene.directory.path().join("sockets");
    fs::create_dir(&directory).expect("a directory");
    if by == By::Root {
        // Root that names nobody runs the command as root.
        let arguments: Vec<_> = scene.command.get_args().map(ToOwned::to_owned).collect();
        let without_user = arguments[..arguments.len() - 2].to_vec();
        let program = scene.command.get_program().to_owned();
        scene.command = std::process::Command::new(program);
        scene.command.args(without_user).stdin(Stdio::null()).current_dir("/");
    }
    (scene.option("--beside", &directory).option("--instance", "http://203.0.113.20"), directory)
}

/// What a command finds, and what it says it is given.
const WAIT: &str = "echo ready; read line";

fn sockets_seen_by(pid: u32, directory: &std::path::Path) -> Vec<String> {
    let seen = format!("/proc/{pid}/root{}", directory.display());
    let mut names: Vec<String> = fs::read_dir(seen)
        .expect("the directory is there")
        .map(|entry| entry.expect("an entry"))
        .filter(|entry| entry.file_type().expect("a type").is_socket())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// The bearer of a running command, as its environment holds it.
fn bearer(running: &Running) -> String {
    let environment = fs::read(format!("/proc/{}/environ", running.init())).expect("readable");
    let environment = String::from_utf8(environment).expect("UTF-8");
    environment.split('\0').find_map(|entry| entry.strip_prefix("OPENAI_API_KEY=")).expect("a bearer").to_owned()
}

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for by in By::all() {
        let mut trial = |fact: &str, test: fn(By)| {
            trials.push(Trial::test(format!("beside::{fact}_{}", by.name()), move || {
                test(by);
                Ok(())
            }));
        };
        trial("the_sockets_exist_in_its_own_mount_namespace_alone", |by| {
            let (scene, directory) = scene(by);
            let mut running = scene.start(WAIT);
            let names = ["instance.sock", "provider.sock"];
            assert_eq!(sockets_seen_by(running.launcher(), &directory), names);
            assert_eq!(sockets_seen_by(running.init(), &directory), names, "the command's view");
            assert_eq!(fs::read_dir(&directory).expect("listed").count(), 0, "the view of everybody else");
            for name in names {
                let socket = format!("/proc/{}/root{}/{name}", running.launcher(), directory.display());
                let metadata = fs::metadata(socket).expect("there");
                assert_eq!(metadata.permissions().mode() & 0o7777, 0o600);
            }
            drop(running.child.stdin.take());
            running.child.wait().expect("ends");
            assert_eq!(fs::read_dir(&directory).expect("listed").count(), 0, "afterwards");
        });
        trial("the_user_that_root_names_has_sockets_and_command_and_no_further_user_namespace", |by| {
            let scene = Scene::new(by, "");
            let directory = scene.directory.path().join("sockets");
            fs::create_dir(&directory).expect("a directory");
            let mut running = scene.option("--beside", &directory).start(WAIT);
            let user = if nix::unistd::geteuid().is_root() { UID } else { nix::unistd::geteuid().as_raw() };
            for pid in [running.launcher(), running.init()] {
                assert_eq!(fs::metadata(format!("/proc/{pid}/status")).expect("there").uid(), user, "{pid}");
                let socket = format!("/proc/{pid}/root{}/provider.sock", directory.display());
                let file = fs::metadata(&socket).expect("there");
                assert_eq!((file.uid(), file.permissions().mode() & 0o7777), (user, 0o600));
            }
            let namespace = |pid: &str| fs::read_link(format!("/proc/{pid}/ns/user")).expect("a namespace");
            let further = namespace(&running.init().to_string()) != namespace("self");
            assert_eq!(further, by != By::Root, "only an ordinary user needs one");
            let launcher = running.launcher();
            let command = running.init();
            send(launcher, Signal::SIGKILL);
            eventually("the command dies with its launcher", || !is_alive(command));
            running.child.wait().expect("ends");
        });
        trial("exit_statuses_are_the_commands_own", |by| {
            for (script, status) in [("exit 0", 0), ("exit 7", 7), ("exit 255", 255), ("kill -KILL $$", 137)] {
                let output = scene(by).0.run(["/bin/sh", "-c", script]);
                assert_eq!(output.status.code(), Some(status), "{script}: {}", stdout(&output));
            }
            for (program, status) in [("no-such-command", 127), ("/etc/passwd", 126)] {
                let output = scene(by).0.run([program]);
                assert_eq!(output.status.code(), Some(status), "{}", stdout(&output));
            }
        });
        trial("the_command_dies_with_the_launcher", |by| {
            let (scene, directory) = scene(by);
            let mut running =
                scene.start("trap '' TERM INT HUP; echo ready; read line; while true; do read line; done");
            let all = family(running.launcher());
            assert_eq!(all.len(), 2, "the launcher and its command: {all:?}");
            running.child.kill().expect("killed");
            running.child.wait().expect("collected");
            eventually("both have ended", || !all.iter().any(|pid| is_alive(*pid)));
            assert_eq!(fs::read_dir(&directory).expect("listed").count(), 0);
        });
        trial("signals_reach_the_command", |by| {
            for (signal, name) in [(Signal::SIGTERM, "TERM"), (Signal::SIGINT, "INT"), (Signal::SIGHUP, "HUP")] {
                let script = format!("trap 'exit 9' {name}; echo ready; while true; do read line; done");
                let mut running = scene(by).0.start(&script);
                send(running.launcher(), signal);
                assert_eq!(running.child.wait().expect("ends").code(), Some(9), "{name}");
            }
        });
        trial("the_bearer_is_in_the_environment_and_on_no_command_line", |by| {
            let running = scene(by).0.start(WAIT);
            let bearer = bearer(&running);
            assert_eq!(bearer.len(), 43);
            for pid in family(running.launcher()) {
                let line = fs::read(format!("/proc/{pid}/cmdline")).expect("readable");
                assert!(!String::from_utf8_lossy(&line).contains(&bearer), "pid {pid}");
            }
            assert!(!start_strings(running.launcher()).contains(&bearer), "the launcher's own strings");
        });
        trial("relays_that_do_not_start_leave_the_command_unexecuted", |by| {
            let (mut scene, directory) = scene(by);
            let marker = scene.directory.path().join("executed");
            scene.command.arg("--relays-fail");
            let output = scene.command.arg("--").arg("/usr/bin/touch").arg(&marker).output().expect("starts");
            assert_eq!(output.status.code(), Some(125), "{}", stdout(&output));
            assert!(!marker.exists());
            assert_eq!(fs::read_dir(&directory).expect("listed").count(), 0);
        });
        trial("a_launcher_killed_at_once_leaves_no_process", |by| {
            for round in 0..40u64 {
                let (mut scene, directory) = scene(by);
                scene.command.args(["--", "/bin/sleep", "600"]).stdout(Stdio::null()).stderr(Stdio::null());
                let mut child = scene.command.spawn().expect("starts");
                let moment = std::time::Instant::now() + std::time::Duration::from_micros(round * 37 % 40 * 250);
                while std::time::Instant::now() < moment {
                    std::hint::spin_loop();
                }
                send(child.id(), Signal::SIGSTOP);
                eventually("stopped", || super::lifetime::state(child.id()) == Some('T'));
                let all = family(child.id());
                child.kill().expect("killed");
                child.wait().expect("collected");
                eventually("no process is left", || !all.iter().any(|pid| is_alive(*pid)));
                assert_eq!(fs::read_dir(&directory).expect("listed").count(), 0);
            }
        });
    }
    if nix::unistd::geteuid().is_root() {
        trials.push(Trial::test("beside::root_becomes_the_user_that_it_names", || {
            let (scene, directory) = scene(By::Root);
            chown(&directory, Some(UID), Some(UID)).expect("the user's");
            let output = scene.option("--user", UID.to_string()).run(["/usr/bin/id", "-u"]);
            assert_eq!(stdout(&output), UID.to_string());
            Ok(())
        }));
    }
    trials
}

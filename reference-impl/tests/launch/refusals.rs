//! What is refused before anything is started, what stops a launch, and the exit statuses that tell them apart.

use libtest_mimic::Trial;

use super::support::{By, Scene, stdout};

/// A launch that must not execute its command: by whom, how, and what it must say.
#[track_caller]
fn refused(scene: Scene, argv: &[&str], status: i32, says: &[&str]) {
    let marker = scene.directory.path().join("workspace/executed");
    let directory = scene.directory.path().to_owned();
    let by = scene.by;
    let mut scene = scene;
    let output = scene.command.arg("--").args(argv).output().expect("the launcher starts");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(status), "{by:?} in {directory:?}: {stderr}");
    for text in says {
        assert!(stderr.contains(text), "{stderr:?} lacks {text:?}");
    }
    assert!(!marker.exists(), "the command was executed");
}

const EXECUTE: [&str; 3] = ["/bin/sh", "-c", "touch executed"];

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for by in By::all() {
        let mut trial = |fact: &str, test: fn(By)| {
            trials.push(Trial::test(format!("refusals::{fact}_{}", by.name()), move || {
                test(by);
                Ok(())
            }));
        };
        trial("a_good_launch_executes_its_command", |by| {
            let scene = Scene::new(by, "");
            let marker = scene.directory.path().join("workspace/executed");
            let mut scene = scene;
            let output = scene.command.arg("--").args(EXECUTE).output().expect("the launcher starts");
            assert!(output.status.success() && marker.exists(), "{}", stdout(&output));
        });
        trial("bad_urls_are_refused", |by| {
            refused(Scene::new(by, "").option("--provider", ""), &EXECUTE, 125, &["--provider"]);
            refused(Scene::new(by, "").option("--provider", "ftp://x"), &EXECUTE, 125, &["scheme", "https"]);
            refused(Scene::new(by, "").option("--instance", "http://x/api"), &EXECUTE, 125, &["--instance", "bare"]);
        });
        trial("paths_that_are_not_there_are_refused", |by| {
            refused(Scene::new(by, "").option("--ro", "/no/such"), &EXECUTE, 125, &["--ro", "/no/such"]);
            refused(Scene::new(by, "").option("--rw", "/no/such"), &EXECUTE, 125, &["--rw", "/no/such"]);
            refused(Scene::new(by, "").option("--ro", "/"), &EXECUTE, 125, &["--ro", "uncover"]);
        });
        trial("a_key_that_the_command_could_reach_is_refused", |by| {
            let scene = Scene::new(by, "");
            let directory = scene.directory.path().to_owned();
            refused(scene.option("--rw", directory), &EXECUTE, 125, &["key", "elsewhere"]);
            refused(Scene::new(by, "").option("--key", "/no/such"), &EXECUTE, 125, &["key file"]);
        });
        trial("a_variable_that_is_not_set_is_refused", |by| {
            refused(Scene::new(by, "").option("--env", "NOT_SET_ANYWHERE"), &EXECUTE, 125, &["NOT_SET_ANYWHERE"]);
        });
        trial("commands_that_cannot_run_have_statuses_of_their_own", |by| {
            refused(Scene::new(by, ""), &["no-such-command"], 127, &["no-such-command", "not found"]);
            refused(Scene::new(by, ""), &["/etc/passwd"], 126, &["/etc/passwd", "cannot be executed"]);
            refused(Scene::new(by, ""), &[], 125, &["no command"]);
        });
        trial("a_command_that_the_sandbox_covers_is_not_found", |by| {
            let scene = Scene::new(by, "");
            let covered = scene.directory.path().join("covered");
            std::fs::copy("/bin/true", &covered).expect("a copy");
            refused(scene, &[covered.to_str().expect("UTF-8")], 127, &["covered", "--ro"]);
        });
        trial("relays_that_do_not_start_stop_the_launch", |by| {
            let mut scene = Scene::new(by, "");
            scene.command.arg("--relays-fail");
            refused(scene, &EXECUTE, 125, &["no upstream"]);
        });
        trial("a_missing_system_call_stops_the_launch_and_is_named", |by| {
            let needs = [
                (libc::SYS_unshare, libc::EPERM, "user namespace"),
                (libc::SYS_unshare, libc::ENOSPC, "user.max_user_namespaces"),
                (libc::SYS_unshare, libc::EINVAL, "CONFIG_USER_NS"),
                (libc::SYS_clone3, libc::ENOSYS, "CONFIG_"),
                (libc::SYS_fsopen, libc::ENOSYS, "CONFIG_TMPFS"),
                (libc::SYS_mount_setattr, libc::ENOSYS, "Linux 5.12"),
                (libc::SYS_close_range, libc::ENOSYS, "Linux 5.9"),
                (libc::SYS_seccomp, libc::ENOSYS, "CONFIG_SECCOMP_FILTER"),
                (libc::SYS_seccomp, libc::EINVAL, "CONFIG_SECCOMP_FILTER"),
                (libc::SYS_open_tree, libc::ENOSYS, "take"),
                (libc::SYS_move_mount, libc::EPERM, "mount"),
                (libc::SYS_mount, libc::EPERM, "cover"),
                (libc::SYS_setsid, libc::EPERM, "session"),
                (libc::SYS_capset, libc::EPERM, "capabilities"),
                (libc::SYS_sethostname, libc::EPERM, "host name"),
                (libc::SYS_keyctl, libc::EPERM, "keyring"),
                (libc::SYS_getrandom, libc::ENOSYS, "random bearer"),
                (libc::SYS_pipe2, libc::EMFILE, "pipe"),
                (libc::SYS_signalfd4, libc::EMFILE, "signals"),
            ];
            for (call, errno, says) in needs {
                let (call, errno) = (call.to_string(), errno.to_string());
                let helper = super::support::helper().to_str().expect("UTF-8");
                let wrapper = [helper, "helper", "without", &call, &errno];
                refused(Scene::through(by, "", &wrapper), &EXECUTE, 125, &[says]);
            }
        });
        trial("exit_statuses_are_the_commands_own", |by| {
            for (script, status) in
                [("exit 0", 0), ("exit 7", 7), ("exit 255", 255), ("kill -SEGV $$", 139), ("kill -KILL $$", 137)]
            {
                let output = Scene::new(by, "").run(["/bin/sh", "-c", script]);
                assert_eq!(output.status.code(), Some(status), "{script}: {}", stdout(&output));
            }
        });
    }
    trials.extend(missing_features());
    trials
}

/// Prerequisites taken away by a wrapper around the launcher. They need root.
fn missing_features() -> Vec<Trial> {
    if !nix::unistd::geteuid().is_root() {
        return Vec::new();
    }
    let without_limit = ["unshare", "--user", "--map-user=1777", "--keep-caps", "/bin/sh", "-c"];
    let script = "echo 0 >/proc/sys/user/max_user_namespaces && exec \"$0\" \"$@\"";
    vec![
        Trial::test("refusals::root_with_nobody_to_become_is_refused", || {
            let mut scene = Scene::new(By::Ordinary, "");
            scene.by = By::Root;
            let arguments: Vec<_> = scene.command.get_args().map(ToOwned::to_owned).collect();
            scene.command = std::process::Command::new(super::support::helper());
            scene.command.args(arguments).env_remove("SUDO_UID").current_dir("/");
            refused(scene, &EXECUTE, 125, &["started as root", "--user"]);
            refused(Scene::new(By::Root, "").option("--user", "root"), &EXECUTE, 125, &["not an ordinary user"]);
            refused(Scene::new(By::Root, "").option("--user", "no-one-here"), &EXECUTE, 125, &["no such user"]);
            Ok(())
        }),
        Trial::test("refusals::without_user_namespaces_the_setting_is_named", move || {
            let mut wrapper = without_limit.to_vec();
            wrapper.push(script);
            let mut scene = Scene::through(By::Ordinary, "", &wrapper);
            scene.command.env_remove("SUDO_UID");
            refused(scene, &EXECUTE, 125, &["user namespace", "user.max_user_namespaces"]);
            Ok(())
        }),
        Trial::test("refusals::a_masked_proc_stops_the_launch", || {
            // As a container masks it: a mount over a part of /proc.
            let script =
                "mount -t tmpfs tmpfs /proc/scsi 2>/dev/null || mount -t tmpfs tmpfs /proc/fs; exec \"$0\" \"$@\"";
            let wrapper = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "/bin/sh", "-c", script];
            let scene = Scene::through(By::Root, "", &wrapper);
            refused(scene, &EXECUTE, 125, &["fresh /proc", "masked"]);
            Ok(())
        }),
        Trial::test("refusals::what_is_missing_stops_the_launch_only_while_the_guard_is_up", || {
            let script =
                "mount -t tmpfs tmpfs /proc/scsi 2>/dev/null || mount -t tmpfs tmpfs /proc/fs; exec \"$0\" \"$@\"";
            let wrapper = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "/bin/sh", "-c", script];
            let output = Scene::through(By::Root, "go-on-after-failure", &wrapper).run(["/bin/echo", "went on"]);
            assert_eq!(stdout(&output), "went on");
            Ok(())
        }),
    ]
}

//! What is seen of a sandbox from outside, and what the host's files show afterwards.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::net::UnixListener;
use std::path::Path;

use libtest_mimic::Trial;
use nix::unistd::geteuid;
use watertight_reference::launch::socket_directory;

use super::support::{By, KEY, Scene, UID, eventually, ordinary_uid, start_strings, stdout};

const WAIT: &str = "echo ready; read line";

fn status(pid: u32, field: &str) -> String {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("the process is there");
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    line.expect("the field is there").trim().to_owned()
}

fn namespaces(pid: u32) -> Vec<(&'static str, u64)> {
    ["user", "net", "mnt", "pid", "ipc", "uts", "cgroup"]
        .map(|name| (name, fs::metadata(format!("/proc/{pid}/ns/{name}")).expect("readable").ino()))
        .to_vec()
}

fn shared_namespaces(variant: &str, by: By) -> Vec<&'static str> {
    let running = Scene::new(by, variant).start(WAIT);
    let (own, theirs) = (namespaces(std::process::id()), namespaces(running.init()));
    own.iter().zip(theirs).filter(|(own, theirs)| *own == theirs).map(|(own, _)| own.0).collect()
}

/// Whether some byte string is in the writable memory of a process.
fn memory_holds(pid: u32, needle: &[u8]) -> bool {
    use std::os::unix::fs::FileExt;
    let memory = fs::File::open(format!("/proc/{pid}/mem")).expect("root reads memory");
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).expect("root reads maps");
    maps.lines().filter(|line| line.contains(" rw")).any(|line| {
        let (start, end) = line.split_once(' ').expect("a range").0.split_once('-').expect("two bounds");
        let bound = |text| u64::from_str_radix(text, 16).expect("a number");
        let mut bytes = vec![0; (bound(end) - bound(start)) as usize];
        memory.read_exact_at(&mut bytes, bound(start)).is_ok()
            && bytes.windows(needle.len()).any(|window| window == needle)
    })
}

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for by in By::all() {
        let mut trial = |fact: &str, test: fn(By)| {
            trials.push(Trial::test(format!("witness::{fact}_{}", by.name()), move || {
                test(by);
                Ok(())
            }));
        };
        trial("host_directories_are_covered", |by| {
            for (parent, variant) in [("/tmp", "show-tmp"), ("/var/tmp", "show-tmp"), ("/run", "show-run")] {
                let Ok(planted) = tempfile::tempdir_in(parent) else {
                    assert_eq!(parent, "/run", "only root may write there");
                    continue;
                };
                let look = format!("test -e {} && echo visible || echo covered", planted.path().display());
                assert_eq!(Scene::new(by, "").shell(&look), "covered", "{parent}");
                assert_eq!(Scene::new(by, variant).shell(&look), "visible", "{parent}");
            }
        });
        trial("the_host_is_read_only", |by| {
            let root = |variant| {
                let mounts = Scene::new(by, variant).inside("mounts");
                mounts.lines().any(|line| line.contains(" / / ro,"))
            };
            assert!(root(""));
            assert!(!root("writable-root"));
        });
        trial("the_workspace_is_written_as_the_ordinary_user", |by| {
            let scene = Scene::new(by, "");
            let running = scene.start("echo text >file; chmod 4755 file; echo ready; read line");
            let file = fs::metadata(running.scene.directory.path().join("workspace/file")).expect("written");
            assert_eq!(file.uid(), if by == By::Root { UID } else { ordinary_uid() });
        });
        trial("mounts_are_nosuid_and_nodev", |by| {
            let flags = |variant| {
                let mounts = Scene::new(by, variant).inside("mounts");
                let devices = [
                    "/dev/null",
                    "/dev/zero",
                    "/dev/full",
                    "/dev/random",
                    "/dev/urandom",
                    "/dev/tty",
                    "/dev/pts",
                    "/dev",
                ];
                mounts
                    .lines()
                    .map(|line| line.split(' ').collect::<Vec<_>>())
                    .filter(|fields| !devices.contains(&fields[4]))
                    .all(|fields| fields[5].contains("nosuid") && fields[5].contains("nodev"))
            };
            assert!(flags(""));
            assert!(!flags("allow-setuid"));
        });
        trial("both_relays_answer_from_the_first_instruction", |by| {
            let connect = |port: u16| {
                Scene::new(by, "").option("--instance", "http://203.0.113.20").inside(&format!("connect {port}"))
            };
            assert_eq!(connect(8765), "provider hello");
            assert_eq!(connect(8766), "instance hello");
            assert_eq!(Scene::new(by, "").inside("connect 8766"), "ConnectionRefused");
        });
        trial("the_network_is_its_own", |by| {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener outside");
            let port = listener.local_addr().expect("bound").port();
            assert_eq!(Scene::new(by, "").inside(&format!("connect {port}")), "ConnectionRefused");
            let answer = std::thread::spawn(move || {
                let (mut stream, _) = listener.accept().expect("the attempt arrives without the defence");
                stream.read_to_end(&mut Vec::new()).expect("the question ends");
                stream.write_all(b"outside").expect("sent");
            });
            assert_eq!(Scene::new(by, "share-network").inside(&format!("connect {port}")), "outside");
            answer.join().expect("answered");
        });
        trial("init_is_hidden_and_its_directory_closed", |by| {
            let look = "ls /proc/1/cwd/ 2>&1; ls -d /proc/1 2>&1";
            let up = Scene::new(by, "").shell(look);
            assert!(up.contains("No such file") && !up.contains("provider.sock"), "{up}");
            // Visible, it still cannot be looked into; traceable as well, its directory is open.
            let visible = Scene::new(by, "show-processes").shell(look);
            assert!(visible.ends_with("/proc/1") && visible.contains("Permission denied"), "{visible}");
            assert!(Scene::new(by, "show-init").shell(look).contains("provider.sock"));
        });
        trial("a_directory_as_standard_input_is_refused", |by| {
            let mut scene = Scene::new(by, "");
            scene.command.stdin(fs::File::open("/").expect("a directory"));
            let output = scene.run(["/bin/echo", "executed"]);
            assert_eq!((output.status.code(), output.stdout.len()), (Some(125), 0));
        });
        trial("the_bearer_file_is_private_and_holds_the_key_given", |by| {
            let script = "stat -c %a $WATERTIGHT_BEARER_FILE; test \"$(cat $WATERTIGHT_BEARER_FILE)\" = $OPENAI_API_KEY && echo same; echo ${#OPENAI_API_KEY}";
            assert_eq!(Scene::new(by, "").shell(script), "600\nsame\n43");
            let bearer = || Scene::new(by, "").shell("cat $WATERTIGHT_BEARER_FILE");
            assert_ne!(bearer(), bearer());
        });
    }
    if geteuid().is_root() {
        trials.extend(seen_by_root());
    }
    trials
}

/// Facts that only root can see.
fn seen_by_root() -> Vec<Trial> {
    let mut trials = Vec::new();
    for by in By::all() {
        let mut trial = |fact: &str, test: fn(By)| {
            trials.push(Trial::test(format!("witness::{fact}_{}", by.name()), move || {
                test(by);
                Ok(())
            }));
        };
        trial("every_namespace_is_its_own", |by| {
            assert_eq!(shared_namespaces("", by), [] as [&str; 0]);
            for (variant, name) in [("share-ipc", "ipc"), ("share-uts", "uts"), ("share-cgroup", "cgroup")] {
                assert_eq!(shared_namespaces(variant, by), [name], "{variant}");
            }
        });
        trial("launcher_and_init_are_untraceable", |by| {
            let owners = |variant| {
                let running = Scene::new(by, variant).start(WAIT);
                [running.launcher(), running.init()]
                    .map(|pid| fs::metadata(format!("/proc/{pid}/environ")).expect("there").uid())
            };
            assert_eq!(owners(""), [0, 0]);
            assert_eq!(owners("traceable-launcher"), [UID, 0]);
            assert_eq!(owners("traceable-init"), [0, UID]);
        });
        trial("init_forgets_the_launchers_strings", |by| {
            let strings = |variant| {
                let running = Scene::new(by, variant).option("--workspace", "/usr/share").start(WAIT);
                start_strings(running.init())
            };
            assert_eq!(strings(""), "");
            assert!(strings("init-remembers").contains("--workspace"));
        });
        trial("init_holds_no_capability", |by| {
            let effective = |variant| status(Scene::new(by, variant).start(WAIT).init(), "CapEff");
            assert_eq!(effective(""), "0000000000000000");
            assert_ne!(effective("init-keeps-privileges"), "0000000000000000");
        });
        trial("the_key_is_in_no_memory_but_the_launchers", |by| {
            let held = |variant| {
                let running = Scene::new(by, variant).start(WAIT);
                [running.launcher(), running.init()].map(|pid| memory_holds(pid, KEY.as_bytes()))
            };
            assert_eq!(held(""), [true, false]);
            assert_eq!(held("early-key"), [true, true]);
        });
        trial("sockets_are_0600_in_0700", |by| {
            let modes = |variant| {
                let running = Scene::new(by, variant).start(WAIT);
                let directory = socket_directory(running.launcher()).expect("the sockets are found");
                let mode = |path: &Path| fs::metadata(path).expect("there").mode() & 0o7777;
                [mode(&directory), mode(&directory.join("provider.sock"))]
            };
            assert_eq!(modes(""), [0o700, 0o600]);
            assert_eq!(modes("wide-directory"), [0o755, 0o600]);
            assert_ne!(modes("wide-socket")[1] & 0o077, 0);
        });
        trial("sockets_are_in_no_other_mount_namespace", |by| {
            let running = Scene::new(by, "").start(WAIT);
            socket_directory(std::process::id()).expect_err("not here");
            socket_directory(running.init()).expect_err("not in the sandbox");
        });
        trial("orphans_are_reaped", |by| {
            let zombies = |variant| {
                let orphan = "i=0; while [ $i -lt 20 ]; do (true & ) ; i=$((i+1)); done; echo ready; read line";
                let running = Scene::new(by, variant).start(orphan);
                let init = running.init();
                let count = || {
                    // One that is reaped between the listing and the look is no zombie.
                    let stat = |child: &u32| fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
                    let children = super::support::children(init).into_iter();
                    children.filter(|child| stat(child).contains(") Z ")).count()
                };
                if variant.is_empty() {
                    eventually("init has reaped all orphans", || count() == 0);
                } else {
                    eventually("orphans stay zombies", || count() == 20);
                }
            };
            zombies("");
            zombies("leave-zombies");
        });
        trial("mounts_of_the_host_do_not_spread", |by| {
            // The shell stays in the outer namespace, which would end without it, and all propagation with it.
            let shared = ["unshare", "--mount", "--propagation", "shared", "/bin/sh", "-c", "\"$0\" \"$@\"; exit $?"];
            let tagged = |variant| {
                let mut scene = Scene::through(By::Root, variant, &shared);
                scene.by = by;
                scene
                    .inside("mounts")
                    .lines()
                    .filter(|line| line.contains("master:") || line.contains("shared:"))
                    .count()
            };
            assert_eq!(tagged(""), 0);
            assert_ne!(tagged("shared-mounts"), 0);
        });
    }
    trials.push(Trial::test("witness::a_writable_directory_of_the_host_is_not_written", || {
        let planted = tempfile::tempdir_in("/var/cache").expect("a directory");
        fs::set_permissions(planted.path(), fs::Permissions::from_mode(0o777)).expect("a mode");
        let file = planted.path().join("written");
        let touch = format!("touch {} 2>&1; echo done", file.display());
        assert!(Scene::new(By::Root, "").shell(&touch).contains("Read-only file system"));
        assert!(!file.exists());
        Scene::new(By::Root, "writable-root").shell(&touch);
        assert!(file.exists(), "the attempt succeeds without the defence");
        Ok(())
    }));
    for by in By::all() {
        trials.push(Trial::test(
            format!("witness::the_key_file_is_hidden_where_it_would_be_seen_{}", by.name()),
            move || {
                let read = |variant| {
                    let scene = Scene::new(by, variant);
                    let visible = tempfile::tempdir_in("/var/cache").expect("a directory");
                    fs::set_permissions(visible.path(), fs::Permissions::from_mode(0o755)).expect("a mode");
                    let key = visible.path().join("key");
                    fs::copy(scene.key(), &key).expect("a copy");
                    chown(&key, Some(UID), Some(UID)).expect("the user's key");
                    scene.option("--key", &key).shell(&format!("wc -c <{}", key.display()))
                };
                assert_eq!(read(""), "0");
                assert_eq!(read("show-key"), KEY.len().to_string());
                Ok(())
            },
        ));
        trials.push(Trial::test(
            format!("witness::sockets_in_visible_directories_are_hidden_{}", by.name()),
            move || {
                let visible = tempfile::tempdir_in("/var/cache").expect("a directory");
                fs::set_permissions(visible.path(), fs::Permissions::from_mode(0o755)).expect("a mode");
                let path = visible.path().join("daemon one.sock");
                let _daemon = UnixListener::bind(&path).expect("a daemon");
                fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).expect("a mode");
                let attempt = |scene: Scene| {
                    let mut scene = scene;
                    scene.command.args(["--"]).arg(super::support::helper()).args(["helper", "inside", "unix"]);
                    stdout(&scene.command.arg(&path).output().expect("starts"))
                };
                assert_eq!(attempt(Scene::new(by, "")), "ConnectionRefused");
                assert_eq!(attempt(Scene::new(by, "show-host-sockets")), "connected");
                // What the user names is shown with all that is in it.
                assert_eq!(attempt(Scene::new(by, "").option("--ro", visible.path())), "connected");
                Ok(())
            },
        ));
        trials.push(Trial::test(format!("witness::groups_of_an_ordinary_user_stay_{}", by.name()), move || {
            let visible = tempfile::tempdir_in("/var/cache").expect("a directory");
            fs::set_permissions(visible.path(), fs::Permissions::from_mode(0o755)).expect("a mode");
            let file = visible.path().join("of the group");
            fs::write(&file, "text").expect("written");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("a mode");
            chown(&file, Some(0), Some(4242)).expect("a group");
            let wrapper: &[&str] = match by {
                By::Root => &["setpriv", "--groups", "4242"],
                By::Ordinary => &["setpriv", "--reuid", "1777", "--regid", "1777", "--groups", "4242"],
            };
            let mut scene = Scene::through(By::Root, "", wrapper);
            if by == By::Ordinary {
                scene.command.env("HOME", "/home/agent");
            }
            let seen = scene.shell(&format!("cat '{}' 2>/dev/null || echo denied", file.display()));
            // A documented limit: only a launcher that was root can drop groups.
            assert_eq!(seen, if by == By::Root { "denied" } else { "text" });
            Ok(())
        }));
    }
    trials.push(Trial::test("witness::the_uid_outside_is_never_0", || {
        let uid = |variant| status(Scene::new(By::Root, variant).start(WAIT).init(), "Uid");
        assert_eq!(uid("").split_whitespace().next(), Some("1777"));
        assert_eq!(uid("stay-root").split_whitespace().next(), Some("0"));
        Ok(())
    }));
    trials.push(Trial::test("witness::supplementary_groups_of_root_are_dropped", || {
        let groups = |variant| {
            let wrapper = ["setpriv", "--groups", "0,42"];
            status(Scene::through(By::Root, variant, &wrapper).start(WAIT).init(), "Groups")
        };
        assert_eq!(groups(""), "");
        assert!(groups("keep-groups").contains("42"));
        Ok(())
    }));
    trials
}

//! Attempts on what lies beside the workload on the host: IPC, processes, terminals, files, the kernel's interfaces.

use std::{
    fs::{self, File},
    io::Read,
    os::fd::{AsRawFd, OwnedFd},
    process::{Command, Stdio},
};

use nix::{pty::openpty, sched::CloneFlags};
use watertight_probe::{
    observation::{Facts, Outcome},
    plan::{Access, Attempt, IpcObject, KernelCall, TerminalWay},
};

use crate::{
    launch::{launch, launch_after, nonce, plan},
    sys,
};

crate::trials! {
    an_object_of_ipc_is_found_in_its_namespace_and_in_no_other,
    a_process_is_asked_for_where_it_is_seen_and_goes_on,
    the_controlling_terminal_is_written_to_and_typed_into_and_no_other,
    a_file_is_opened_without_a_change_and_appended_to_without_being_made,
    a_kernel_interface_is_asked_for_and_refused_by_a_filter,
}

fn an_object_of_ipc_is_found_in_its_namespace_and_in_no_other() {
    nix::sched::unshare(CloneFlags::CLONE_NEWIPC).expect("an IPC namespace");
    let key = 0x0077_5431;
    sys::make_semaphores(key);
    let attempts = plan([
        Attempt::Ipc { object: IpcObject::Semaphores(key) },
        Attempt::Ipc { object: IpcObject::Semaphores(key + 1) },
        Attempt::Ipc { object: IpcObject::Messages(key) },
    ]);
    let said = launch(&attempts);
    assert_eq!(said.facts(0), &Facts::Granted);
    assert_eq!(said.refused(1), ("semget", libc::ENOENT), "none is made by asking");
    assert_eq!(said.refused(2), ("msgget", libc::ENOENT));
    nix::sched::unshare(CloneFlags::CLONE_NEWIPC).expect("another IPC namespace");
    assert_eq!(launch(&attempts).refused(0), ("semget", libc::ENOENT));
}

fn a_process_is_asked_for_where_it_is_seen_and_goes_on() {
    let mut other = Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().expect("a process");
    let pid = other.id() as i32;
    let all = [Access::Signal, Access::Descriptor, Access::Trace, Access::Arguments, Access::Environment];
    let attempts = plan(all.map(|access| Attempt::Process { pid, access }));
    let said = launch(&attempts);
    for (index, access) in all.iter().enumerate() {
        assert_eq!(said.facts(index), &Facts::Granted, "{access:?}");
    }
    // A number that no process of the new namespace has.
    let hidden = launch_after(&attempts, sys::enter_pid_namespace);
    for (index, access) in all.iter().enumerate() {
        let (_, errno) = hidden.refused(index);
        assert!([libc::ESRCH, libc::ENOENT].contains(&errno), "{access:?}: {errno}");
    }
    assert_eq!(other.try_wait().expect("asked"), None, "it was neither signalled nor stopped");
    other.kill().expect("killed");
    other.wait().expect("ended");
}

/// The terminal's other end, after a launch with this one as its controlling terminal.
fn typed(way: TerminalWay, controlling: bool) -> (String, Outcome) {
    let pair = openpty(None, None).expect("a terminal");
    let slave: OwnedFd = pair.slave;
    let number = slave.as_raw_fd();
    let said = launch_after(&plan([Attempt::Terminal { way }]), move || {
        nix::unistd::setsid()?;
        if controlling { sys::take_terminal(number) } else { Ok(()) }
    });
    // Closed at both ends, what it holds is read to its end.
    drop(slave);
    let mut text = Vec::new();
    let mut master = File::from(pair.master);
    let mut buffer = [0; 256];
    while let Ok(len @ 1..) = master.read(&mut buffer) {
        text.extend(&buffer[..len]);
    }
    (String::from_utf8_lossy(&text).into_owned(), said.outcome(0).clone())
}

fn the_controlling_terminal_is_written_to_and_typed_into_and_no_other() {
    let types = fs::read_to_string("/proc/sys/dev/tty/legacy_tiocsti").map_or(true, |text| text.trim() != "0");
    for way in [TerminalWay::Write, TerminalWay::Inject, TerminalWay::InjectWithHighBit] {
        let (text, outcome) = typed(way, true);
        if way == TerminalWay::Write || types {
            assert!(text.contains(&format!("wt:{}", nonce(0))), "{way:?}: {text:?} {outcome:?}");
            assert!(matches!(outcome, Outcome::Silent { .. }), "{way:?}: {outcome:?}");
        } else {
            assert!(matches!(outcome, Outcome::Refused { .. }), "{way:?}: {outcome:?}");
        }
        let (text, outcome) = typed(way, false);
        assert_eq!((text.as_str(), &outcome), ("", &Outcome::Refused { call: "open".into(), errno: libc::ENXIO }));
    }
}

fn a_file_is_opened_without_a_change_and_appended_to_without_being_made() {
    let path = std::env::temp_dir().join(format!("watertight-probe-append-{}", std::process::id()));
    fs::write(&path, "before\n").expect("written");
    let (there, gone) = (path.display().to_string(), format!("{}-gone", path.display()));
    let open = |path: &String, read| Attempt::Open { path: path.clone(), read };
    let said = launch(&plan([open(&there, false), open(&there, true), open(&gone, false)]));
    assert_eq!((said.facts(0), said.facts(1)), (&Facts::Granted, &Facts::Granted));
    assert_eq!(said.refused(2), ("open", libc::ENOENT));
    assert_eq!(fs::read_to_string(&path).expect("there"), "before\n");
    let said = launch(&plan([Attempt::Append { path: there }, Attempt::Append { path: gone.clone() }]));
    assert_eq!(said.refused(1), ("open", libc::ENOENT));
    assert_eq!(fs::read_to_string(&path).expect("there"), format!("before\nwt:{}\n", nonce(0)));
    assert!(!fs::exists(gone).expect("asked"));
    fs::remove_file(path).expect("removed");
}

fn a_kernel_interface_is_asked_for_and_refused_by_a_filter() {
    let attempts = plan(KernelCall::ALL.map(|call| Attempt::Kernel { call }));
    let said = launch(&attempts);
    for (index, call) in KernelCall::ALL.into_iter().enumerate() {
        assert_eq!(matches!(said.outcome(index), Outcome::Found { .. }), call.is_granted(), "{call:?}");
    }
    let calls =
        [libc::SYS_io_uring_setup, libc::SYS_userfaultfd, libc::SYS_bpf, libc::SYS_perf_event_open, libc::SYS_keyctl];
    let said = launch_after(&attempts, move || {
        sys::drop_privileges()?;
        sys::filter(&calls, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32)
    });
    for (index, call) in KernelCall::ALL.into_iter().enumerate() {
        assert!(matches!(said.outcome(index), Outcome::Refused { .. }), "{call:?}");
    }
}

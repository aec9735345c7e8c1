//! The probe's processes as they were seen from outside, in words: what they share with the host, whom they run as there, and
//! what they may do.

use std::{collections::BTreeMap, fmt};

use watertight_reports::evidence::{Process, Thread};

/// Three lines for those that are alike, with their number.
pub fn processes(processes: &[Process]) -> Vec<String> {
    let mut alike: BTreeMap<[String; 3], usize> = BTreeMap::new();
    for process in processes {
        *alike.entry([shared(process), ids(process), rights(process)]).or_default() += 1;
    }
    let lines = |([shared, ids, rights], number): ([String; 3], usize)| {
        let who = match number {
            1 => "1 process that shares".to_owned(),
            _ => format!("{number} processes that share"),
        };
        [format!("{who} with the host: {shared}"), ids, rights]
    };
    alike.into_iter().flat_map(lines).collect()
}

/// The kinds of namespaces that a process of the target has in common with its launcher.
fn shared(process: &Process) -> String {
    let shared = process.namespaces.iter().filter(|(kind, inode)| process.world_namespaces.get(*kind) == Some(*inode));
    let shared: Vec<&str> = shared.map(|(kind, _)| kind.as_str()).collect();
    if shared.is_empty() { "no namespace".into() } else { shared.join(", ") }
}

/// Ids outside, and the maps of a user namespace of its own.
fn ids(process: &Process) -> String {
    let of_thread = |thread: &Thread| {
        let groups = if thread.groups.is_empty() { "none".into() } else { spaced(&thread.groups) };
        format!("uid {}, gid {}, supplementary groups {groups}", same(thread.uid), same(thread.gid))
    };
    let maps = match process.namespaces.get("user") == process.world_namespaces.get("user") {
        true => String::new(),
        false => {
            format!("; uid map {}, gid map {} (inside outside length)", map(&process.uid_map), map(&process.gid_map))
        }
    };
    format!("outside they are {}{maps}", of_threads(process, of_thread))
}

/// Capabilities, no_new_privs and filters.
fn rights(process: &Process) -> String {
    let of_thread = |thread: &Thread| {
        let Thread { inheritable, permitted, effective, bounding, ambient, .. } = thread;
        let filter = match thread.seccomp {
            0 => "no seccomp filter",
            1 => "strict seccomp",
            _ => "a seccomp filter",
        };
        let new = if thread.no_new_privs { "set" } else { "not set" };
        format!(
            "capabilities inh {inheritable:x} prm {permitted:x} eff {effective:x} bnd {bounding:x} amb {ambient:x}, no_new_privs {new}, {filter}"
        )
    };
    of_threads(process, of_thread)
}

/// What the threads of a process have, each only once.
fn of_threads(process: &Process, of: impl Fn(&Thread) -> String) -> String {
    let mut each: Vec<String> = process.threads.iter().map(of).collect();
    each.sort();
    each.dedup();
    each.join("; and ")
}

/// One number where all four are the same.
fn same([real, effective, saved, of_files]: [u32; 4]) -> String {
    match [effective, saved, of_files] == [real; 3] {
        true => real.to_string(),
        false => format!("{real} (effective {effective}, saved {saved}, of the file system {of_files})"),
    }
}

fn map(lines: &[[u64; 3]]) -> String {
    if lines.is_empty() { "none".into() } else { lines.iter().map(|line| spaced(line)).collect::<Vec<_>>().join(", ") }
}

fn spaced(numbers: &[impl fmt::Display]) -> String {
    numbers.iter().map(|number| number.to_string()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread() -> Thread {
        Thread {
            tid: 7,
            uid: [1777; 4],
            gid: [1777; 4],
            groups: vec![],
            inheritable: 0,
            permitted: 0,
            effective: 0,
            bounding: 0x1ff,
            ambient: 0,
            no_new_privs: true,
            seccomp: 2,
        }
    }

    fn process(user: u64, threads: Vec<Thread>) -> Process {
        let of = |user| [("net".to_owned(), 1), ("user".to_owned(), user)].into();
        Process {
            pid: 9,
            comm: "w".into(),
            namespaces: of(user),
            world_namespaces: of(2),
            uid_map: vec![[0, 1777, 1], [1, 100_000, 65_536]],
            gid_map: vec![],
            threads,
        }
    }

    #[test]
    fn those_that_are_alike_are_told_once_with_whom_they_run_as_and_what_they_may_do() {
        let seen = processes(&[process(2, vec![thread()]), process(2, vec![thread(), thread()])]);
        assert_eq!(
            seen,
            [
                "2 processes that share with the host: net, user",
                "outside they are uid 1777, gid 1777, supplementary groups none",
                "capabilities inh 0 prm 0 eff 0 bnd 1ff amb 0, no_new_privs set, a seccomp filter",
            ]
        );
    }

    #[test]
    fn a_user_namespace_of_its_own_is_told_with_its_maps() {
        let seen = processes(&[process(3, vec![thread()])]);
        assert_eq!(seen[0], "1 process that shares with the host: net");
        assert!(
            seen[1].ends_with("; uid map 0 1777 1, 1 100000 65536, gid map none (inside outside length)"),
            "{seen:?}"
        );
    }

    #[test]
    fn threads_and_ids_that_differ_are_all_told() {
        let other = Thread { uid: [1777, 0, 0, 0], groups: vec![4, 24], effective: 1, no_new_privs: false, ..thread() };
        let seen = processes(&[process(2, vec![thread(), other])]);
        let ids = "outside they are uid 1777 (effective 0, saved 0, of the file system 0), gid 1777, supplementary groups \
                   4 24; and uid 1777, gid 1777, supplementary groups none";
        assert_eq!(seen[1], ids);
        assert!(seen[2].contains("eff 1 ") && seen[2].contains("; and ") && seen[2].contains("not set"), "{seen:?}");
    }
}

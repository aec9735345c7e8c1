//! `watertight adapted`: one launch through an adapter, from its hello to its end.

use std::{collections::BTreeMap, fs, io::Write, os::unix::fs::MetadataExt, path::Path, process::ExitCode};

use super::{
    marks::Mark,
    order::Order,
    protocol::{Ended, Gone, Hello, Inspected, Namespace, PROTOCOL, Started, Support, Up, Verb},
    talk::{Heed, Talk},
    trouble::{Trouble, shown},
};
use crate::{
    commands,
    planner::{INSTANCE_PORT, PROVIDER_PORT},
    sys,
};

/// Exit status of a launcher that failed, apart from every status of the workload (as env(1) has it).
const FAILED: u8 = 125;
/// Processes that are told further.
const PIDS_TOLD: usize = 20;

/// Carries the order out. Ends as the workload did.
pub fn run(words: Vec<String>) -> ExitCode {
    let order = match Order::read(words) {
        Ok(order) => order,
        Err(error) => return commands::refuse(&error, commands::USAGE),
    };
    match carried(&order) {
        Ok(status) => ExitCode::from(status),
        Err(Trouble::Asked(signal)) => ExitCode::from(signal.saturating_add(128)),
        Err(trouble) if trouble.is_the_adapters() => {
            say(&Mark::Trouble(trouble.to_string()));
            ExitCode::from(FAILED)
        }
        Err(trouble) => commands::refuse(&trouble, FAILED),
    }
}

fn carried(order: &Order) -> Result<u8, Trouble> {
    // Before anything else is opened, so that the numbers are free.
    sys::give_workload_descriptors()?;
    let asked = commands::asked_to_end()?;
    let mut talk = Talk::start(&order.adapter, asked)?;
    let ran = if order.only_hello { hello(&mut talk, order) } else { through(&mut talk, order) };
    // The end of its input tells an adapter that nobody will ask any more: whatever happened, it ends what it started.
    let ended = talk.end(order.deadlines.end);
    match (ran, ended) {
        (Ok(status), Ok(())) => Ok(status),
        (Ok(_) | Err(Trouble::Asked(_)), Err(trouble)) | (Err(trouble), _) => Err(trouble),
    }
}

/// Prints what the sandbox is.
fn hello(talk: &mut Talk, order: &Order) -> Result<u8, Trouble> {
    let Hello { name, version, .. } = introduced(talk, order)?;
    writeln!(std::io::stdout(), "{} {}", shown(name), shown(version))?;
    Ok(0)
}

fn introduced(talk: &mut Talk, order: &Order) -> Result<Hello, Trouble> {
    let hello: Hello = talk.ask(Verb::Hello { protocol: PROTOCOL }, order.deadlines.hello, Heed::Signals)?;
    if hello.protocol == PROTOCOL { Ok(hello) } else { Err(Trouble::Version { theirs: hello.protocol }) }
}

fn through(talk: &mut Talk, order: &Order) -> Result<u8, Trouble> {
    let hello = introduced(talk, order)?;
    let route = if order.route == "sockets" { Support::Sockets } else { Support::None };
    if !hello.supports.contains(&route) {
        return Err(Trouble::Route { route: order.route.clone() });
    }
    let answer = |verb| move |why: String| Trouble::Answer { verb, why };
    // Who is asked to end meanwhile waits for the sandbox, so that it can be ended in good order.
    let started: Started = talk.ask(up(order), order.deadlines.up, Heed::Nothing)?;
    let sandbox = started.check().map_err(answer("up"))?;
    let ran = inside(talk, order, &sandbox, hello.supports.contains(&Support::Inspect));
    if let Err(trouble) = &ran
        && !trouble.leaves_it_speaking()
    {
        return ran;
    }
    let mut down = Ok(Gone {});
    for _ in 0..1 + u32::from(order.down_twice) {
        // One who asks for the end twice does not want a sandbox that stays.
        down = down.and_then(|_| talk.ask(Verb::Down { sandbox: &sandbox }, order.deadlines.down, Heed::Nothing));
    }
    match (ran, down) {
        (Err(trouble), _) if trouble.is_the_adapters() => Err(trouble),
        (_, Err(trouble)) => Err(trouble),
        (ran, Ok(Gone {})) => ran,
    }
}

fn up(order: &Order) -> Verb<'_> {
    let sockets = order.sockets.as_deref();
    let ports = [("provider", PROVIDER_PORT), ("instance", INSTANCE_PORT)];
    Verb::Up(Up {
        route: &order.route,
        sockets,
        ports: if sockets.is_some() { BTreeMap::from(ports) } else { BTreeMap::new() },
        program: &order.program,
        workspace: &order.workspace,
        run_dir: &order.run_dir,
        environment: &order.environment,
    })
}

/// Everything between `up` and `down`.
fn inside(talk: &mut Talk, order: &Order, sandbox: &str, inspects: bool) -> Result<u8, Trouble> {
    if inspects {
        let seen: Inspected = talk.ask(Verb::Inspect { sandbox }, order.deadlines.inspect, Heed::Signals)?;
        let seen = seen.check().map_err(|why| Trouble::Answer { verb: "inspect", why })?;
        agrees(&seen)?;
        say(&Mark::Inspected(told(seen)));
    }
    let exec = Verb::Exec { sandbox, argv: &order.workload };
    let ended: Ended = talk.ask(exec, order.deadlines.exec, Heed::Signals)?;
    Ok(ended.status())
}

/// What the adapter says of the sandbox is so, as far as this process may look.
fn agrees(seen: &Inspected) -> Result<(), Trouble> {
    if let Some(pid) = seen.pids.iter().find(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
        return Err(Trouble::Process { pid: *pid });
    }
    if let Some(path) = &seen.cgroup
        && !Path::new("/sys/fs/cgroup").join(path.trim_start_matches('/')).is_dir()
    {
        return Err(Trouble::Cgroup { path: shown(path) });
    }
    for (kind, inode) in &seen.namespaces {
        let of = |pid: &u32| fs::metadata(format!("/proc/{pid}/ns/{}", kind.name())).ok().map(|file| file.ino());
        let found: Vec<u64> = seen.pids.iter().filter_map(of).collect();
        if !found.is_empty() && !found.contains(inode) {
            let why = format!("none of its processes is in the {} namespace {inode} that it names", kind.name());
            return Err(Trouble::Answer { verb: "inspect", why });
        }
    }
    Ok(())
}

/// The same as JSON, short and harmless.
fn told(seen: Inspected) -> String {
    let Inspected { mut pids, cgroup, namespaces, unseen } = seen;
    pids.truncate(PIDS_TOLD);
    let namespaces: BTreeMap<&str, u64> =
        namespaces.iter().map(|(kind, inode)| (Namespace::name(*kind), *inode)).collect();
    let (cgroup, unseen) = (cgroup.map(shown), unseen.map(shown));
    serde_json::json!({"pids": pids, "cgroup": cgroup, "namespaces": namespaces, "unseen": unseen}).to_string()
}

/// Tells the harness. Where nobody listens, nothing is lost but the words.
fn say(mark: &Mark) {
    let _ = std::io::stderr().write_all(mark.line().as_bytes());
}

//! The probe from its first instruction to its end.

use std::{
    fs::File,
    io::Read,
    path::Path,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use crate::{
    executor::{Environment, Executor},
    gate::{self, Opened},
    observation::Hello,
    output::Output,
    plan::{End, Plan},
    samples::Samples,
    sys::{descriptors, privileges, process, signals},
    wire::{self, Line},
};

/// The program's argument that is followed by `--plan` and a plan: see [`run`].
pub const PROBE_COMMAND: &str = "probe";
/// The option that is followed by a file with the plan, for targets that take no long argument: see [`run_file`].
pub const PLAN_FILE_OPTION: &str = "--plan-file";
/// Exit status where the plan could not be read.
pub const UNREADABLE_PLAN: u8 = 64;
/// Exit status where the probe refused to go on.
const STOPPED: u8 = 65;
/// Exit status where standard output took no more lines.
const OUTPUT_LOST: u8 = 74;
/// What the probe says of where it is, for a harness that cannot see its process.
const NAMESPACES: [&str; 7] = ["net", "user", "mnt", "pid", "ipc", "uts", "cgroup"];
const VARIABLES: [&str; 2] = ["HOME", "TMPDIR"];
const LONGEST_VARIABLE: usize = 100;
/// How long [`End::Stay`] stays.
const STAY: Duration = Duration::from_secs(60);

/// The same with the plan in a file, of at most [`wire::MAX_PLAN`] bytes. The file is closed again before descriptors are looked at.
pub fn run_file(path: &Path) -> u8 {
    let read = File::open(path).and_then(|file| {
        let mut text = String::new();
        file.take(wire::MAX_PLAN as u64).read_to_string(&mut text)?;
        Ok(text)
    });
    match read {
        Ok(plan) => run(&plan),
        Err(error) => {
            Output::new("?").line(&Line::Stopped { reason: format!("{}: {error}", path.display()) });
            UNREADABLE_PLAN
        }
    }
}

/// Does what the plan says and answers with the exit status. Call it before the program opens a descriptor or starts a thread.
pub fn run(plan_argument: &str) -> u8 {
    let inherited = descriptors::inherited();
    signals::prepare();
    let plan = match wire::decode_plan(plan_argument) {
        Ok(plan) => plan,
        Err(error) => {
            Output::new("?").line(&Line::Stopped { reason: error.to_string() });
            return UNREADABLE_PLAN;
        }
    };
    let mut output = Output::new(&plan.launch);
    process::set_name(&plan.comm);
    if let Err(reason) = launch(&plan, inherited, &mut output) {
        output.line(&Line::Stopped { reason });
        return STOPPED;
    }
    if output.lost() {
        return OUTPUT_LOST;
    }
    end(&plan.end)
}

/// Everything between the plan and `Done`; an error is why the probe refused to go on.
fn launch(plan: &Plan, inherited: Vec<i32>, output: &mut Output) -> Result<(), String> {
    refuse_expired(plan)?;
    let netns = gate::namespace_cookie();
    if netns == Some(plan.machine_netns) {
        return Err(format!("this is the machine's own network namespace (cookie {})", plan.machine_netns));
    }
    let environment = Environment {
        inherited,
        machine_netns: plan.machine_netns,
        machine_mnt: plan.machine_mnt,
        bearer: plan.bearer.clone(),
    };
    let mut first = Executor::new(&plan.first, plan.first.len(), &environment)?;
    first.start_all();
    let samples = Samples::start(&plan.comm);
    output.line(&Line::Hello(hello(&samples, netns)));
    first.finish(output);
    let opened = gate::wait(plan.gate);
    // The forks below come from a process with one thread, so the sampled one ends here.
    samples.release();
    match opened {
        Opened::Go => {}
        Opened::Not(reason) => return Err(reason),
    }
    refuse_expired(plan)?;
    let mut executor = Executor::new(&plan.attempts, plan.parallel.into(), &environment)?;
    executor.start_all();
    executor.finish(output);
    let mut last = Executor::new(&plan.last, 1, &environment)?;
    last.start_all();
    last.finish(output);
    let attempts = plan.first.len() + plan.attempts.len() + plan.last.len();
    output.line(&Line::Done { attempts: attempts as u32 });
    Ok(())
}

fn hello(samples: &Samples, netns: Option<u64>) -> Hello {
    let own = privileges::of_this_thread("self");
    Hello {
        pid: process::own_pid(),
        forked: samples.forked(),
        executed: samples.executed(),
        uid: own.uid[0],
        gid: own.gid[0],
        netns,
        namespaces: NAMESPACES.iter().filter_map(|kind| Some(((*kind).to_owned(), namespace(kind)?))).collect(),
        variables: VARIABLES.iter().filter_map(|name| Some(((*name).to_owned(), variable(name)?))).collect(),
    }
}

/// The inode of this process's namespace, from a link such as `net:[4026531840]`. What is no Linux may have none, or invent it.
fn namespace(kind: &str) -> Option<u64> {
    let link = std::fs::read_link(format!("/proc/self/ns/{kind}")).ok()?;
    link.to_str()?.strip_prefix(kind)?.strip_prefix(":[")?.strip_suffix(']')?.parse().ok()
}

fn variable(name: &str) -> Option<String> {
    Some(wire::escape(std::env::var_os(name)?.as_encoded_bytes(), LONGEST_VARIABLE))
}

fn refuse_expired(plan: &Plan) -> Result<(), String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    if now > plan.expires {
        return Err(format!("the plan expired at {} and it is {now}", plan.expires));
    }
    Ok(())
}

fn end(end: &End) -> u8 {
    match end {
        End::Exit(status) => *status,
        End::Signal(signal) => {
            signals::die_by(*signal);
            // The first process of a pid namespace does not die by its own signals: say it as shells do.
            128u8.saturating_add(*signal as u8)
        }
        End::Stay => {
            gate::stay(STAY);
            0
        }
    }
}

//! The probe from its first instruction to its end.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

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
/// Exit status where the plan could not be read.
pub const UNREADABLE_PLAN: u8 = 64;
/// Exit status where the probe refused to go on.
const STOPPED: u8 = 65;
/// Exit status where standard output took no more lines.
const OUTPUT_LOST: u8 = 74;
/// How long [`End::Stay`] stays.
const STAY: Duration = Duration::from_secs(60);

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
    }
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

//! Targets beside each other: each job slot has a thread and, for one target at a time, a world of its own.

use std::{
    fs::File,
    io::{self, Read},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{self, RecvTimeoutError, Sender},
    },
    thread,
    time::Duration,
};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::os::fd::AsFd;
use watertight_reports::evidence::Launch;

use super::{Chosen, Plan, show::Show};
use crate::{
    commands::sys,
    keep::Keep,
    outcome,
    run::{Listener, Options},
};

/// How the jobs came to an end.
pub enum Ended {
    All,
    /// By a signal. Jobs may still be running.
    Interrupted,
}

/// A target's results, or why it could not be run.
pub type Outcome = Result<outcome::Outcome, String>;

enum Event {
    Stage(usize, String),
    Done(usize, Box<Outcome>),
    Interrupted,
}

/// Time between two looks at the clock that a terminal shows.
const TICK: Duration = Duration::from_millis(100);

/// Runs every target, at most `slots` at once, and shows what they say as they say it.
pub fn run(plan: &Arc<Plan>, slots: usize, show: &mut Show<'_>) -> io::Result<Ended> {
    let (sender, events) = mpsc::channel();
    let mut asked = File::from(sys::asked_to_end()?);
    let interrupt = sender.clone();
    thread::Builder::new().name("interrupt".into()).spawn(move || {
        let readable = PollFd::new(asked.as_fd(), PollFlags::POLLIN);
        while poll(&mut [readable.clone()], PollTimeout::NONE).is_err() {}
        let _ = asked.read(&mut [0]);
        // Nobody listens any more where all is done already.
        let _ = interrupt.send(Event::Interrupted);
    })?;
    let next = Arc::new(AtomicUsize::new(0));
    for _ in 0..slots.min(plan.chosen.len()) {
        let (plan, next, sender) = (Arc::clone(plan), Arc::clone(&next), sender.clone());
        thread::Builder::new().name("job".into()).spawn(move || {
            while let Some(index) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < plan.chosen.len()) {
                let outcome = Box::new(one(&plan, index, &sender));
                if sender.send(Event::Done(index, outcome)).is_err() {
                    return;
                }
            }
        })?;
    }
    let mut left = plan.chosen.len();
    while left > 0 {
        match events.recv_timeout(TICK) {
            Ok(Event::Stage(index, text)) => show.stage(&plan.chosen[index], &text),
            Ok(Event::Done(index, outcome)) => {
                left -= 1;
                show.done(index, &plan.chosen[index].target, *outcome);
            }
            Ok(Event::Interrupted) => return Ok(Ended::Interrupted),
            Err(RecvTimeoutError::Timeout) => show.tick(),
            // The sender of this function is alive.
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    Ok(Ended::All)
}

fn one(plan: &Plan, index: usize, sender: &Sender<Event>) -> Outcome {
    let chosen = &plan.chosen[index];
    let Chosen { target, profile, checks } = chosen;
    let keep = plan.out.as_ref().map(|out| out.begin(plan, chosen)).transpose()?;
    let options = Options { salt: keep.as_ref().map(Keep::salt), ..plan.options.clone() };
    let run = outcome::Run {
        target,
        profile: *profile,
        checks,
        complete: plan.filter.is_none(),
        options: &options,
        with_mutants: plan.with_mutants,
        by_root: plan.by_root,
        identity: &plan.identity,
        filter: plan.filter.as_deref(),
    };
    let listener = Told { index, sender, keep: keep.as_ref() };
    let outcome = catch_unwind(AssertUnwindSafe(|| outcome::of(&run, &listener)))
        .map_err(|_| "the harness failed: this is a bug of Watertight".to_owned())?
        .map_err(|error| error.to_string())?;
    if let (Some(keep), Some(out)) = (keep, &plan.out) {
        keep.finish(&outcome, target, &out.supplied).map_err(|error| format!("the evidence is lost: {error}"))?;
    }
    Ok(outcome)
}

/// Passes on what a job says.
struct Told<'a> {
    index: usize,
    sender: &'a Sender<Event>,
    keep: Option<&'a Keep>,
}

impl Listener for Told<'_> {
    fn stage(&self, stage: &str) {
        // Nobody listens any more after an interrupt.
        let _ = self.sender.send(Event::Stage(self.index, stage.to_owned()));
        if let Some(keep) = self.keep {
            keep.stage(stage);
        }
    }

    fn launch(&self, launch: &Launch) {
        if let Some(keep) = self.keep {
            keep.launch(launch);
        }
    }
}

//! Runs attempts, each in a process of its own with a deadline, many at a time.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use sha2::{Digest, Sha256};

use crate::{
    attempts,
    context::Context,
    cut,
    observation::{Observation, Outcome},
    output::Output,
    plan::{BearerAt, Planned},
    sys::{
        memory::{PAYLOAD, Slot, Slots},
        process::{self, End, Pid},
        signals,
    },
    wire::Line,
};

/// How often a running attempt that has not begun yet is looked at.
const GLANCE: Duration = Duration::from_millis(1);

/// How long before its deadline an attempt stops by itself, at most: a busy machine may run it late, and killing tells less.
const MARGIN: Duration = Duration::from_millis(250);

/// What every attempt may look at.
pub struct Environment {
    /// Descriptors that the probe was started with.
    pub inherited: Vec<i32>,
    pub machine_netns: u64,
    pub machine_mnt: Option<u64>,
    pub bearer: Option<BearerAt>,
}

/// Attempts that wait, run and have ended.
pub struct Executor<'a> {
    environment: &'a Environment,
    slots: Slots,
    waiting: VecDeque<(usize, &'a Planned)>,
    running: Vec<Running<'a>>,
    parallel: usize,
    reports: VecDeque<Report>,
    /// Since when no process could be made although none was running.
    starved: Option<Instant>,
}

struct Running<'a> {
    planned: &'a Planned,
    slot: usize,
    pid: Pid,
    started: Instant,
    announced: bool,
    late: bool,
}

enum Report {
    Began(String),
    Observed(Observation),
}

impl<'a> Executor<'a> {
    /// An error says that there is no memory to share.
    pub fn new(planned: &'a [Planned], parallel: usize, environment: &'a Environment) -> Result<Self, String> {
        let slots = Slots::new(planned.len()).map_err(|error| format!("no shared memory for the attempts: {error}"))?;
        // SHA-256 asks the processor once what it can do, which takes a virtual machine long: not in every child again.
        Sha256::digest([]);
        Ok(Self {
            environment,
            slots,
            waiting: planned.iter().enumerate().collect(),
            running: Vec::new(),
            parallel: parallel.max(1),
            reports: VecDeque::new(),
            starved: None,
        })
    }

    /// Starts as many attempts as may run at once. Waits for nothing.
    pub fn start_all(&mut self) {
        while self.running.len() < self.parallel {
            let Some((slot, planned)) = self.waiting.pop_front() else { return };
            match self.start(slot, planned) {
                Ok(pid) => {
                    self.starved = None;
                    let started = Instant::now();
                    self.running.push(Running { planned, slot, pid, started, announced: false, late: false });
                }
                // No process to be had: an attempt that ends gives one back. That is no observation.
                Err(error) => {
                    self.waiting.push_front((slot, planned));
                    if self.running.is_empty() {
                        self.starve(&error);
                    }
                    return;
                }
            }
        }
    }

    /// Runs everything to its end and writes what was observed.
    pub fn finish(&mut self, output: &mut Output) {
        loop {
            self.announce();
            self.flush(output);
            if self.running.is_empty() && self.waiting.is_empty() {
                return;
            }
            signals::wait_for_child(self.patience());
            self.kill_late();
            self.collect();
            self.start_all();
        }
    }

    fn start(&self, slot: usize, planned: &Planned) -> std::io::Result<Pid> {
        process::spawn(|| attempt(self.slots.slot(slot), planned, self.environment))
    }

    /// After the time of a whole attempt without a process, says so: there is then no receipt.
    fn starve(&mut self, error: &std::io::Error) {
        let since = *self.starved.get_or_insert_with(Instant::now);
        let Some((_, planned)) = self.waiting.front() else { return };
        if since.elapsed() >= allowed(planned) {
            let message = format!("no process for the attempt: {error}");
            self.reports.push_back(Report::Observed(observation(planned, Outcome::Broken { message }, 0)));
            self.waiting.pop_front();
            self.starved = None;
        }
    }

    /// Until the next deadline; short where a process has still to say that it began, to die, or to be made.
    fn patience(&self) -> Duration {
        let restless = |attempt: &Running<'_>| !attempt.announced || attempt.late;
        if self.running.is_empty() || self.running.iter().any(restless) {
            return GLANCE;
        }
        let left = |attempt: &Running<'_>| allowed(attempt.planned).saturating_sub(attempt.started.elapsed());
        self.running.iter().map(left).min().unwrap_or(GLANCE)
    }

    fn announce(&mut self) {
        for attempt in self.running.iter_mut().filter(|attempt| !attempt.announced) {
            if self.slots.slot(attempt.slot).begun() {
                attempt.announced = true;
                self.reports.push_back(Report::Began(attempt.planned.id.clone()));
            }
        }
    }

    fn kill_late(&mut self) {
        for attempt in &mut self.running {
            if attempt.started.elapsed() >= allowed(attempt.planned) {
                attempt.late = true;
                process::kill_group(attempt.pid);
            }
        }
    }

    fn collect(&mut self) {
        while let Some(pid) = process::ended() {
            let ours = self.running.iter().position(|attempt| attempt.pid == pid);
            if ours.is_some() {
                process::kill_rest_of_group(pid);
            }
            let Ok(end) = process::wait_for(pid) else { return };
            // Others are samples, or orphans that a first process inherits.
            if let Some(index) = ours {
                self.announce();
                let attempt = self.running.swap_remove(index);
                let observation = judge_end(&attempt, self.slots.slot(attempt.slot), end);
                self.reports.push_back(Report::Observed(observation));
            }
        }
    }

    fn flush(&mut self, output: &mut Output) {
        for report in self.reports.drain(..) {
            match report {
                Report::Began(attempt) => output.line(&Line::Began { attempt }),
                Report::Observed(observation) => output.observed(observation),
            }
        }
    }
}

fn allowed(planned: &Planned) -> Duration {
    Duration::from_millis(planned.deadline_ms.into())
}

/// The attempt's process.
fn attempt(slot: &Slot, planned: &Planned, environment: &Environment) -> u8 {
    let started = Instant::now();
    slot.begin();
    process::own_group();
    signals::prepare_child();
    let allowed = allowed(planned);
    let context = Context {
        nonce: planned.nonce,
        until: started + allowed - (allowed / 4).min(MARGIN),
        slot,
        inherited: &environment.inherited,
        machine_netns: environment.machine_netns,
        machine_mnt: environment.machine_mnt,
        bearer: environment.bearer.as_ref(),
    };
    let outcome = attempts::make(&context, &planned.attempt).unwrap_or_else(Outcome::from);
    let micros = started.elapsed().as_micros() as u64;
    let result = cut::to_fit(observation(planned, outcome, micros), |fitting| {
        serde_json::to_vec(fitting).ok().filter(|bytes| bytes.len() <= PAYLOAD)
    });
    u8::from(!result.is_some_and(|bytes| slot.finish(micros, &bytes)))
}

/// What is said of an attempt whose process has ended.
fn judge_end(attempt: &Running<'_>, slot: &Slot, end: End) -> Observation {
    let micros = attempt.started.elapsed().as_micros() as u64;
    if let Some((_, bytes)) = slot.result() {
        return match serde_json::from_slice::<Observation>(&bytes) {
            Ok(observation) if observation.attempt == attempt.planned.id => observation,
            Ok(_) | Err(_) => {
                let message = "the attempt's process left a result that cannot be read".to_owned();
                observation(attempt.planned, Outcome::Broken { message }, micros)
            }
        };
    }
    let outcome = match end {
        End::Killed(libc::SIGKILL) if attempt.late => Outcome::TimedOut { step: slot.step() },
        End::Killed(signal) => Outcome::Killed { signal },
        End::Exited(status) => Outcome::Broken {
            message: format!("the attempt's process ended with status {status} at {:?}", slot.step()),
        },
    };
    observation(attempt.planned, outcome, micros)
}

fn observation(planned: &Planned, outcome: Outcome, micros: u64) -> Observation {
    Observation { attempt: planned.id.clone(), outcome, micros, cut: false }
}

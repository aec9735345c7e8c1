//! Parked samples: a thread, a forked child and one that executed the program again, for the witness to look at.

use std::{
    fs::File,
    io,
    os::fd::{AsFd, OwnedFd},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use crate::{
    gate, program,
    sys::{
        descriptors, poll,
        process::{self, Pid},
        signals, socket,
    },
};

/// The program's argument that is followed by a name: see [`sample`].
pub const SAMPLE_COMMAND: &str = "probe-sample";
/// How long a sample stays, whatever happens.
const LONGEST: u32 = 120;
/// How long an executed sample may take to say that it is there.
const START: Duration = Duration::from_secs(2);

/// An executed sample: names itself, says so by one byte, and parks until its standard input ends or its parent does.
pub fn sample(comm: &str) {
    process::set_name(comm);
    signals::end_after(LONGEST);
    if descriptors::write(io::stdout().as_fd(), b"r").is_ok() {
        gate::park(io::stdin());
    }
}

/// Samples of one launch. Those that could not be made are not there: that is no fault.
pub struct Samples {
    /// Closing it releases the thread and the executed sample.
    park: Option<OwnedFd>,
    thread: Option<JoinHandle<()>>,
    forked: Option<Pid>,
    executed: Option<Pid>,
}

impl Samples {
    pub fn start(comm: &str) -> Self {
        let mut samples = Self { park: None, thread: None, forked: None, executed: None };
        samples.forked = fork_parked().ok();
        let Ok((parked, park)) = socket::pipe() else { return samples };
        samples.executed = execute_parked(&parked, comm).ok().flatten();
        // The thread comes last: no fork may happen while it is on its way into its one system call.
        samples.thread = gate::can_start_a_thread().then(|| start_thread(parked)).and_then(Result::ok);
        samples.park = Some(park);
        samples
    }

    /// 0 where no process could be forked.
    pub fn forked(&self) -> i32 {
        self.forked.map_or(0, |pid| pid.0)
    }

    pub fn executed(&self) -> Option<i32> {
        self.executed.map(|pid| pid.0)
    }

    /// Lets them end, and waits for it.
    pub fn release(self) {
        drop(self.park);
        if let Some(thread) = self.thread {
            // A parked thread cannot panic.
            thread.join().unwrap_or(());
        }
        self.forked.into_iter().for_each(process::kill_group);
        for pid in [self.forked, self.executed].into_iter().flatten() {
            // `ECHILD` where it was reaped while attempts ran: it has ended then as well.
            process::wait_for(pid).map(drop).unwrap_or(());
        }
    }
}

fn start_thread(parked: OwnedFd) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new().stack_size(64 * 1024).spawn(move || gate::park(File::from(parked)))
}

/// It needs nothing but a process: [`Samples::release`] kills it.
fn fork_parked() -> io::Result<Pid> {
    process::spawn(|| {
        process::own_group();
        signals::end_after(LONGEST);
        loop {
            signals::pause();
        }
    })
}

/// `None` where the program could not be executed.
fn execute_parked(parked: &OwnedFd, comm: &str) -> io::Result<Option<Pid>> {
    let (said, say) = socket::pipe()?;
    let pid = process::spawn(|| {
        process::own_group();
        signals::prepare_child();
        let ready = process::replace_standard(say.as_fd(), 1);
        if ready.and_then(|()| process::replace_standard(parked.as_fd(), 0)).is_ok() {
            program::execute_self(&[SAMPLE_COMMAND, comm]);
        }
        1
    })?;
    drop(say);
    let mut byte = [0];
    let there = matches!(poll::wait(said.as_fd(), poll::READ, Instant::now() + START), Ok(Some(_)))
        && matches!(descriptors::read(said.as_fd(), &mut byte), Ok(1))
        && byte == *b"r";
    if there {
        return Ok(Some(pid));
    }
    process::kill_group(pid);
    process::wait_for(pid)?;
    Ok(None)
}

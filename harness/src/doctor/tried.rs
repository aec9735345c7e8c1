//! One thing tried in a child process: nothing that it changes about itself stays.

use std::{
    fs::File,
    io::{Read, Write},
    os::fd::AsFd,
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};

use nix::{
    fcntl::OFlag,
    poll::{PollFd, PollFlags, PollTimeout, poll},
    unistd::pipe2,
};
use serde::{Deserialize, Serialize};
use watertight_reports::doctor::{Finding, Group, State};

use super::sys::{self, Forked};

/// What was seen, or what failed.
pub type Tried = Result<String, Failure>;

/// Why it did not work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The step and the error: `mount proc: EPERM`.
    pub what: String,
    pub errno: i32,
    /// What would change it, where the step itself knows.
    pub remedy: Option<String>,
}

/// How long a child may take. All of them are a few system calls.
const LONGEST: Duration = Duration::from_secs(5);

/// Tries it in a child. Call it before the program has a second thread.
pub fn in_child(attempt: impl FnOnce() -> Tried) -> Tried {
    let (read, write) = pipe2(OFlag::O_CLOEXEC).map_err(|errno| failure("make a pipe", errno))?;
    match sys::fork().map_err(|errno| failure("fork", errno))? {
        Forked::Child => {
            drop(read);
            let tried = catch_unwind(AssertUnwindSafe(attempt)).unwrap_or_else(|_| {
                Err(Failure { what: "the doctor failed: this is a bug of Watertight".into(), errno: 0, remedy: None })
            });
            // Where nobody reads it, nobody misses it.
            let _ = serde_json::to_vec(&tried).map(|bytes| File::from(write).write_all(&bytes));
            sys::exit_now()
        }
        Forked::Parent(child) => {
            drop(write);
            let mut answer = vec![];
            let mut read = File::from(read);
            let deadline = Instant::now() + LONGEST;
            while Instant::now() < deadline {
                let left = deadline.saturating_duration_since(Instant::now()).as_millis() + 1;
                let timeout = PollTimeout::try_from(left as i32).unwrap_or(PollTimeout::MAX);
                if poll(&mut [PollFd::new(read.as_fd(), PollFlags::POLLIN)], timeout).is_ok_and(|ready| ready > 0) {
                    let mut buffer = [0; 1024];
                    match read.read(&mut buffer) {
                        Ok(0) | Err(_) => break,
                        Ok(len) => answer.extend_from_slice(&buffer[..len]),
                    }
                }
            }
            sys::end(child);
            serde_json::from_slice(&answer).unwrap_or_else(|_| {
                Err(Failure { what: "the attempt ended without an answer".into(), errno: 0, remedy: None })
            })
        }
    }
}

pub fn failure(step: &str, errno: nix::errno::Errno) -> Failure {
    Failure {
        what: format!("{step}: {}", crate::describe::errno_name(errno as i32)),
        errno: errno as i32,
        remedy: None,
    }
}

/// Names the step of a system call that failed.
pub trait Step<T> {
    fn step(self, step: &str) -> Result<T, Failure>;
}

impl<T> Step<T> for nix::Result<T> {
    fn step(self, step: &str) -> Result<T, Failure> {
        self.map_err(|errno| failure(step, errno))
    }
}

impl<T> Step<T> for std::io::Result<T> {
    fn step(self, step: &str) -> Result<T, Failure> {
        self.map_err(|error| match error.raw_os_error() {
            Some(errno) => failure(step, nix::errno::Errno::from_raw(errno)),
            None => Failure { what: format!("{step}: {error}"), errno: 0, remedy: None },
        })
    }
}

/// The finding that an attempt amounts to. What is needed is missing where it failed, the rest untestable.
pub fn finding(id: &str, title: &str, group: Group, tried: Tried, remedy: &str) -> Finding {
    let (state, detail, remedy) = match tried {
        Ok(detail) => (State::Ok, detail, None),
        Err(failure) => {
            let state = if group == Group::Attempts { State::Untestable } else { State::Missing };
            let remedy = failure.remedy.unwrap_or_else(|| remedy.to_owned());
            (state, failure.what, Some(remedy).filter(|remedy| !remedy.is_empty()))
        }
    };
    Finding { id: id.into(), title: title.into(), group, state, detail, remedy }
}

#[cfg(test)]
mod tests {
    use nix::errno::Errno;

    use super::*;

    #[test]
    fn a_child_answers_and_what_it_changes_stays_with_it() {
        let before = std::env::current_dir().expect("a directory");
        let tried = in_child(|| {
            std::env::set_current_dir("/").step("change the directory")?;
            Ok(std::process::id().to_string())
        });
        assert_ne!(tried.expect("an answer"), std::process::id().to_string());
        assert_eq!(std::env::current_dir().expect("a directory"), before);
    }

    #[test]
    fn a_failure_names_step_errno_and_remedy() {
        let tried = in_child(|| Err::<String, _>(Errno::EPERM).step("mount proc"));
        let finding = finding("proc", "a fresh /proc", Group::Needed, tried, "run it elsewhere");
        assert_eq!(finding.state, State::Missing);
        assert_eq!(
            (finding.detail.as_str(), finding.remedy.as_deref()),
            ("mount proc: EPERM", Some("run it elsewhere"))
        );
    }

    #[test]
    fn a_child_that_says_nothing_is_a_failure() {
        assert!(in_child(|| sys::exit_now()).is_err());
    }
}

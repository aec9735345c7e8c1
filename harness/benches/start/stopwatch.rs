//! Times, medians, and how they are printed.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The time from spawn to the end of a command that must succeed.
pub fn time(command: &mut Command) -> Duration {
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let began = Instant::now();
    let status = command.status().expect("the command starts");
    let took = began.elapsed();
    assert!(status.success(), "{command:?}: {status}");
    took
}

pub fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

pub fn milliseconds(times: &[Duration]) -> f64 {
    median(times.iter().map(|time| time.as_secs_f64() * 1e3).collect())
}

pub fn print(what: &str, times: &[Duration]) {
    println!("  {what:44} {:8.2} ms", milliseconds(times));
}

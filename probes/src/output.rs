//! Lines on standard output: each by one `write`, numbered without a gap.

use std::{
    io,
    os::fd::AsFd,
    time::{Duration, Instant},
};

use crate::{
    cut,
    observation::Observation,
    sys::{descriptors, poll},
    wire::{self, Line},
};

/// How long a full pipe may stay full.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where lines go.
pub struct Output {
    launch: String,
    seq: u64,
    lost: bool,
}

impl Output {
    pub fn new(launch: &str) -> Self {
        Self { launch: launch.to_owned(), seq: 0, lost: false }
    }

    /// Whether a line could not be written.
    pub fn lost(&self) -> bool {
        self.lost
    }

    pub fn observed(&mut self, observation: Observation) {
        let (launch, seq) = (&self.launch, self.seq);
        let text = cut::to_fit(observation, |fitting| wire::encode(launch, seq, &Line::Observed(fitting.clone())));
        self.write(text);
    }

    pub fn line(&mut self, line: &Line) {
        let text = wire::encode(&self.launch, self.seq, line).or_else(|| {
            let short = |text: &str| text.chars().take(200).collect();
            match line {
                Line::Stopped { reason } => {
                    wire::encode(&self.launch, self.seq, &Line::Stopped { reason: short(reason) })
                }
                Line::Began { .. } | Line::Hello(_) | Line::Observed(_) | Line::Done { .. } => None,
            }
        });
        self.write(text);
    }

    fn write(&mut self, text: Option<String>) {
        let written = text.is_some_and(|text| write_all(text.as_bytes()).is_ok());
        self.lost |= !written;
        self.seq += 1;
    }
}

fn write_all(mut bytes: &[u8]) -> io::Result<()> {
    let output = io::stdout();
    let until = Instant::now() + PATIENCE;
    while !bytes.is_empty() {
        match descriptors::write(output.as_fd(), bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if poll::wait(output.as_fd(), poll::WRITE, until)?.is_none() {
                    return Err(io::ErrorKind::TimedOut.into());
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

//! How far a run has come: one line rewritten in place on a terminal, one plain line a stage in a log.
//!
//! It goes to standard error, so that standard output stays the document. What cannot be written is dropped: a closed
//! standard error must not end a run.

use std::{
    ffi::OsStr,
    io::{IsTerminal, Stderr, Write, stderr},
    time::{Duration, Instant},
};

use crate::page;

/// Where progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// One line, rewritten in place, of at most this many columns.
    Terminal {
        width: usize,
    },
    /// Lines that stay.
    Log,
    Quiet,
}

impl Mode {
    /// Quiet wins; a terminal that cannot move its cursor back is a log.
    pub fn of(quiet: bool, is_terminal: bool, term: Option<&OsStr>, width: usize) -> Self {
        let moves = term.is_some_and(|term| term != "dumb");
        match (quiet, is_terminal && moves) {
            (true, _) => Self::Quiet,
            (false, true) => Self::Terminal { width },
            (false, false) => Self::Log,
        }
    }
}

/// Time between two drawings of one stage: enough for the eye, too little to slow a run.
const PACE: Duration = Duration::from_millis(50);

/// The progress of one run.
pub struct Progress<W: Write = Stderr> {
    out: W,
    mode: Mode,
    clock: Box<dyn Fn() -> Duration + Send>,
    stage: String,
    done: u32,
    total: u32,
    /// When the line on the terminal was drawn; nothing stands there otherwise.
    drawn: Option<Duration>,
}

impl Progress<Stderr> {
    /// On standard error: in place where it is a terminal that can do it, of `width` columns.
    pub fn stderr(quiet: bool, width: usize) -> Self {
        let term = std::env::var_os("TERM");
        let mode = Mode::of(quiet, stderr().is_terminal(), term.as_deref(), width);
        let start = Instant::now();
        Self::new(stderr(), mode, move || start.elapsed())
    }
}

impl<W: Write> Progress<W> {
    /// Elsewhere, by another clock.
    pub fn new(out: W, mode: Mode, clock: impl Fn() -> Duration + Send + 'static) -> Self {
        Self { out, mode, clock: Box::new(clock), stage: String::new(), done: 0, total: 0, drawn: None }
    }

    /// A stage of `total` launches begins; 0 where it has none.
    pub fn stage(&mut self, name: &str, total: u32) {
        self.stage = name.to_owned();
        self.done = 0;
        self.total = total;
        match self.mode {
            Mode::Terminal { .. } => self.draw(),
            Mode::Log => {
                let launches = match total {
                    0 => String::new(),
                    1 => ", 1 launch".into(),
                    many => format!(", {many} launches"),
                };
                self.write(&format!("{name}{launches} (after {})\n", seconds((self.clock)())));
            }
            Mode::Quiet => {}
        }
    }

    /// The stage has come this far: news for a terminal, none for a log.
    pub fn step(&mut self, words: &str) {
        self.stage = words.to_owned();
        self.tick();
    }

    /// One launch of the stage has ended.
    pub fn launched(&mut self) {
        self.done = self.done.saturating_add(1);
        self.tick();
    }

    /// Time has passed.
    pub fn tick(&mut self) {
        let due = self.drawn.is_none_or(|drawn| (self.clock)().saturating_sub(drawn) >= PACE);
        if matches!(self.mode, Mode::Terminal { .. })
            && !self.stage.is_empty()
            && (due || self.done == self.total && self.total > 0)
        {
            self.draw();
        }
    }

    /// A line that stays, such as [`crate::summary::one_line`] of a check that did not pass.
    pub fn say(&mut self, line: &str) {
        match self.mode {
            Mode::Terminal { .. } => {
                self.erase();
                self.write(&format!("{line}\n"));
                if !self.stage.is_empty() {
                    self.draw();
                }
            }
            Mode::Log => self.write(&format!("{line}\n")),
            Mode::Quiet => {}
        }
    }

    /// The run is over: nothing of the rewritten line stays. Dropping does the same.
    pub fn finish(self) {}

    fn draw(&mut self) {
        let Mode::Terminal { width } = self.mode else { return };
        let now = (self.clock)();
        let launches = match self.total {
            0 => String::new(),
            total => format!("  {}/{total} launches", self.done),
        };
        let line = page::cut(&format!("{}{launches}  {}", self.stage, seconds(now)), width.saturating_sub(1));
        self.write(&format!("\r{line}\x1b[K"));
        self.drawn = Some(now);
    }

    /// Takes the rewritten line away, for something else to be written. The next drawing brings it back.
    pub fn erase(&mut self) {
        if self.drawn.take().is_some() {
            self.write("\r\x1b[K");
        }
    }

    fn write(&mut self, text: &str) {
        // In one piece, so that lines of other writers do not fall into it.
        let _ = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
    }
}

impl<W: Write> Drop for Progress<W> {
    fn drop(&mut self) {
        self.erase();
    }
}

fn seconds(time: Duration) -> String {
    format!("{}.{} s", time.as_secs(), time.subsec_millis() / 100)
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    };

    use super::*;

    /// A run of two stages, each launch 30 ms after the one before.
    fn run(mode: Mode) -> String {
        let mut out = vec![];
        let now = Arc::new(AtomicU64::new(0));
        let clock = Arc::clone(&now);
        let mut progress = Progress::new(&mut out, mode, move || Duration::from_millis(clock.load(Ordering::Relaxed)));
        for (stage, total) in [("control before", 1), ("target bubblewrap", 6), ("judging", 0)] {
            progress.stage(stage, total);
            for launch in 0..total {
                now.fetch_add(30, Ordering::Relaxed);
                progress.launched();
                if launch == 3 {
                    progress.say("FAIL  EGRESS-14  egress::vsock: create: the socket was made");
                }
            }
        }
        progress.finish();
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn a_terminal_has_one_line_that_is_rewritten_and_gone_at_the_end() {
        let text = run(Mode::Terminal { width: 40 });
        insta::assert_snapshot!(text.replace('\r', "<CR>").replace("\x1b[K", "<EL>\n"));
        assert_eq!(text.matches('\n').count(), 1);
        assert!(text.ends_with("\r\x1b[K"));
    }

    #[test]
    fn a_log_has_one_plain_line_a_stage() {
        let text = run(Mode::Log);
        assert!(!text.contains(['\r', '\x1b']));
        insta::assert_snapshot!(text);
    }

    #[test]
    fn only_a_terminal_that_can_is_rewritten_and_quiet_wins() {
        let of = |quiet, is_terminal, term: Option<&str>| Mode::of(quiet, is_terminal, term.map(OsStr::new), 80);
        assert_eq!(of(false, true, Some("xterm")), Mode::Terminal { width: 80 });
        assert_eq!(of(false, true, Some("dumb")), Mode::Log);
        assert_eq!(of(false, true, None), Mode::Log);
        assert_eq!(of(false, false, Some("xterm")), Mode::Log);
        assert_eq!(of(true, true, Some("xterm")), Mode::Quiet);
        assert_eq!(of(true, false, None), Mode::Quiet);
    }

    #[test]
    fn quiet_is_silent() {
        assert_eq!(run(Mode::Quiet), "");
    }

    #[test]
    fn the_line_never_reaches_the_last_column() {
        let text = run(Mode::Terminal { width: 20 });
        for drawn in text.replace("\x1b[K", "").split(['\r', '\n']) {
            assert!(drawn.starts_with("FAIL") || page::columns(drawn) < 20, "{drawn}");
        }
    }

    #[test]
    fn drawing_keeps_its_pace_however_fast_launches_end() {
        let mut out = vec![];
        let mut progress = Progress::new(&mut out, Mode::Terminal { width: 80 }, || Duration::ZERO);
        progress.stage("target", 1_000);
        for _ in 0..999 {
            progress.launched();
        }
        drop(progress);
        assert_eq!(String::from_utf8(out).expect("text").matches("launches").count(), 1);
    }

    #[test]
    fn a_step_is_drawn_on_a_terminal_and_is_no_line_of_a_log() {
        let stepped = |mode| {
            let mut out = vec![];
            let mut progress = Progress::new(&mut out, mode, || Duration::ZERO);
            progress.step("1 of 9 done");
            drop(progress);
            String::from_utf8(out).expect("text")
        };
        assert!(stepped(Mode::Terminal { width: 80 }).contains("1 of 9 done"));
        assert_eq!(stepped(Mode::Log), "");
    }

    #[test]
    fn a_closed_standard_error_is_no_error() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(std::io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Err(std::io::ErrorKind::BrokenPipe.into())
            }
        }
        let mut progress = Progress::new(Closed, Mode::Log, || Duration::ZERO);
        progress.stage("target", 1);
        progress.launched();
        assert_eq!(progress.done, 1);
    }
}

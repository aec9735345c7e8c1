//! One launch of the probe: a plan, what is done before the exec, the byte `go`, and the lines that came back.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Write},
    process::{Child, Command, Stdio},
    time::{SystemTime, UNIX_EPOCH},
};

use watertight_probe::{
    nonce::{Nonce, RunNonce},
    observation::{Facts, Hello, Observation, Outcome},
    plan::{Attempt, End, Gate, Plan, Planned},
    wire::{self, Line},
};

use crate::sys;

pub const COMM: &str = "wt0123456789abc";

/// A plan that goes at once and ends with 0.
pub fn plan(attempts: impl IntoIterator<Item = Attempt>) -> Plan {
    Plan {
        launch: "t1".into(),
        comm: COMM.into(),
        expires: now() + 60,
        machine_netns: 1,
        machine_mnt: None,
        gate: Gate::Cookie,
        parallel: 16,
        bearer: None,
        first: Vec::new(),
        attempts: attempts.into_iter().enumerate().map(|(index, attempt)| planned(index, attempt)).collect(),
        last: Vec::new(),
        end: End::Exit(0),
    }
}

/// The attempt `check/<index>`, with 30 s to go.
pub fn planned(index: usize, attempt: Attempt) -> Planned {
    Planned { id: id(index), nonce: nonce(index), deadline_ms: 30_000, attempt }
}

pub fn id(index: usize) -> String {
    format!("check/{index}")
}

pub fn nonce(index: usize) -> Nonce {
    RunNonce::from_bytes([7; 32]).attempt("t1", &id(index))
}

pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs()
}

/// This program as the probe.
pub fn command(plan: &Plan) -> Command {
    let mut command = Command::new(program());
    command.args([watertight_probe::PROBE_COMMAND, "--plan", &wire::encode_plan(plan).expect("short")]);
    command
}

pub fn program() -> String {
    std::env::current_exe().expect("a path").into_os_string().into_string().expect("text")
}

/// What one launch said.
#[derive(Debug)]
pub struct Said {
    pub lines: Vec<Line>,
    pub status: Option<i32>,
}

/// Launches the plan in the namespaces of this thread and reads it to its end.
#[track_caller]
pub fn launch(plan: &Plan) -> Said {
    read(start(&mut command(plan), Stdio::null()))
}

/// The same for a probe that holds no privilege at all.
#[track_caller]
pub fn launch_confined(plan: &Plan) -> Said {
    launch_after(plan, sys::drop_privileges)
}

/// The same with `setup` made in the child before the exec.
#[track_caller]
pub fn launch_after(plan: &Plan, setup: impl FnMut() -> io::Result<()> + Send + Sync + 'static) -> Said {
    let mut command = command(plan);
    sys::before_exec(&mut command, setup);
    read(start(&mut command, Stdio::null()))
}

/// The same as the first process of an empty root, which holds the program alone.
#[track_caller]
pub fn launch_in_empty_root(plan: &Plan, setup: fn() -> io::Result<()>) -> Said {
    let mut command = Command::new("/probe");
    command.args(self::command(plan).get_args());
    let program = program();
    sys::before_exec(&mut command, move || sys::enter_empty_root(sys::EMPTY_ROOT, &program).and_then(|()| setup()));
    read(start(&mut command, Stdio::null()))
}

pub fn start(command: &mut Command, input: Stdio) -> Child {
    command.stdin(input).stdout(Stdio::piped()).spawn().expect("the probe starts")
}

/// Reads every line to the end, and checks that each is one and none is missing.
#[track_caller]
pub fn read(mut child: Child) -> Said {
    let output = child.stdout.take().expect("piped");
    let lines = lines_of(output);
    Said { lines, status: child.wait().expect("ended").code() }
}

#[track_caller]
pub fn lines_of(output: impl io::Read) -> Vec<Line> {
    let mut lines = Vec::new();
    for text in BufReader::new(output).split(b'\n') {
        let text = text.expect("read");
        assert!(text.len() < wire::MAX_LINE, "a line of {} bytes", text.len());
        let received = wire::decode(&text).expect("nothing but lines").expect("a whole line");
        assert_eq!((received.launch.as_str(), received.seq), ("t1", lines.len() as u64));
        lines.push(received.line);
    }
    lines
}

/// The next line of a probe that goes on.
#[track_caller]
pub fn next_line(output: &mut impl BufRead) -> Line {
    let mut text = Vec::new();
    output.read_until(b'\n', &mut text).expect("read");
    text.pop();
    wire::decode(&text).expect("a line").expect("whole").line
}

/// Sends `go`.
pub fn go(child: &mut Child) {
    child.stdin.take().expect("piped").write_all(b"g").expect("taken");
}

impl Said {
    #[track_caller]
    pub fn hello(&self) -> &Hello {
        let Some(Line::Hello(hello)) = self.lines.first() else { panic!("no hello first: {:?}", self.lines) };
        hello
    }

    pub fn stopped(&self) -> Option<&str> {
        self.lines.iter().find_map(|line| match line {
            Line::Stopped { reason } => Some(reason.as_str()),
            _ => None,
        })
    }

    pub fn observations(&self) -> impl Iterator<Item = &Observation> {
        self.lines.iter().filter_map(|line| match line {
            Line::Observed(observation) => Some(observation),
            _ => None,
        })
    }

    /// The one observation of attempt `check/<index>`, which must stand behind its receipt.
    #[track_caller]
    pub fn observation(&self, index: usize) -> &Observation {
        let began = self.lines.iter().position(|line| *line == Line::Began { attempt: id(index) });
        let mut observed = self.observations().filter(|observation| observation.attempt == id(index));
        let observation = observed.next().unwrap_or_else(|| panic!("no observation of {index}: {:?}", self.lines));
        assert_eq!(observed.next(), None, "one observation of {index}");
        let at = self.lines.iter().position(|line| matches!(line, Line::Observed(other) if other == observation));
        assert!(began.is_some() && began < at, "a receipt before {observation:?}");
        observation
    }

    #[track_caller]
    pub fn outcome(&self, index: usize) -> &Outcome {
        &self.observation(index).outcome
    }

    #[track_caller]
    pub fn facts(&self, index: usize) -> &Facts {
        match self.outcome(index) {
            Outcome::Found { facts } => facts,
            other => panic!("attempt {index} found nothing: {other:?}"),
        }
    }

    #[track_caller]
    pub fn refused(&self, index: usize) -> (&str, i32) {
        match self.outcome(index) {
            Outcome::Refused { call, errno } => (call, *errno),
            other => panic!("attempt {index} was not refused: {other:?}"),
        }
    }

    /// First bytes of what attempt `index` heard.
    #[track_caller]
    pub fn heard(&self, index: usize) -> &str {
        match self.outcome(index) {
            Outcome::Heard { head, .. } => head,
            other => panic!("attempt {index} heard nothing: {other:?}"),
        }
    }
}

/// A file with no name.
pub fn nameless_file() -> File {
    let path = std::env::temp_dir().join(format!(
        "watertight-probe-test-{}-{:?}",
        std::process::id(),
        std::thread::current().id()
    ));
    let file = File::options().read(true).write(true).create(true).truncate(true).open(&path).expect("a file");
    std::fs::remove_file(path).expect("removed");
    file
}

//! Runs of `watertight check`: one for each target and user serves every trial about it.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use libtest_mimic::Failed;
use watertight::{profile::Profile, target::Target};
use watertight_reports::{evidence::Evidence, results::Results};

use crate::{
    committed,
    machine::Machine,
    place::{self, Who},
    sys,
};

/// How long one run may take on a loaded machine.
const LONGEST: Duration = Duration::from_secs(600);

/// A run that came to its end.
pub struct Run {
    /// What the target was held to.
    pub profile: Profile,
    pub results: Results,
    pub exit: ExitStatus,
    /// What it left on the machine.
    pub left: Vec<String>,
    evidence: PathBuf,
}

impl Run {
    pub fn evidence(&self) -> Result<Evidence, Failed> {
        let bytes = fs::read(&self.evidence)?;
        Ok(serde_json::from_slice(&bytes)?)
    }
}

type Made = Arc<Result<Run, String>>;

/// Doubles that answer in some way, and that nothing may take for a sandbox.
pub const PRETENDERS: [&str; 4] = ["echo", "deny-all", "liar", "polite-liar"];

/// Other people's sandboxes, and what only looks like one.
pub const OTHERS: [&str; 11] = [
    "bubblewrap:host-root",
    "bubblewrap:hardened",
    "bubblewrap:shared-network",
    "bubblewrap-exec",
    "unshare",
    "proot",
    "hozo",
    "hozo-proxy",
    "agent-nook",
    "buddelkiste",
    "sandlock",
];

/// The run of this target as this user: made when it is first asked for.
pub fn of(target: &'static str, who: Who) -> Made {
    static RUNS: Mutex<BTreeMap<(&str, Who), Made>> = Mutex::new(BTreeMap::new());
    let mut runs = RUNS.lock().expect("making a run does not panic");
    if !runs.contains_key(&(target, who)) {
        let wanted: Vec<(&'static str, Who)> = if PRETENDERS.contains(&target) {
            // They spend their time waiting for what never comes, so they do it at once.
            PRETENDERS.iter().flat_map(|each| Who::here().iter().map(|who| (*each, *who))).collect()
        } else {
            vec![(target, who)]
        };
        runs.extend(thread::scope(|scope| {
            let makers: Vec<_> = wanted.iter().map(|(target, who)| scope.spawn(|| make(target, *who))).collect();
            let made = makers.into_iter().map(|maker| Arc::new(maker.join().expect("making a run does not panic")));
            wanted.iter().copied().zip(made).collect::<Vec<_>>()
        }));
    }
    runs[&(target, who)].clone()
}

fn make(target: &str, who: Who) -> Result<Run, String> {
    let manifest = Target::load(target).map_err(|error| error.to_string())?;
    has_programs(&manifest)?;
    let (directory, outputs) = (place::directory(), place::directory());
    let evidence = outputs.join("evidence.json");
    let program = place::program_of_its_own();
    let mut command = who.command(&program, &directory);
    // Isolation contains core: one run serves the trials of both, where the list of the target has both.
    let profile = committed::profile(target)?;
    command
        .args(["check", target, "--profile", profile.name(), "--quiet", "--format", "json", "--evidence"])
        .arg(&evidence);
    // A variant's are those of its manifest.
    if !manifest.mutants.is_empty() && !target.contains(':') {
        command.arg("--with-mutants");
    }
    let before = Machine::look();
    let ended = to_the_end(command, &outputs)?;
    let left = before.left_by(ended.pid, &program, &directory);
    fs::remove_file(&program).map_err(|error| error.to_string())?;
    let results = serde_json::from_str(&ended.stdout)
        .map_err(|error| format!("`check {target}` gave no results: {error}: {}: {}", ended.exit, ended.stderr))?;
    Ok(Run { profile, results, exit: ended.exit, left, evidence })
}

/// A target whose program is missing fails: it is never skipped.
fn has_programs(manifest: &Target) -> Result<(), String> {
    for (program, package) in &manifest.programs {
        let places = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"].map(PathBuf::from);
        let tools = place::tools().map(|tools| tools.join("bin"));
        if !tools.iter().chain(&places).any(|place| place.join(program).exists()) {
            return Err(format!("{} needs the program {program} of {package}: see scripts/targets", manifest.name));
        }
    }
    Ok(())
}

/// A process that ended, and what it said.
pub struct Ended {
    pub pid: u32,
    pub exit: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    /// Its exit status; a signal's number below zero.
    pub fn code(&self) -> i32 {
        self.exit.code().unwrap_or_else(|| -self.exit.signal().unwrap_or(0))
    }
}

/// Starts the command and waits for its end. What it says goes through files in `outputs`.
pub fn to_the_end(mut command: Command, outputs: &Path) -> Result<Ended, String> {
    let (stdout, stderr) = (outputs.join("stdout"), outputs.join("stderr"));
    let file = |path: &Path| File::create(path).map_err(|error| format!("{}: {error}", path.display()));
    command.stdin(std::process::Stdio::null()).stdout(file(&stdout)?).stderr(file(&stderr)?);
    let mut child = command.spawn().map_err(|error| format!("cannot start {command:?}: {error}"))?;
    let exit = wait(&mut child, LONGEST).map_err(|error| format!("{command:?}: {error}"))?;
    let text = |path| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
    Ok(Ended { pid: child.id(), exit, stdout: text(stdout), stderr: text(stderr) })
}

fn wait(child: &mut Child, within: Duration) -> Result<ExitStatus, String> {
    let ended = sys::pidfd(child.id()).map_err(|error| error.to_string())?;
    if !sys::readable(&ended, within) {
        child.kill().map_err(|error| error.to_string())?;
        child.wait().map_err(|error| error.to_string())?;
        return Err(format!("did not end within {within:?}"));
    }
    child.wait().map_err(|error| error.to_string())
}

//! What `watertight check` says where the machine lacks something: it never judges then, and names what is missing.

use std::{fs::File, path::Path, process::Command};

use libtest_mimic::Failed;

use crate::{
    place::{self, Who},
    runs::{Ended, to_the_end},
};

type Body = fn(Who) -> Result<(), Failed>;

pub const TRIALS: [(&str, Body); 5] = [
    ("without_user_namespaces_a_run_is_incomplete_and_says_so", no_user_namespaces),
    ("without_proc_a_run_is_incomplete_and_says_so", no_proc),
    ("a_full_temporary_directory_changes_nothing", full_temporary_directory),
    ("evidence_that_cannot_be_written_is_told", full_evidence),
    ("results_that_cannot_be_written_are_told", full_output),
];

/// Exit status of a run that could not be made.
const INCOMPLETE: i32 = 3;
/// And of one whose record is not whole.
const HARNESS_ERROR: i32 = 4;

/// A shell in namespaces of its own prepares the lack by `preparation`, then becomes the check.
fn where_(preparation: &str, who: Who, unshare: &[&str], last: &str) -> Result<Ended, Failed> {
    let directory = place::directory();
    let mut command = who.command(Path::new("unshare"), &directory);
    let script = format!("set -e; {preparation}; exec {last} \"$0\" check reference --quiet --filter EGRESS-5");
    command.args(unshare).args(["sh", "-c", &script]).arg(place::program());
    Ok(to_the_end(command, &place::directory())?)
}

/// Asserts that the run told what it lacks, and made no verdict.
fn lacks(ended: &Ended, words: &[&str]) -> Result<(), Failed> {
    let told = words.iter().all(|word| ended.stderr.contains(word));
    if ended.code() == INCOMPLETE && told && ended.stdout.is_empty() {
        return Ok(());
    }
    Err(format!("{}, expected status {INCOMPLETE} and {words:?}: {}{}", ended.exit, ended.stdout, ended.stderr).into())
}

fn no_user_namespaces(who: Who) -> Result<(), Failed> {
    // The limit is that of a user namespace in which the user stays who it is and loses its capabilities again.
    let ended = where_(
        "echo 0 > /proc/sys/user/max_user_namespaces",
        who,
        &["--user", "--map-current-user", "--keep-caps"],
        "setpriv --inh-caps=-all --ambient-caps=-all --bounding-set=-all",
    )?;
    lacks(&ended, &["user namespace", "user.max_user_namespaces"])
}

fn no_proc(who: Who) -> Result<(), Failed> {
    let ended = where_("mount -t tmpfs none /proc", who, &["--user", "--map-root-user", "--mount"], "")?;
    lacks(&ended, &["/proc"])
}

fn full_temporary_directory(who: Who) -> Result<(), Failed> {
    let fill = "mkdir full; mount -t tmpfs -o size=4k none full; ! head -c 8192 /dev/zero 2>&- > full/file; \
                export TMPDIR=$PWD/full HOME=$PWD/full";
    let ended = where_(fill, who, &["--user", "--map-root-user", "--mount"], "")?;
    // One requirement alone never makes a run conformant: it is judged, and the run is incomplete.
    let judged = ended.stdout.lines().any(|line| line.contains("EGRESS-5"));
    if judged && ended.code() == INCOMPLETE && !ended.stderr.contains("panicked") {
        return Ok(());
    }
    Err(format!("{}: {}{}", ended.exit, ended.stdout, ended.stderr).into())
}

fn full_evidence(who: Who) -> Result<(), Failed> {
    let mut command = check(who);
    command.args(["--evidence", "/dev/full"]);
    let ended = to_the_end(command, &place::directory())?;
    // The verdicts are told all the same.
    let told = ["/dev/full", "No space left on device"].iter().all(|word| ended.stderr.contains(word));
    if ended.code() == HARNESS_ERROR && told && ended.stdout.contains("EGRESS") {
        return Ok(());
    }
    Err(format!("{}: {}{}", ended.exit, ended.stdout, ended.stderr).into())
}

fn full_output(who: Who) -> Result<(), Failed> {
    let mut command = check(who);
    let errors = place::directory().join("stderr");
    command.stdout(File::create("/dev/full")?).stderr(File::create(&errors)?);
    let exit = command.status()?;
    let said = std::fs::read_to_string(errors)?;
    if !exit.success() && said.contains("No space left on device") && !said.contains("panicked") {
        return Ok(());
    }
    Err(format!("{exit}: {said}").into())
}

fn check(who: Who) -> Command {
    let mut command = who.command(&place::program(), &place::directory());
    command.args(["check", "reference", "--quiet", "--filter", "EGRESS-5"]);
    command
}

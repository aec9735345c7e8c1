//! What the command line says.

mod documents;
mod evidence;
mod oci;
mod target;

use std::{
    ffi::OsString,
    num::{NonZeroU32, NonZeroUsize},
    path::PathBuf,
};

use clap::{Args, Parser, Subcommand};
use watertight_reports::render::Format;

use crate::profile::Profile;

pub use documents::{Badge, Document, Render};
use documents::{format_parser, report};
pub use evidence::{Diff, Evidence, Keygen, Log, Scoreboard, Sign, Verify};
pub use oci::Oci;
pub use target::{Init, Smoke, Target};

/// Version of the program and of the requirements that it tests.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (CONFORMANCE.md 1.0)");

/// Tells whether a sandbox really confines the coding agent that runs in it.
///
/// It launches the sandbox in a sealed network world, runs a probe in it, watches from outside and judges numbered
/// requirements.
#[derive(Debug, Parser)]
#[command(name = "watertight", bin_name = "watertight", version = VERSION, arg_required_else_help = true, max_term_width = 100)]
#[command(after_help = "Example: watertight doctor && watertight check bubblewrap")]
pub struct Line {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Tell what this machine can run, what is missing, and how to get it.
    #[command(after_help = "Example: watertight doctor

Exit status: 0 where `watertight check` can run here, 3 where something needed is missing.")]
    Doctor(Doctor),
    /// Check targets against the requirements of CONFORMANCE.md.
    #[command(after_help = "Example: watertight check bubblewrap --format json > bubblewrap.json

Exit status: 0 conformant; 1 a MUST failed; 2 usage; 4 else, a harness error; 3 else, incomplete or inconclusive. Of several targets the worst counts: 1, 4, 3, 0. With --expect: 0 as expected. A mutant that is not caught by exactly its checks makes 3 of 0.")]
    Check(Check),
    /// Show the results of a run in another format.
    #[command(after_help = "Example: watertight render results.json --format html --out report.html

Exit status: 0 shown, whatever the results say; 2 where they cannot be read.")]
    Render(Render),
    /// Show the status of a run as an image, or for a shields.io endpoint.
    #[command(after_help = "Example: watertight badge results.json --out badge.svg

It carries the date of the run: link it to the report that it stands for.")]
    Badge(Badge),
    /// Test the suite itself: run broken references, each of which exactly its checks must catch.
    #[command(after_help = "Example: watertight selftest --mutant 'leak-*'

The broken references are a program of their own: `cargo build --release -p watertight-mutants` puts it beside this one.

Exit status: 0 every mutant was caught by exactly the checks that must; 1 not so; 2 usage; 3 nothing could be run.")]
    Selftest(Selftest),
    /// List the requirements, or the targets.
    #[command(after_help = "Example: watertight list --targets")]
    List(List),
    /// Explain one requirement: what is attempted, what the control is, what must catch it.
    #[command(after_help = "Example: watertight explain EGRESS-14 --target bubblewrap")]
    Explain(Explain),
    /// Make the attempts of one requirement through a command line, and show both sides. No verdict.
    #[command(after_help = "Example: watertight try EGRESS-13 -- bwrap --dev-bind / / {probe}

The command is launched in a sealed world with everything planted that a careless launcher leaves, and {probe} in it is what makes the attempts: alone, it makes them without a sandbox. The other placeholders are those of a manifest; `watertight explain ID --target NAME` prints the command line of a target.

Exit status: 0 shown, whatever was seen; 2 usage; 3 nothing could be run.")]
    Try(Try),
    /// Make a key that evidence is signed with.
    #[command(after_help = "Example: watertight keygen --out ~/.config/watertight/runner --comment 'runner of CI'

It writes KEY (PKCS#8, for its owner alone), KEY.pub (for policies and openssl) and KEY.ssh.pub (for allowed_signers of ssh-keygen), and overwrites none. The key id is the SHA-256 digest of the public key in DER.

Exit status: 0 the key is written; 2 it is not, and nothing is left.")]
    Keygen(Keygen),
    /// Run a command in the reference sandbox.
    #[command(after_help = "Example: watertight run --provider https://api.openai.com/v1 \\
             --provider-key-file ~/.config/provider/key -- opencode

The command reaches the provider at $OPENAI_BASE_URL with $OPENAI_API_KEY, the instance at $WATERTIGHT_INSTANCE_URL, and nothing else.

Exit status: the command's own, 128 + n where signal n ended it; 125 where the sandbox could not be made, 126 where the command cannot be executed, 127 where it is not there.")]
    Run(Run),
    /// Run another sandbox beside the relays of the reference: the command itself is not confined.
    #[command(after_help = "Example: watertight relay --provider https://api.openai.com/v1 \\
             --provider-key-file ~/.config/provider/key \\
             --sockets ~/.cache/relays -- bwrap --unshare-all … opencode

The directory then holds provider.sock and, with --instance, instance.sock. `watertight bridge --sockets DIR -- COMMAND` turns them into loopback ports inside the other sandbox.

Exit status: as that of `watertight run`.")]
    Relay(Relay),
    /// Run a command with an OCI runtime, in a bundle made of the runtime's own specification.
    #[command(after_help = "Example: watertight oci --bundle ~/bundle --rootfs ~/rootfs --rw ~/work -- \\
             runc run --bundle ~/bundle mine -- opencode

`RUNTIME spec` writes the specification; each --add then changes it as `add` of RFC 6902 does.

Exit status: the runtime's own; 125 where it could not be started.")]
    Oci(Oci),
    /// Vouch for a bundle of `check --out` with a key: nothing in it is executed, and everything is judged again.
    #[command(after_help = "Example: watertight sign evidence --key-file release.key

Do this in another process, best on another machine, than the check: what runs a hostile program must not hold a key.

Exit status: 0 signed; 2 usage, or a key that must not be used; 5 the bundle does not say what it records.")]
    Sign(Sign),
    /// Verify a signed bundle by a policy of your own, and judge every verdict in it again.
    #[command(after_help = "Example: watertight verify evidence --policy policy.toml --artifact /usr/bin/bwrap

Exit status: 0 accepted; 1 in order, and the policy does not accept what it says; 2 usage; 5 invalid, with a code E_…")]
    Verify(Verify),
    /// Sign a checkpoint of the log of runs, beside it: who remembers one sees when anything before it changes.
    #[command(after_help = "Example: watertight log runs.jsonl --origin example.org/sandbox-runs --key-file log.key

Exit status: 0 signed; 2 usage, or a key or log that cannot be used.")]
    Log(Log),
    /// Show verified bundles beside each other: target by area, as Markdown, HTML and JSON.
    #[command(
        after_help = "Example: watertight scoreboard reports/published/1.0/*/*/ --policy policy.toml --out reports/published/1.0

It writes index.md, index.html and index.json. Nothing is written where a bundle does not verify, or fails something that its manifest names no public report of.

Exit status: 0 written; 1 a failure without a report; 2 usage; 5 a bundle does not verify."
    )]
    Scoreboard(Scoreboard),
    /// Compare two runs: what became worse, and what else is different.
    #[command(after_help = "Example: watertight diff evidence-before evidence-after

Neither is verified: `watertight verify` does that.

Exit status: 0 nothing became worse; 1 something did; 2 usage.")]
    Diff(Diff),
    /// Write a manifest for another sandbox, and see whether it works.
    #[command(subcommand, after_help = "Example: watertight target smoke ./mine.toml")]
    Target(Target),
}

#[derive(Debug, Args)]
pub struct Doctor {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Check {
    /// Targets to check: see `watertight list --targets`. NAME:VARIANT is a variant of one, and a name with a slash, or that
    /// ends in .toml, is the file of a manifest.
    #[arg(default_value = "reference", value_name = "TARGET")]
    pub targets: Vec<String>,
    /// Check every sandbox whose programs are installed, in each of its configurations.
    #[arg(long, conflicts_with = "targets")]
    pub all_installed: bool,
    /// Which requirements are checked. Without it, those that the target's manifest claims: core where it names none.
    #[arg(long, value_enum)]
    pub profile: Option<Profile>,
    /// Only the check with this id or slug, or all that contain this text. The result is then never conformant.
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
    /// Check so many targets at once, each in a world of its own: one, and with --all-installed one a processor.
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Launch the target as root of the world, where it can be.
    #[arg(long)]
    pub as_root: bool,
    /// Repeat the launches in which a race could show.
    #[arg(long, default_value = "1", value_name = "N")]
    pub soak: NonZeroU32,
    /// Run the mutants that the targets' manifests declare as well: does each check still see what they open?
    #[arg(long, conflicts_with = "filter")]
    pub with_mutants: bool,
    /// Succeed where what failed is exactly what the manifest lists as known failures.
    #[arg(long)]
    pub expect: bool,
    /// Write everything that was seen, inside and outside, to this file as JSON.
    #[arg(long = "evidence", value_name = "FILE")]
    pub seen: Option<PathBuf>,
    #[command(flatten)]
    pub evidence: Evidence,
    /// How results are printed.
    #[arg(long, value_parser = format_parser(), default_value = "text")]
    pub format: Format,
    /// Write the results to this file as well, in this format; `{target}` in its name stands for the target's. Once for
    /// each file.
    #[arg(long, value_name = "FORMAT=FILE", value_parser = report)]
    pub report: Vec<(Format, PathBuf)>,
    /// Say nothing while the run goes on.
    #[arg(long, short)]
    pub quiet: bool,
    /// List every check, and every attempt of those that did not pass.
    #[arg(long, short)]
    pub verbose: bool,
}

#[derive(Debug, Args)]
pub struct Selftest {
    /// Only the mutants with this name; `*` stands for any characters.
    #[arg(long, value_name = "GLOB")]
    pub mutant: Option<String>,
    /// Run every check on every mutant; ROUTE-5, which tries all ports, where anything listens beside the routes.
    #[arg(long)]
    pub full: bool,
    /// So many mutants at once, each in a world of its own. Most of the time they wait, but not in a full selftest [default: 16,
    /// or 8 with --full].
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Write the kill matrix to this file as JSON: evidence refers to it by its digest.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Say nothing while the run goes on.
    #[arg(long, short)]
    pub quiet: bool,
    /// Say of each mutant what it gets wrong.
    #[arg(long, short)]
    pub verbose: bool,
}

#[derive(Debug, Args)]
pub struct List {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Only the requirements of this profile, which has those of the profiles that it contains.
    #[arg(long, value_enum)]
    pub profile: Option<Profile>,
    /// List targets instead of requirements.
    #[arg(long)]
    pub targets: bool,
    /// Whole sentences.
    #[arg(long, short)]
    pub verbose: bool,
}

#[derive(Debug, Args)]
pub struct Explain {
    /// A requirement's id, or the slug of its check; case does not matter.
    #[arg(value_name = "ID")]
    pub id: String,
    /// Say what this target's manifest says about it, too.
    #[arg(long, value_name = "TARGET")]
    pub target: Option<String>,
    /// Show what a run saw of it: a bundle, or what `check --format json` printed.
    #[arg(long, value_name = "BUNDLE")]
    pub bundle: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Try {
    /// A requirement's id, or the slug of its check; case does not matter.
    #[arg(value_name = "ID")]
    pub id: String,
    /// Launch it as root of the world.
    #[arg(long)]
    pub as_root: bool,
    /// The file of an adapter, which the command line names as {adapter}; or the name of one that comes with the program.
    #[arg(long, value_name = "FILE")]
    pub adapter: Option<PathBuf>,
    /// Have the first process in the world's cgroup: systemd-nspawn and LXC ask for that of it.
    #[arg(long)]
    pub init_in_cgroup: bool,
    /// Its processes cannot be seen from outside: gVisor, a virtual machine.
    #[arg(long)]
    pub unseen: bool,
    /// The command line, with {probe} where the sandbox is to run its command.
    #[arg(last = true, required = true)]
    pub command: Vec<String>,
}

/// The routes of a sandbox.
#[derive(Debug, Args)]
pub struct Routes {
    /// Base URL of the provider: http or https, without user information, query or fragment.
    #[arg(long, value_name = "URL")]
    pub provider: Option<String>,
    /// File with the provider's key, readable by its owner alone.
    #[arg(long, value_name = "FILE")]
    pub provider_key_file: Option<PathBuf>,
    /// Bare http or https origin of an instance that the command may call.
    #[arg(long, value_name = "URL")]
    pub instance: Option<String>,
}

#[derive(Debug, Args)]
pub struct Run {
    #[command(flatten)]
    pub routes: Routes,
    /// Whom to become when started as root.
    #[arg(long, value_name = "USER")]
    pub user: Option<String>,
    /// Show this path read-only.
    #[arg(long, value_name = "PATH")]
    pub ro: Vec<PathBuf>,
    /// Show this path writable.
    #[arg(long, value_name = "PATH")]
    pub rw: Vec<PathBuf>,
    /// Pass this variable on.
    #[arg(long, value_name = "NAME")]
    pub env: Vec<OsString>,
    /// The directory that the command runs in and may write; the current one where nothing is said.
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// The command.
    #[arg(last = true, required = true)]
    pub command: Vec<OsString>,
}

#[derive(Debug, Args)]
pub struct Relay {
    #[command(flatten)]
    pub routes: Routes,
    /// Whom to become when started as root, which stays root where nobody is named.
    #[arg(long, value_name = "USER")]
    pub user: Option<String>,
    /// An empty directory, on which the sockets' own file system is mounted for this launch alone.
    #[arg(long, value_name = "DIR")]
    pub sockets: PathBuf,
    /// The command.
    #[arg(last = true, required = true)]
    pub command: Vec<OsString>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::catalogue::Catalogue;

    #[test]
    fn the_command_line_is_consistent() {
        Line::command().debug_assert();
    }

    #[test]
    fn the_version_names_the_text_that_was_built_in() {
        let spec = Catalogue::load().expect("a catalogue").version;
        assert!(VERSION.ends_with(&format!("(CONFORMANCE.md {spec})")));
    }

    #[test]
    fn every_command_has_an_example() {
        for command in Line::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.starts_with(&format!("Example: watertight {}", command.get_name())), "{}", command.get_name());
        }
    }
}

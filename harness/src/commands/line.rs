//! What the command line says.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, Parser, Subcommand};

/// Tells whether a sandbox really confines the coding agent that runs in it.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true)]
pub struct Line {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check targets against the requirements of CONFORMANCE.md.
    Check(Check),
    /// Run a command in the reference sandbox.
    Run(Run),
    /// Run a command beside the relays of the reference, unconfined: for sandboxes that take their sockets.
    Relay(Relay),
}

#[derive(Debug, Args)]
pub struct Check {
    /// Targets to check: see `watertight list --targets`.
    #[arg(default_value = "reference")]
    pub targets: Vec<String>,
    /// Only checks whose id or slug contains this text. The result is then never conformant.
    #[arg(long)]
    pub filter: Option<String>,
    /// Launch the target as root of the world, where it can be.
    #[arg(long)]
    pub as_root: bool,
    /// Repeat the launches in which a race could show.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub soak: u32,
    /// Write everything that was seen, inside and outside, to this file as JSON.
    #[arg(long, value_name = "FILE")]
    pub evidence: Option<PathBuf>,
    /// How results are printed.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Say nothing while the run goes on.
    #[arg(long, short)]
    pub quiet: bool,
    /// List every check and every attempt.
    #[arg(long, short)]
    pub verbose: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    Text,
    Json,
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
    /// Whom to become when started as root.
    #[arg(long, value_name = "USER")]
    pub user: Option<String>,
}

#[derive(Debug, Args)]
pub struct Run {
    #[command(flatten)]
    pub routes: Routes,
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
    /// An empty directory, on which the sockets' own file system is mounted for this launch alone.
    #[arg(long, value_name = "DIR")]
    pub sockets: PathBuf,
    /// The command.
    #[arg(last = true, required = true)]
    pub command: Vec<OsString>,
}

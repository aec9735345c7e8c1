//! What the line says of manifests for other sandboxes.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub enum Target {
    /// Write a manifest to begin with. What is not said is asked, on a terminal.
    #[command(
        after_help = "Example: watertight target init mine -- mybox --no-network --show {sockets} --show {watertight} --\n\n\
                      docs/CHECK-YOUR-OWN.md goes through it step by step."
    )]
    Init(Init),
    /// Launch the probe in a target: it answers, an allowed path works, a forbidden one is reachable without it. No verdict.
    #[command(after_help = "Exit status: 0 it works; 1 a step does not; 2 usage; 3 nothing could be run.")]
    Smoke(Smoke),
}

#[derive(Debug, Args)]
pub struct Init {
    /// What to call it: letters, digits, `-`.
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// No command line starts it (a daemon, an image): write an adapter as well, NAME.py.
    #[arg(long)]
    pub adapter: bool,
    /// It has no network at all: no relay, no bridge.
    #[arg(long)]
    pub no_routes: bool,
    /// Where to write it; NAME.toml where nothing is said.
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// The sandbox's own command line, up to where the command to run begins.
    #[arg(last = true)]
    pub command: Vec<String>,
}

#[derive(Debug, Args)]
pub struct Smoke {
    /// A target: see `watertight list --targets`, or the file of a manifest.
    #[arg(value_name = "TARGET")]
    pub target: String,
    /// Launch it as root of the world.
    #[arg(long)]
    pub as_root: bool,
}

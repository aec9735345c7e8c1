//! What the line says of evidence: kept, signed, verified, compared.

use std::path::PathBuf;

use clap::Args;

/// What is kept of a run for others to verify.
#[derive(Debug, Args)]
#[command(next_help_heading = "Evidence")]
pub struct Evidence {
    /// Keep everything that the run brings as a bundle in this new directory: see `watertight sign` and `verify`. Of
    /// several targets, each has a directory of its own in it.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// 64 hexadecimal digits that whoever will verify this run has chosen: it then shows that the run was made after.
    #[arg(long, value_name = "HEX", value_parser = challenge, requires = "out")]
    pub nonce: Option<[u8; 32]>,
    /// Note the run's start in this log of runs, before the first check.
    #[arg(long, value_name = "FILE", requires = "out")]
    pub log: Option<PathBuf>,
    /// The kill matrix of this very program, which shows that the checks can fail: `watertight selftest --json`.
    #[arg(long, value_name = "FILE", requires = "out")]
    pub matrix: Option<PathBuf>,
    /// Call the run official: refused unless it is whole, logged, challenged, and made by a release of committed files.
    #[arg(long, requires = "out")]
    pub official: bool,
    /// Where the target's source is. It is noted as you say it.
    #[arg(long, value_name = "URI", requires = "commit")]
    pub source: Option<String>,
    /// The commit that the target was built from.
    #[arg(long, value_name = "SHA", requires = "out")]
    pub commit: Option<String>,
    /// The merge that was tested, where it is not that commit itself.
    #[arg(long, value_name = "SHA", requires = "commit")]
    pub merge_commit: Option<String>,
    /// Files differed from that commit.
    #[arg(long, requires = "commit")]
    pub dirty: bool,
}

#[derive(Debug, Args)]
pub struct Keygen {
    /// The file of the key: a new one, in a directory that is there.
    #[arg(long, value_name = "KEY")]
    pub out: PathBuf,
    /// What stands at the end of the line for SSH.
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub comment: String,
}

#[derive(Debug, Args)]
pub struct Sign {
    /// The bundle's directory.
    #[arg(value_name = "BUNDLE")]
    pub bundle: PathBuf,
    /// The private key: PKCS#8 in PEM, readable by its owner alone.
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    /// Take the key from $WATERTIGHT_SIGNING_KEY where no file is named.
    #[arg(long)]
    pub allow_env_key: bool,
    /// Note the run's end in this log of runs.
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Log {
    /// The log of runs: `check --log` and `sign --log` write it.
    #[arg(value_name = "LOG")]
    pub log: PathBuf,
    /// The log's name, which no other log has: host and path of where it is published.
    #[arg(long, value_name = "NAME")]
    pub origin: String,
    /// The log's private key, which signs nothing else.
    #[arg(long, value_name = "FILE")]
    pub key_file: PathBuf,
}

#[derive(Debug, Args)]
pub struct Verify {
    /// The bundle's directory.
    #[arg(value_name = "BUNDLE")]
    pub bundle: PathBuf,
    /// Whose signatures count, and what must be true of a run.
    #[arg(long, value_name = "FILE")]
    pub policy: PathBuf,
    /// The program at hand that the evidence must be about.
    #[arg(long, value_name = "FILE")]
    pub artifact: Option<PathBuf>,
    /// The commit that it must be about.
    #[arg(long, value_name = "SHA")]
    pub commit: Option<String>,
    /// The challenge that was given to `check --nonce`.
    #[arg(long, value_name = "HEX", value_parser = challenge)]
    pub nonce: Option<[u8; 32]>,
    /// A file with the runs that were accepted before; this one is added.
    #[arg(long, value_name = "FILE")]
    pub seen: Option<PathBuf>,
    /// The log of starts and finishes; its checkpoint lies beside it.
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// The checkpoint of that log that you saw last.
    #[arg(long, value_name = "FILE", requires = "log")]
    pub remembered: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Scoreboard {
    /// The bundles' directories. The newest of each configuration is shown.
    #[arg(value_name = "BUNDLE", required = true)]
    pub bundles: Vec<PathBuf>,
    /// Whose signatures count, and what must be true of a run.
    #[arg(long, value_name = "FILE")]
    pub policy: PathBuf,
    /// The log of starts and finishes; its checkpoint lies beside it.
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// The directory that the three documents are written to. Bundles in it are linked to by their path there.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

#[derive(Debug, Args)]
pub struct Diff {
    /// A bundle, or what `check --format json` printed.
    #[arg(value_name = "BEFORE")]
    pub before: PathBuf,
    /// Another.
    #[arg(value_name = "AFTER")]
    pub after: PathBuf,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// The 32 bytes of a challenge.
fn challenge(text: &str) -> Result<[u8; 32], String> {
    let mut bytes = [0; 32];
    match hex::decode_to_slice(text, &mut bytes) {
        Ok(()) => Ok(bytes),
        Err(_) => Err("a nonce is 64 hexadecimal digits; `openssl rand -hex 32` makes one".into()),
    }
}

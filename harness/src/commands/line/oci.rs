//! What the line says of a command that an OCI runtime is to run.

use std::{ffi::OsString, path::PathBuf};

use clap::Args;
use serde_json::Value;

#[derive(Debug, Args)]
pub struct Oci {
    /// An empty directory that becomes the bundle.
    #[arg(long, value_name = "DIR")]
    pub bundle: PathBuf,
    /// The root of the container.
    #[arg(long, value_name = "DIR")]
    pub rootfs: PathBuf,
    /// Begin with the specification of `RUNTIME spec --rootless`.
    #[arg(long)]
    pub rootless: bool,
    /// Show this path read-only.
    #[arg(long, value_name = "PATH")]
    pub ro: Vec<PathBuf>,
    /// Show this path writable.
    #[arg(long, value_name = "PATH")]
    pub rw: Vec<PathBuf>,
    /// Pass this variable on, or give it this value.
    #[arg(long, value_name = "NAME[=VALUE]")]
    pub env: Vec<OsString>,
    /// Change the specification: where, as a JSON pointer, and what.
    #[arg(long, value_name = "POINTER=JSON", value_parser = change)]
    pub add: Vec<(String, Value)>,
    /// How the runtime is called, `--`, and the command.
    #[arg(last = true, required = true, value_name = "RUNTIME WORDS… -- COMMAND")]
    pub words: Vec<OsString>,
}

/// `/root/readonly=false`.
fn change(text: &str) -> Result<(String, Value), String> {
    let (pointer, value) = text.split_once('=').ok_or("it has the form POINTER=JSON, such as /root/readonly=false")?;
    let value = serde_json::from_str(value).map_err(|error| format!("behind `=` there is no JSON: {error}"))?;
    Ok((pointer.to_owned(), value))
}

//! `watertight oci`: runs a command with an OCI runtime, in a bundle made of that runtime's own specification.
//!
//! What `RUNTIME spec` writes is the runtime's own default, so that what is found is about that and about the changes that
//! stand on the command line: <https://github.com/opencontainers/runtime-spec/blob/main/config.md>.

use std::{
    env,
    ffi::OsString,
    fs, io,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};

use serde_json::{Value, json};
use watertight_reports::files;

use super::line::Oci;

/// The specification in a bundle.
const CONFIG: &str = "config.json";
/// Bytes of it that are read: what runtimes write has less than 10 KiB.
const MOST: u64 = 1 << 20;
/// Exit status where the runtime could not be started, apart from every status of the command (as env(1) has it).
const FAILED: u8 = 125;

#[derive(Debug, thiserror::Error)]
enum OciError {
    #[error("expected `-- RUNTIME WORDS… -- COMMAND…`: how the runtime runs the bundle, and what it runs")]
    Words,
    #[error("the command has a word that is not UTF-8, which {CONFIG} cannot hold: {0:?}")]
    Encoding(OsString),
    #[error("cannot {what} {}: {source}", path.display())]
    File { what: &'static str, path: PathBuf, source: io::Error },
    #[error("`{program}` cannot be started: {source}; is it installed?")]
    Start { program: String, source: io::Error },
    #[error("`{program} spec` failed ({status}), so there is nothing to begin with")]
    Spec { program: String, status: std::process::ExitStatus },
    #[error("what `{program} spec` wrote is no JSON: {source}")]
    Json { program: String, source: serde_json::Error },
    #[error("the specification has no place {0}: every part of a pointer but the last must be there")]
    Pointer(String),
}

/// Makes the bundle and becomes the runtime.
pub fn run(options: &Oci) -> ExitCode {
    let Err(error) = started(options);
    super::refuse(&error, FAILED)
}

fn started(options: &Oci) -> Result<std::convert::Infallible, OciError> {
    let end = options.words.iter().position(|word| word == "--").ok_or(OciError::Words)?;
    let (runtime, command) = (&options.words[..end], &options.words[end + 1..]);
    let (Some((program, words)), false) = (runtime.split_first(), command.is_empty()) else {
        return Err(OciError::Words);
    };
    let shown = program.to_string_lossy().into_owned();
    let start = |source| OciError::Start { program: shown.clone(), source };
    let mut spec = Command::new(program);
    spec.arg("spec").args(options.rootless.then_some("--rootless")).current_dir(&options.bundle);
    // The command's own standard output is to hold nothing but what it says.
    let status = spec.stdin(Stdio::null()).stdout(Stdio::null()).status().map_err(start)?;
    if !status.success() {
        return Err(OciError::Spec { program: shown, status });
    }
    let path = options.bundle.join(CONFIG);
    let file = |what, source| OciError::File { what, path: path.clone(), source };
    let text = files::text(&path, MOST).map_err(|source| file("read", source))?;
    let mut config: Value =
        serde_json::from_str(&text).map_err(|source| OciError::Json { program: shown.clone(), source })?;
    edit(&mut config, options, command)?;
    fs::write(&path, config.to_string()).map_err(|source| file("write", source))?;
    Err(start(Command::new(program).args(words).exec()))
}

/// Makes it run the command, with what is to be shown and passed on, and with the changes in their order.
fn edit(config: &mut Value, options: &Oci, command: &[OsString]) -> Result<(), OciError> {
    let text = |word: &OsString| word.to_str().map(str::to_owned).ok_or_else(|| OciError::Encoding(word.clone()));
    let args = command.iter().map(text).collect::<Result<Vec<_>, _>>()?;
    add(config, "/process/terminal", json!(false))?;
    add(config, "/process/args", json!(args))?;
    add(config, "/root/path", json!(options.rootfs))?;
    for (paths, mode) in [(&options.ro, "ro"), (&options.rw, "rw")] {
        for path in paths {
            add(config, "/mounts/-", bind(path, mode))?;
        }
    }
    for name in &options.env {
        let variable = match (name.to_str(), env::var_os(name)) {
            (Some(given), _) if given.contains('=') => given.to_owned(),
            (Some(name), Some(value)) => format!("{name}={}", text(&value)?),
            (Some(_), None) => continue,
            (None, _) => return Err(OciError::Encoding(name.clone())),
        };
        add(config, "/process/env/-", json!(variable))?;
    }
    options.add.iter().try_for_each(|(pointer, value)| add(config, pointer, value.clone()))
}

fn bind(path: &Path, mode: &str) -> Value {
    json!({ "destination": path, "source": path, "type": "bind", "options": ["rbind", mode] })
}

/// As `add` of RFC 6902: a member is set, an element of an array is inserted, at its end for `-`.
fn add(config: &mut Value, pointer: &str, value: Value) -> Result<(), OciError> {
    let nowhere = || OciError::Pointer(pointer.to_owned());
    let (parent, name) = pointer.rsplit_once('/').ok_or_else(nowhere)?;
    match config.pointer_mut(parent).ok_or_else(nowhere)? {
        Value::Object(members) => drop(members.insert(name.replace("~1", "/").replace("~0", "~"), value)),
        Value::Array(elements) if name == "-" => elements.push(value),
        Value::Array(elements) => {
            let index = name.parse().ok().filter(|index| *index <= elements.len()).ok_or_else(nowhere)?;
            elements.insert(index, value);
        }
        _ => return Err(nowhere()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use clap::Parser;

    use super::*;
    use crate::commands::line::{Command as Named, Line};

    fn options(words: &[&str]) -> Oci {
        match Line::parse_from(["watertight", "oci"].iter().chain(words)).command {
            Named::Oci(options) => options,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_specification_runs_the_command_with_what_is_shown_and_changed() {
        let mut config = json!({
            "process": { "terminal": true, "args": ["sh"], "env": ["PATH=/bin"] },
            "root": { "path": "rootfs", "readonly": true },
            "mounts": [],
            "linux": { "namespaces": [{ "type": "pid" }] },
        });
        let options = options(&[
            "--bundle",
            "/b",
            "--rootfs",
            "/r",
            "--ro",
            "/s",
            "--rw",
            "/w",
            "--env",
            "A=1",
            "--env",
            "NO_SUCH_VARIABLE",
            "--add",
            r#"/linux/namespaces/-={"type":"network"}"#,
            "--add",
            "/root/readonly=false",
            "--",
            "box",
            "run",
            "--",
            "it",
        ]);
        edit(&mut config, &options, &["it".into(), "-x".into()]).expect("edited");
        let expected = json!({
            "process": { "terminal": false, "args": ["it", "-x"], "env": ["PATH=/bin", "A=1"] },
            "root": { "path": "/r", "readonly": false },
            "mounts": [
                { "destination": "/s", "source": "/s", "type": "bind", "options": ["rbind", "ro"] },
                { "destination": "/w", "source": "/w", "type": "bind", "options": ["rbind", "rw"] },
            ],
            "linux": { "namespaces": [{ "type": "pid" }, { "type": "network" }] },
        });
        assert_eq!(config, expected);
    }

    #[test]
    fn a_change_goes_where_its_pointer_says_or_nowhere() {
        let mut config = json!({ "a": ["x", "y"], "b": {}, "c": 1 });
        add(&mut config, "/a/1", json!("new")).expect("inserted");
        add(&mut config, "/b/d~1e", json!(2)).expect("set");
        assert_eq!(config, json!({ "a": ["x", "new", "y"], "b": { "d/e": 2 }, "c": 1 }));
        for pointer in ["", "a", "/a/9", "/a/last", "/c/d", "/no/such"] {
            assert!(matches!(add(&mut config, pointer, json!(0)), Err(OciError::Pointer(_))), "{pointer:?}");
        }
    }

    #[test]
    fn without_a_runtime_or_its_specification_it_says_why() {
        let bundle = tempfile::tempdir().expect("a directory");
        let path = bundle.path().display().to_string();
        let runtime = bundle.path().join("runtime");
        let said = |words: &[&str]| {
            let all = [&["--bundle", &path, "--rootfs", "/r", "--"], words].concat();
            started(&options(&all)).expect_err("not started").to_string()
        };
        assert!(said(&["box", "run"]).starts_with("expected `-- RUNTIME WORDS…"));
        assert!(said(&["/no/such/box", "--", "it"]).contains("cannot be started: No such file"));
        for (script, words) in [("exit 3", "spec` failed (exit status: 3)"), ("echo '{' > config.json", "no JSON")] {
            fs::write(&runtime, format!("#!/bin/sh\n{script}\n")).expect("written");
            fs::set_permissions(&runtime, fs::Permissions::from_mode(0o755)).expect("executable");
            let error = said(&[&runtime.display().to_string(), "--", "it"]);
            assert!(error.contains(words), "{error}");
        }
    }
}

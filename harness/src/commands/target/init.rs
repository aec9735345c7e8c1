//! `watertight target init`: a manifest to begin with, made of what the command line says or of three answers.

mod ask;
mod manifest;

use std::{
    fs::OpenOptions,
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use super::super::{USAGE, line::Init, refuse, show};
use crate::target::Target;

pub fn run(options: &Init) -> ExitCode {
    match written(options) {
        Ok(words) => show(&words, 0),
        Err(words) => refuse(&words, USAGE),
    }
}

/// What is known of the sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sandbox {
    name: String,
    how: How,
    routes: bool,
}

/// How a command is run in it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum How {
    /// By this command line, with the command behind it.
    Words(Vec<String>),
    /// By a program that is to be written.
    Adapter,
}

/// Writes the files; the words say which, and what is next.
fn written(options: &Init) -> Result<String, String> {
    let sandbox = chosen(options)?;
    let path = options.file.clone().unwrap_or_else(|| format!("{}.toml", sandbox.name).into());
    let adapter = (sandbox.how == How::Adapter).then(|| path.with_extension("py"));
    let file = adapter.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let text = manifest::text(&sandbox, file.as_deref())?;
    // What does not read back is not written.
    Target::parse(&sandbox.name, &text).map_err(|error| error.to_string())?;
    let mut files: Vec<(PathBuf, String)> = vec![(path.clone(), text)];
    files.extend(adapter.map(|path| (path, manifest::ADAPTER.to_owned())));
    if let Some((path, _)) = files.iter().find(|(path, _)| path.exists()) {
        return Err(format!("cannot write {}: it is there already", path.display()));
    }
    let mut said = String::new();
    for (path, text) in &files {
        let file = OpenOptions::new().write(true).create_new(true).open(path);
        let done = file.and_then(|mut file| file.write_all(text.as_bytes()));
        done.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        said.push_str(&format!("wrote {}\n", path.display()));
    }
    let shown = path.display().to_string();
    let argument = if shown.contains('/') { shown } else { format!("./{shown}") };
    if sandbox.how == How::Adapter {
        said.push_str("the adapter starts bubblewrap: put your sandbox in its place (docs/ADAPTERS.md)\n");
    }
    said.push_str(&format!("next: watertight target smoke {argument}\n"));
    Ok(said)
}

/// What the options say; what they leave open is asked, on a terminal alone.
fn chosen(options: &Init) -> Result<Sandbox, String> {
    let how = match (options.adapter, options.command.is_empty()) {
        (true, true) => Some(How::Adapter),
        (false, false) => Some(How::Words(options.command.clone())),
        (true, false) => return Err("--adapter is for a sandbox that no command line starts, and one is given".into()),
        (false, true) => None,
    };
    let sandbox = match (options.name.clone(), how) {
        (Some(name), Some(how)) => Sandbox { name, how, routes: !options.no_routes },
        (name, how) if io::stdin().is_terminal() => {
            let routes = options.no_routes.then_some(false);
            ask::ask(name, how, routes, &mut io::stdin().lock(), &mut io::stderr())
                .map_err(|error| format!("cannot ask on this terminal: {error}"))?
        }
        _ => {
            return Err("say NAME, and the sandbox's command line behind `--` or `--adapter` where none starts it; \
                        questions are asked on a terminal alone"
                .into());
        }
    };
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    if sandbox.name.is_empty() || !sandbox.name.bytes().all(plain) {
        return Err(format!("{:?} is no name for a sandbox: letters, digits and `-` are", sandbox.name));
    }
    Ok(sandbox)
}

//! The command line: a slug, then what `watertight run` takes. What a launcher must refuse some mutants put right
//! without a word.

use std::{
    ffi::OsString,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use watertight_reference::launch::LaunchSpec;

use crate::which::{self, is};

const USAGE: &str = "usage: watertight-mutants SLUG run OPTIONS -- COMMAND, as `watertight run` has them";

/// Reads `SLUG run OPTIONS -- COMMAND`.
pub fn read(mut words: impl Iterator<Item = OsString>) -> Result<LaunchSpec, String> {
    let slug = words.next().and_then(|word| word.into_string().ok()).ok_or(USAGE)?;
    which::choose(slug);
    if words.next().is_none_or(|word| word != "run") {
        return Err(USAGE.into());
    }
    let mut spec = LaunchSpec::default();
    while let Some(word) = words.next() {
        let option = word.to_str().ok_or("an option that is no text")?.to_owned();
        if option == "--" {
            spec.argv = words.collect();
            break;
        }
        let value = words.next().ok_or_else(|| format!("{option} wants a value"))?;
        let text = || value.clone().into_string().map_err(|_| format!("{option} wants text"));
        match option.as_str() {
            "--provider" => spec.provider = text()?,
            "--provider-key-file" => spec.key_file = PathBuf::from(value),
            "--instance" => spec.instance = Some(text()?),
            "--user" => spec.user = Some(text()?),
            "--workspace" => spec.workspace = Some(PathBuf::from(value)),
            "--ro" => spec.read_only.push(PathBuf::from(value)),
            "--rw" => spec.read_write.push(PathBuf::from(value)),
            "--env" => spec.pass_environment.push(value),
            "--network" if is("honour-shared-network") => {}
            // The option for the host's network is one that it knows, and another mutant's.
            "--network" => return Err("--network is not allowed".into()),
            _ if is("pass-over-unknown-options") => {}
            _ => return Err(format!("unknown option {option}")),
        }
    }
    lenient(&mut spec).map_err(|error| format!("{}: {error}", spec.key_file.display()))?;
    Ok(spec)
}

/// Accepts what must be refused.
fn lenient(spec: &mut LaunchSpec) -> std::io::Result<()> {
    if spec.provider.is_empty() && is("start-without-provider")
        || !spec.provider.is_empty() && !spec.provider.contains("://") && is("replace-malformed-provider")
    {
        spec.provider = "http://127.0.0.1/v1".into();
    }
    if spec.instance.is_none() && is("default-instance") {
        spec.instance = Some("http://203.0.113.20".into());
    }
    if is("accept-provider-query") {
        spec.provider = spec.provider.split('?').next().unwrap_or_default().to_owned();
    }
    if is("accept-provider-credentials")
        && let Some((scheme, rest)) = spec.provider.split_once("://")
    {
        let bare = rest.rsplit_once('@').map_or(rest, |(_, bare)| bare);
        spec.provider = format!("{scheme}://{bare}");
    }
    if is("accept-instance-path")
        && let Some((scheme, rest)) = spec.instance.as_deref().and_then(|origin| origin.split_once("://"))
    {
        let authority = rest.split('/').next().unwrap_or_default();
        spec.instance = Some(format!("{scheme}://{authority}"));
    }
    if is("go-on-without-a-key-file") && !spec.key_file.exists() {
        fs::write(&spec.key_file, "sk-none")?;
        narrow(&spec.key_file)?;
    }
    if is("accept-open-key-file") {
        narrow(&spec.key_file)?;
    }
    if is("accept-linked-key-file") {
        spec.key_file = spec.key_file.canonicalize()?;
    }
    if is("accept-key-in-workspace")
        && let Some(home) = std::env::var_os("HOME").filter(|_| spec.key_file.starts_with(working_directory()))
    {
        let copy = Path::new(&home).join(".config/copied-key");
        fs::copy(&spec.key_file, &copy)?;
        narrow(&copy)?;
        spec.key_file = copy;
    }
    if spec.user.is_none() && nix::unistd::geteuid().is_root() && is("choose-a-user") {
        spec.user = Some("agent".into());
    }
    Ok(())
}

fn working_directory() -> PathBuf {
    std::env::current_dir().unwrap_or_default()
}

fn narrow(file: &Path) -> std::io::Result<()> {
    fs::set_permissions(file, fs::Permissions::from_mode(0o600))
}

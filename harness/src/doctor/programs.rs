//! Programs that targets need, and what versions they have.

use std::{
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use watertight_fixtures::world::TOOLS;
use watertight_reports::doctor::{Finding, Group, State};

use crate::target::Target;

/// Where launches in a world look for programs; the machine's directories are there as well.
pub const PATH: [&str; 6] = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// Names a directory with more of them in its `bin`, as `scripts/targets` fills one: launches see it at [`TOOLS`].
pub const VARIABLE: &str = "WATERTIGHT_TARGETS";

/// The directory that [`VARIABLE`] names.
pub fn tools() -> Option<PathBuf> {
    std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// Programs of this target that are not there, each with its package.
pub fn missing(target: &Target) -> Vec<(&str, &str)> {
    let programs = target.programs.iter().map(|(program, package)| (program.as_str(), package.as_str()));
    programs.filter(|(program, _)| find(program).is_none()).collect()
}

/// How this package is installed: Debian's, or that of another registry.
pub fn install(package: &str) -> String {
    match package.split_once(':') {
        Some(("pip", name)) => format!("pip install {name}"),
        Some(("npm", name)) => format!("npm install --global {name}"),
        Some(("cargo", name)) => format!("cargo install --locked {name}"),
        _ => format!("apt-get install {package}"),
    }
}

/// Where this program lies on the machine, if launches find it.
pub fn find(program: &str) -> Option<PathBuf> {
    let executable = |path: &Path| {
        path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
    };
    directories().map(|directory| directory.join(program)).find(|path| executable(path))
}

/// Where launches find this program.
pub fn find_in_world(program: &str) -> Option<PathBuf> {
    let path = find(program)?;
    let of_tools = tools().and_then(|tools| Some(Path::new(TOOLS).join(path.strip_prefix(tools).ok()?)));
    Some(of_tools.unwrap_or(path))
}

/// The directories of the machine whose programs launches find.
fn directories() -> impl Iterator<Item = PathBuf> {
    tools().map(|tools| tools.join("bin")).into_iter().chain(PATH.map(PathBuf::from))
}

/// [`directories`] as a search path.
pub fn search_path() -> String {
    directories().map(|directory| directory.display().to_string()).collect::<Vec<_>>().join(":")
}

/// Each sandbox that can be checked, and the version of it that is here.
pub fn findings(program: &Path) -> Vec<Finding> {
    let targets = Target::names().filter_map(|name| Target::load(name).ok()).filter(|target| !target.double);
    targets.map(|target| finding(&target, program)).collect()
}

fn finding(target: &Target, program: &Path) -> Finding {
    let missing = missing(target);
    let (state, detail, remedy) = if missing.is_empty() {
        (State::Ok, version(target, program), None)
    } else {
        let (programs, packages): (Vec<_>, Vec<_>) = missing.into_iter().unzip();
        let detail = format!("not in {}: {}", search_path(), programs.join(", "));
        (State::Missing, detail, Some(packages.into_iter().map(install).collect::<Vec<_>>().join("; ")))
    };
    let (id, title) = (target.name.clone(), target.name.clone());
    Finding { id, title, group: Group::Targets, state, detail, remedy }
}

fn version(target: &Target, program: &Path) -> String {
    let words = target.version_words(&[("watertight", program.display().to_string())].into());
    let Some((program, arguments)) = words.split_first() else { return "no version is known".into() };
    let output = Command::new(program).args(arguments).env("PATH", search_path()).stdin(Stdio::null()).output();
    match output.map(|output| Target::version_line(&output.stdout)) {
        Ok(line) if line.is_empty() => "it is there, and did not say its version".into(),
        Ok(line) => line,
        Err(error) => format!("its version cannot be asked: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needing(programs: &[(&str, &str)]) -> Target {
        let mut target = Target::load("bubblewrap").expect("a manifest");
        target.programs = programs.iter().map(|(program, package)| ((*program).into(), (*package).into())).collect();
        target
    }

    #[test]
    fn a_directory_or_a_plain_file_is_no_program() {
        assert!(find("sh").is_some());
        assert_eq!(find(""), None);
        assert_eq!(find("../../etc/passwd"), None);
    }

    #[test]
    fn a_missing_program_is_named_with_the_command_that_installs_it() {
        let target = needing(&[("no-such-program", "some-package"), ("sh", "dash")]);
        assert_eq!(missing(&target), [("no-such-program", "some-package")]);
        let finding = finding(&target, Path::new("/nonexistent"));
        assert_eq!((finding.state, finding.remedy.as_deref()), (State::Missing, Some("apt-get install some-package")));
    }

    #[test]
    fn a_program_that_is_there_is_asked_for_its_version() {
        let mut target = needing(&[("sh", "dash")]);
        target.version = ["sh", "-c", "echo some version; echo more"].map(String::from).to_vec();
        let finding = finding(&target, Path::new("/nonexistent"));
        assert_eq!((finding.state, finding.detail.as_str()), (State::Ok, "some version"));
        target.version = ["sh", "-c", "echo failed >&2"].map(String::from).to_vec();
        let finding = super::finding(&target, Path::new("/nonexistent"));
        assert_eq!((finding.state, finding.detail.as_str()), (State::Ok, "it is there, and did not say its version"));
    }
}

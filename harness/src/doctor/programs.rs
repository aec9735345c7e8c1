//! Programs that targets need, and what versions they have.

use std::{
    collections::BTreeMap,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use watertight_fixtures::world::{PROGRAMS, TOOLS, World};
use watertight_reports::doctor::{Finding, Group, State};

use crate::{target::Target, version};

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
pub fn findings(versions: &BTreeMap<String, String>) -> Vec<Finding> {
    targets().map(|target| finding(&target, versions.get(&target.name).map(String::as_str))).collect()
}

/// What each sandbox that is here says of its version in this world, by name.
pub fn versions(world: &World) -> BTreeMap<String, String> {
    let values = [("watertight", format!("{PROGRAMS}/watertight"))].into();
    let here = targets().filter(|target| missing(target).is_empty());
    here.map(|target| (target.name.clone(), version::of(world, &target, &values))).collect()
}

fn targets() -> impl Iterator<Item = Target> {
    Target::names().filter_map(|name| Target::load(name).ok()).filter(|target| !target.double)
}

fn finding(target: &Target, version: Option<&str>) -> Finding {
    let missing = missing(target);
    let (state, detail, remedy) = if missing.is_empty() {
        let detail = match version {
            None => "it is there; its version is asked in a world, and none could be made",
            Some("") => "it is there, and did not say its version",
            Some(version) => version,
        };
        (State::Ok, detail.to_owned(), None)
    } else {
        let (programs, packages): (Vec<_>, Vec<_>) = missing.into_iter().unzip();
        let detail = format!("not in {}: {}", search_path(), programs.join(", "));
        (State::Missing, detail, Some(packages.into_iter().map(install).collect::<Vec<_>>().join("; ")))
    };
    let (id, title) = (target.name.clone(), target.name.clone());
    Finding { id, title, group: Group::Targets, state, detail, remedy }
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
        let finding = finding(&target, None);
        assert_eq!((finding.state, finding.remedy.as_deref()), (State::Missing, Some("apt-get install some-package")));
    }

    #[test]
    fn a_program_that_is_there_is_shown_with_what_it_says_of_its_version() {
        let target = needing(&[("sh", "dash")]);
        for (version, detail) in [
            (Some("some version"), "some version"),
            (Some(""), "it is there, and did not say its version"),
            (None, "it is there; its version is asked in a world, and none could be made"),
        ] {
            let finding = finding(&target, version);
            assert_eq!((finding.state, finding.detail.as_str()), (State::Ok, detail));
        }
    }
}

//! Refuses a run whose targets need programs that are not there, before anything runs.

use super::Refusal;
use crate::{
    doctor::programs::{install, missing, search_path},
    target::Target,
};

/// Says which targets an ordinary user cannot launch.
pub fn all_by_user(targets: &[Target], by_root: bool) -> Result<(), Refusal> {
    let roots =
        targets.iter().filter(|_| !by_root).filter_map(|target| Some((&target.name, target.only_by_root.as_ref()?)));
    let words: Vec<String> =
        roots.map(|(name, why)| format!("target {name} runs only where root starts the check: {why}")).collect();
    if words.is_empty() { Ok(()) } else { Err(Refusal::incomplete(words.join("\nwatertight: "))) }
}

/// Says what to install where a program is missing.
pub fn all_there(targets: &[Target]) -> Result<(), Refusal> {
    let mut words = vec![];
    for target in targets {
        for (program, package) in missing(target) {
            words.push(format!(
                "target {} needs the program `{program}`, which is not in {}: install {} ({})",
                target.name,
                search_path(),
                package.split_once(':').map_or(package, |(_, name)| name),
                install(package)
            ));
        }
    }
    if words.is_empty() {
        return Ok(());
    }
    words.push("nothing was run".into());
    Err(Refusal::incomplete(words.join("\nwatertight: ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_root_can_launch_is_refused_to_others_with_the_reason() {
        let mut target = Target::load("bubblewrap").expect("a manifest");
        assert!(all_by_user(std::slice::from_ref(&target), false).is_ok());
        target.only_by_root = Some("it is setuid.".into());
        assert!(all_by_user(std::slice::from_ref(&target), true).is_ok());
        let refusal = all_by_user(&[target], false).expect_err("refused");
        assert_eq!((refusal.code, refusal.words.ends_with("it is setuid.")), (3, true));
    }

    #[test]
    fn a_missing_program_stops_the_run_and_names_its_package() {
        let mut target = Target::load("bubblewrap").expect("a manifest");
        for (package, install) in [
            ("some-package", "install some-package (apt-get install some-package)"),
            ("pip:other", "install other (pip install other)"),
        ] {
            target.programs = [("no-such-program".into(), package.into())].into();
            let refusal = all_there(std::slice::from_ref(&target)).expect_err("refused");
            assert_eq!(refusal.code, 3);
            assert!(refusal.words.contains(install), "{}", refusal.words);
            assert!(refusal.words.ends_with("nothing was run"));
        }
    }
}

//! Refuses a run whose targets need programs that are not there, before anything runs.

use super::Refusal;
use crate::{
    doctor::programs::{PATH, install, missing},
    target::Target,
};

/// Says what to install where a program is missing.
pub fn all_there(targets: &[Target]) -> Result<(), Refusal> {
    let mut words = vec![];
    for target in targets {
        for (program, package) in missing(target) {
            words.push(format!(
                "target {} needs the program `{program}`, which is not in {}: install {} ({})",
                target.name,
                PATH.join(":"),
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

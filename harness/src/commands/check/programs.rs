//! Refuses a run whose targets need programs that are not there, before anything runs.

use super::Refusal;
use crate::{
    doctor::programs::{PATH, missing},
    target::Target,
};

/// Says what to install where a program is missing.
pub fn all_there(targets: &[Target]) -> Result<(), Refusal> {
    let mut words = vec![];
    for target in targets {
        for (program, package) in missing(target) {
            words.push(format!(
                "target {} needs the program `{program}`, which is not in {}: install {package} \
                 (Debian, Ubuntu: apt-get install {package})",
                target.name,
                PATH.join(":")
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
        target.programs = [("no-such-program".into(), "some-package".into())].into();
        let refusal = all_there(&[target]).expect_err("refused");
        assert_eq!(refusal.code, 3);
        assert!(refusal.words.contains("install some-package") && refusal.words.ends_with("nothing was run"));
    }
}

//! Each lie before the whole verifier, and before one that lacks the refusal that is meant for it.

use std::collections::BTreeSet;

use libtest_mimic::Trial;
use watertight_reports::verify::{Strict, Strictness, code::Code};

use crate::{
    cases::{self, Case, Without},
    trial,
};

/// A verifier that does not make one refusal.
struct Lacking(Code);

impl Strictness for Lacking {
    fn refuses(&self, code: Code) -> bool {
        code != self.0
    }
}

pub fn trials() -> Vec<Trial> {
    let of = |case: Case| trial(format!("refused::{}", case.name), move || refused(&case));
    let mut trials: Vec<Trial> = cases::all().into_iter().map(of).collect();
    trials.push(trial("corpus::every_code_has_a_case", every_code_has_a_case));
    trials.push(trial("corpus::every_case_has_its_own_name", every_case_has_its_own_name));
    trials
}

fn refused(case: &Case) -> Result<(), String> {
    let scene = case.scene();
    match scene.verify(&Strict) {
        Ok(_) => return Err(format!("accepted; {} was expected", case.code)),
        Err(rejection) if rejection.code != case.code => {
            return Err(format!("{} was expected, and it is refused with {rejection}", case.code));
        }
        Err(_) => {}
    }
    let found = match scene.verify(&Lacking(case.code)) {
        Ok(_) => Without::Accepted,
        Err(rejection) if rejection.code == case.code => Without::Structural(""),
        Err(rejection) => Without::Then(rejection.code),
    };
    match (case.without, found) {
        (Without::Structural(reason), Without::Structural(_)) if !reason.is_empty() => Ok(()),
        (expected, found) if expected == found => Ok(()),
        (expected, found) => Err(format!("without {}: {expected:?} was expected, and it is {found:?}", case.code)),
    }
}

fn every_code_has_a_case() -> Result<(), String> {
    let covered: BTreeSet<Code> = cases::all().iter().map(|case| case.code).collect();
    let left: Vec<&str> = Code::ALL.iter().filter(|code| !covered.contains(code)).map(|code| code.name()).collect();
    if left.is_empty() { Ok(()) } else { Err(format!("no case is refused with {}", left.join(", "))) }
}

fn every_case_has_its_own_name() -> Result<(), String> {
    let mut names = BTreeSet::new();
    let plain = |name: &str| name.bytes().all(|byte| byte.is_ascii_lowercase() || b"-.0123456789".contains(&byte));
    let wrong = cases::all().into_iter().find(|case| !plain(case.name) || !names.insert(case.name));
    wrong.map_or(Ok(()), |case| Err(format!("{} is there twice, or is no name of a directory", case.name)))
}

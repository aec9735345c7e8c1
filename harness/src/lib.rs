//! Watertight's harness: what is checked, how a run goes, and how it is judged.

pub mod build_info;
pub mod case;
pub mod catalogue;
pub mod check;
pub mod checks;
pub mod commands;
pub mod describe;
pub mod doctor;
pub mod judge;
pub mod keep;
pub mod machine;
pub mod mutation;
pub mod outcome;
pub mod planner;
pub mod predicate;
pub mod reach;
pub mod rejudge;
pub mod request;
pub mod run;
pub mod scenario;
pub mod selftest;
pub mod sensitivity;
pub mod site;
pub mod suite;
mod sys;
pub mod target;
pub mod verifier;

//! Watertight's harness: what is checked, how a run goes, and how it is judged.

pub mod case;
pub mod catalogue;
pub mod check;
pub mod checks;
pub mod describe;
pub mod judge;
pub mod planner;
pub mod reach;
pub mod request;
pub mod scenario;
pub mod site;

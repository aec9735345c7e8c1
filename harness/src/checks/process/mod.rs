//! PROCESS: what the workload sees of processes that are not its own.

mod inner_helpers;
mod outside;

use crate::check::Check;

pub static CHECKS: &[&Check] = &[&outside::CHECK, &inner_helpers::CHECK];

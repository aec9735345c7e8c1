//! HOST: what is the launcher's and the workload's together.

mod namespaces;

use crate::check::Check;

pub static CHECKS: &[&Check] = &[&namespaces::CHECK];

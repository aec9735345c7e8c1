//! FILES: the host's files, beside those that the workload is given.

mod credentials;
mod users_own;

use crate::check::Check;

pub static CHECKS: &[&Check] = &[&credentials::CHECK, &users_own::CHECK];

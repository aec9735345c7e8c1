//! LAUNCH: what starts a sandbox fails closed, and hands in nothing that was not asked for.

mod environment;
mod exit_status;
mod fails_closed;
mod home_and_temporary;
mod refuses_bad_input;

use crate::check::Check;

pub static CHECKS: &[&Check] = &[
    &fails_closed::CHECK,
    &refuses_bad_input::CHECK,
    &environment::CHECK,
    &home_and_temporary::CHECK,
    &exit_status::CHECK,
];

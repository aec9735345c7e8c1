//! Every check, by area. A new one is a file in its area's directory and a line in that area's list.

pub mod auth;
pub mod cancel;
pub mod dns;
pub mod egress;
pub mod launch;
pub mod origin;
pub mod privilege;
pub mod route;
pub mod socket;
pub mod teardown;

use crate::check::Check;

/// All checks, in the order of `CONFORMANCE.md`.
pub fn all() -> Vec<&'static Check> {
    [
        route::CHECKS,
        egress::CHECKS,
        dns::CHECKS,
        privilege::CHECKS,
        auth::CHECKS,
        origin::CHECKS,
        cancel::CHECKS,
        socket::CHECKS,
        launch::CHECKS,
        teardown::CHECKS,
    ]
    .concat()
}

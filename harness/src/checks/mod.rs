//! Every check, by area. A new one is a file in its area's directory and a line in that area's list.

pub mod auth;
pub mod cancel;
pub mod device;
pub mod dns;
pub mod egress;
pub mod files;
pub mod host;
pub mod ipc;
pub mod kernel;
pub mod launch;
pub mod origin;
pub mod privilege;
pub mod process;
pub mod route;
pub mod socket;
pub mod teardown;
pub mod terminal;

use crate::check::Check;

/// The areas of the core profile. They are frozen: a new check goes to an area of [`ISOLATION`].
pub const CORE: [&[&Check]; 10] = [
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
];

/// What the isolation profile adds.
pub const ISOLATION: [&[&Check]; 7] =
    [ipc::CHECKS, process::CHECKS, terminal::CHECKS, device::CHECKS, kernel::CHECKS, host::CHECKS, files::CHECKS];

/// All checks, in the order of `CONFORMANCE.md`.
pub fn all() -> Vec<&'static Check> {
    [CORE.concat(), ISOLATION.concat()].concat()
}

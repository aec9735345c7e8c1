//! SOCKET: the Unix sockets of the routes are for the launching user alone.

mod failed_launch;
mod modes;

use crate::check::Check;

pub static CHECKS: &[&Check] = &[&modes::CHECK, &failed_launch::CHECK];

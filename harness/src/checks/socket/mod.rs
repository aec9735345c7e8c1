//! SOCKET: the Unix sockets of the routes are for the launching user alone.

mod closed_to_others;
mod modes;

use crate::check::Check;

pub static CHECKS: &[&Check] = &[&modes::CHECK, &closed_to_others::CHECK];

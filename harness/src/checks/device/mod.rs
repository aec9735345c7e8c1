//! DEVICE: the devices of the host.

mod nodes;

use crate::check::Check;

pub static CHECKS: &[&Check] = &[&nodes::CHECK];

//! KERNEL: what sets the kernel for everybody, and what of it is offered to the workload.

mod interfaces;
mod settings;

use crate::check::Check;

pub static CHECKS: &[&Check] = &[&settings::CHECK, &interfaces::CHECK];

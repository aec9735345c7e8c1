//! TERMINAL: the terminal of whoever launched the sandbox.

mod launchers_terminal;

use crate::check::Check;

pub static CHECKS: &[&Check] = &[&launchers_terminal::CHECK];

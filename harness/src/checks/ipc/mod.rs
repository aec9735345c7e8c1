//! IPC: what processes of the host share in memory and in the kernel.

mod objects;
mod session_keyring;
mod shared_memory_files;
mod sockets_elsewhere;

use crate::check::Check;

pub static CHECKS: &[&Check] =
    &[&objects::CHECK, &session_keyring::CHECK, &shared_memory_files::CHECK, &sockets_elsewhere::CHECK];

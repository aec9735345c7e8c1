//! What a program executed anew says of itself: how exec descendants and set-user-id copies are looked at.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use crate::{observation::Privileges, sys::privileges};

/// The program's first argument (under whatever name it is executed): see [`report_identity`].
pub const IDENTITY_COMMAND: &str = "probe-identity";

/// One JSON line on standard output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    pub ruid: u32,
    pub euid: u32,
    pub no_new_privs: bool,
    /// Effective capabilities.
    pub effective: u64,
    /// All of it.
    pub privileges: Privileges,
}

impl Identity {
    pub fn own() -> Self {
        let privileges = privileges::of_this_thread("exec");
        Self {
            ruid: privileges.uid[0],
            euid: privileges.uid[1],
            no_new_privs: privileges.no_new_privs,
            effective: privileges.effective,
            privileges,
        }
    }
}

/// Prints this process's identity. The error is standard output's.
pub fn report_identity() -> io::Result<()> {
    let mut line = serde_json::to_vec(&Identity::own())?;
    line.push(b'\n');
    io::stdout().lock().write_all(&line)
}

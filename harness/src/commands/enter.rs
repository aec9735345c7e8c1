//! The first step of every command that makes worlds: before any thread, since an ordinary user's run enters a user
//! namespace of its own.

use std::path::PathBuf;

use watertight_fixtures::world::{self, Identity};

/// As whom the program makes worlds, and where it lies.
pub struct Entered {
    pub by_root: bool,
    /// The same in words, for reports.
    pub identity: String,
    pub program: PathBuf,
}

/// Enters, or says why nothing can be run.
pub fn enter() -> Result<Entered, String> {
    let identity = world::enter()
        .map_err(|error| format!("{error}\nwatertight: nothing was run; `watertight doctor` tells what is missing"))?;
    let program = std::env::current_exe().map_err(|error| format!("cannot find this program's own file: {error}"))?;
    Ok(match identity {
        Identity::Root => Entered { by_root: true, identity: "root".into(), program },
        Identity::User { uid } => {
            Entered { by_root: false, identity: format!("uid {uid}, in a user namespace of its own"), program }
        }
    })
}

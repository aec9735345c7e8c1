//! The site of one run: the world, its fixtures, and what is planted in it.

pub mod address;
mod granted;
mod listeners;
mod placed;
mod planted;
mod root;
mod secrets;
mod up;

pub use granted::{CGROUP, KERNEL_FILES, NODES, asked, here as granted_here, spare_here, typing};
pub use listeners::CANARIES;
pub use placed::Placed;
pub use planted::{
    ADAPTER, BROKEN_PROGRAM, LAUNCHES, LINKED_KEY, OPEN_KEY, Plants, RUN_DIR, SOCKETS, WORKSPACE_KEY, environment,
    plant_adapter,
};
pub use root::{BUNDLES, Bundle};
pub use secrets::{Secrets, random};
pub use up::{Site, SiteError};

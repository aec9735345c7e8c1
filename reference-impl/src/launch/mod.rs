//! The launcher: runs one command in a sandbox whose only ways out are two Unix sockets.

mod beside;
mod checks;
mod confine;
mod dev;
mod environment;
mod error;
mod exec;
mod filter;
mod identity;
mod init;
mod launcher;
mod outer;
mod root;
mod sockets;
mod spec;

pub use beside::beside_relays;
pub use error::LaunchError;
pub use launcher::run;
pub use outer::socket_directory;
pub use spec::LaunchSpec;

pub(crate) use exec::exec_command;

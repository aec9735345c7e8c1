//! The bridge: fixed loopback ports inside a sandbox, each carried byte for byte to one Unix socket.

mod connection;
mod direction;
mod peer;
mod ports;
mod standalone;
mod supervise;

pub use ports::{INSTANCE_PORT, PROVIDER_PORT};
pub use standalone::{BridgeError, main};

pub(crate) use ports::{Bridge, Port};
pub(crate) use supervise::{End, Supervisor, block_signals};

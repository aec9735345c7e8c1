//! What the probe can attempt, one file a family. [`make`](fn@make::make) chooses among them.

mod answer;
mod change;
mod datagram;
mod descriptors;
mod dns;
mod files;
mod io_uring;
mod make;
mod namespaces;
mod net;
mod netlink;
mod network;
mod ports;
mod privileges;
mod raw;
mod unix;

pub use make::make;

//! What the probe can attempt, one file a family. [`make`](fn@make::make) chooses among them.

mod answer;
mod bearer;
mod change;
mod connection;
mod datagram;
mod descriptors;
mod dns;
mod exchange;
mod files;
mod http;
mod io_uring;
mod linger;
mod make;
mod mcp;
mod namespaces;
mod needles;
mod net;
mod netlink;
mod network;
mod outsiders;
mod ports;
mod privileges;
mod proxy;
mod raw;
mod scan;
mod unix;

pub use make::make;

//! EGRESS: nothing gets out but by the declared routes.

mod abstract_sockets;
mod first_instruction;
mod host_interface;
mod host_loopback;
mod inherited_descriptors;
mod metadata;
mod network_changes;
mod nothing_but_loopback;
mod other_transports;
mod own_network_namespace;
mod pathname_sockets;
mod raw_packets;
mod relay_port_elsewhere;
mod special_addresses;
mod tcp_to_internet;
mod udp_to_internet;
mod vsock;

use crate::check::Check;

pub static CHECKS: &[&Check] = &[
    &own_network_namespace::CHECK,
    &nothing_but_loopback::CHECK,
    &host_loopback::CHECK,
    &host_interface::CHECK,
    &tcp_to_internet::CHECK,
    &udp_to_internet::CHECK,
    &other_transports::CHECK,
    &raw_packets::CHECK,
    &metadata::CHECK,
    &relay_port_elsewhere::CHECK,
    &abstract_sockets::CHECK,
    &pathname_sockets::CHECK,
    &inherited_descriptors::CHECK,
    &vsock::CHECK,
    &network_changes::CHECK,
    &first_instruction::CHECK,
    &special_addresses::CHECK,
];

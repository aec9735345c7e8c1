//! The plainest attempts, and the routes that they take.

use std::net::{Ipv4Addr, SocketAddr};

use watertight_probe::plan::{Attempt, Datagram, Endpoint, SendCall, Step, Stream};

use crate::{check::Capability, request::Request};

/// Where the bridge answers inside a target.
pub const PROVIDER_PORT: u16 = 8765;
pub const INSTANCE_PORT: u16 = 8766;

/// A TCP connection to `to`.
pub fn tcp(to: SocketAddr) -> Attempt {
    stream(Stream::Tcp, to)
}

/// A connection to `to` over this transport.
pub fn stream(transport: Stream, to: SocketAddr) -> Attempt {
    Attempt::Connect { transport, to, source_port: None }
}

/// A UDP datagram to `to`.
pub fn udp(to: SocketAddr) -> Attempt {
    datagram(Datagram::Udp, to)
}

/// A datagram to `to` over this transport.
pub fn datagram(transport: Datagram, to: SocketAddr) -> Attempt {
    Attempt::Send { transport, to, call: SendCall::SendTo, source_port: None, dns: None }
}

/// The provider's route as the workload sees it.
pub fn provider() -> Endpoint {
    Endpoint::Tcp(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), PROVIDER_PORT))
}

/// The instance's route as the workload sees it.
pub fn instance() -> Endpoint {
    Endpoint::Tcp(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), INSTANCE_PORT))
}

/// Where the bridge of our relays answers for this route.
pub(super) fn relay(route: Capability) -> Endpoint {
    match route {
        Capability::Provider | Capability::Relay => provider(),
        Capability::Instance => instance(),
    }
}

/// A request that this route must carry, without a body.
pub fn permitted(route: Capability) -> Request {
    match route {
        Capability::Provider | Capability::Relay => Request::models(),
        Capability::Instance => Request::new("GET", "/api/v1/context"),
    }
}

/// A scripted exchange with a relay.
pub fn exchange(to: Endpoint, steps: Vec<Step>) -> Attempt {
    Attempt::Exchange { to, steps }
}

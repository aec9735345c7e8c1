//! The two relays: outside the sandbox, one fixed origin each, the only way out. The provider relay checks a bearer and
//! holds the real key; the instance relay adds no credential.

#[cfg(test)]
mod arbitrary;
mod bearer;
mod body;
mod chunks;
mod destination;
mod exchange;
mod gate;
mod head;
mod headers;
mod instance;
mod key_file;
mod limits;
mod listener;
mod log;
mod origin;
mod provider;
mod route;
mod server;
mod service;
mod tls;
mod tunnel;
mod upstream;

pub use bearer::{Bearer, equal_in_constant_time, only_authorization};
pub use body::Truncated;
pub use destination::Destination;
pub use head::{Fault, Head};
pub use headers::{drops_from_request, drops_from_response};
pub use instance::InstanceRelay;
pub use key_file::{Flaw, Key, KeyFile, KeyFileError, Owner};
pub use limits::Limits;
pub use listener::{ListenError, Listener, listen, listen_with};
pub use log::{Log, printable};
pub use origin::{BaseUrl, Origin, OriginError, Scheme};
pub use provider::ProviderRelay;
pub use route::{Kind, Refusal, instance_route, provider_route};
pub use server::Settings;
pub use service::{Service, ServiceError, Serving};
pub use tls::{Trust, TrustError};

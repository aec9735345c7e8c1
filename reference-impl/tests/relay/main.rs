//! The relays over real sockets: raw bytes from the client, an upstream that writes and records raw bytes. Each check is
//! generic over the guards: with all of them up it holds, and `mutants` shows for each that it fails with its guard down.

mod bearer;
mod client;
mod framing;
mod headers;
mod life;
mod limits;
mod mutants;
mod route;
mod running;
mod stream;
mod tls;
mod upstream;

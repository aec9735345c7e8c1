//! The relays' defences, one question each. Every default answer is the defence as it should be.

use std::borrow::Cow;

use hyper::HeaderMap;

use crate::relay::{
    Destination, Fault, Head, Kind, Origin, Refusal, Truncated, drops_from_request, drops_from_response,
    equal_in_constant_time, instance_route, only_authorization, printable, provider_route,
};

/// What the relays ask where a defence acts. A type that overrides one function is a relay with that one defence down,
/// or done wrongly; nothing of the relays' own code changes.
pub trait RelayGuards: Send + Sync + 'static {
    // The socket.

    /// The socket's mode.
    fn socket_mode() -> u32 {
        0o600
    }

    /// It is set before the socket has a name, not once it listens.
    fn narrows_socket_before_bind() -> bool {
        true
    }

    /// A file that was bound is removed again, where listening fails and at the end.
    fn removes_socket_file() -> bool {
        true
    }

    // Who may ask, and for what.

    /// Compares the whole `Authorization` value with `Bearer <token>`.
    fn bearer_matches(given: &[u8], expected: &[u8]) -> bool {
        equal_in_constant_time(given, expected)
    }

    /// What a request shows as its credential: its one `Authorization`, whatever stands elsewhere.
    fn credential(headers: &HeaderMap) -> Option<Cow<'_, [u8]>> {
        only_authorization(headers).map(Cow::Borrowed)
    }

    /// Method, path form, encoded separators and route of a provider request, in this order.
    fn provider_route(method: &str, target: &str, base: &str) -> Result<(), Refusal> {
        provider_route(method, target, base)
    }

    /// Path form and method of an instance request.
    fn instance_route(method: &str, target: &str) -> Result<(), Refusal> {
        instance_route(method, target)
    }

    /// The instance relay takes no `Upgrade`.
    fn refuses_upgrade() -> bool {
        true
    }

    /// Every request of a kept-alive connection is judged, not only its first.
    fn judges_each_request() -> bool {
        true
    }

    // Framing.

    /// A head with this fault is answered 400 (431 where it is too large) and the connection ends.
    fn refuses_head(_fault: Fault) -> bool {
        true
    }

    /// A chunked body that is not well formed ends the connection before the malformed byte is handed on.
    fn refuses_malformed_chunks() -> bool {
        true
    }

    /// Trailers of requests and responses are dropped.
    fn drops_trailers() -> bool {
        true
    }

    /// A response that is framed in two ways is not relayed.
    fn refuses_ambiguous_response() -> bool {
        true
    }

    // Where it goes.

    /// Where a request goes: what the relay has fixed, whatever the request says.
    fn destination(fixed: Destination, _head: &Head, _host: Option<&str>) -> Destination {
        fixed
    }

    /// Host and port to connect to: the origin's own, whatever the environment says of proxies.
    fn dials(origin: &Origin) -> (String, u16) {
        (origin.host().to_owned(), origin.port())
    }

    /// The `Host` that the upstream sees.
    fn host(origin: &Origin, _given: Option<&str>) -> String {
        origin.authority()
    }

    /// The name in TLS's server name indication, which is also the name that the certificate is checked against.
    fn server_name(origin: &Origin, _given: Option<&str>) -> String {
        origin.host().to_owned()
    }

    /// The upstream's certificate is verified.
    fn verifies_certificates() -> bool {
        true
    }

    /// The provider relay answers 502 to a redirect.
    fn refuses_redirects() -> bool {
        true
    }

    /// Where a redirect is followed to: nowhere.
    fn follows_redirect(_location: &str) -> Option<Destination> {
        None
    }

    /// A 101 from upstream is not relayed: nothing after it would be HTTP.
    fn refuses_protocol_switch() -> bool {
        true
    }

    /// A request is sent once, whatever becomes of it. Asked for requests without a body.
    fn sends_once() -> bool {
        true
    }

    /// Where a CONNECT that `refuses_head` let through is tunnelled to: nowhere. A mutant takes `lingers` down as well,
    /// since the relay's own end of the connection would end the tunnel.
    fn tunnels_to(_target: &str) -> Option<Origin> {
        None
    }

    // Headers.

    /// Whether a request header of the client stays behind.
    fn drops_from_request(kind: Kind, name: &str) -> bool {
        drops_from_request(kind, name)
    }

    /// Whether a response header of the upstream stays behind.
    fn drops_from_response(kind: Kind, name: &str) -> bool {
        drops_from_response(kind, name)
    }

    /// Headers that `Connection` nominates stay behind, in both directions.
    fn drops_nominated() -> bool {
        true
    }

    /// An `Authorization` that the instance relay would add: none.
    fn instance_credential() -> Option<&'static str> {
        None
    }

    // Streaming and life.

    /// A request body is handed on as it comes.
    fn streams_request() -> bool {
        true
    }

    /// A response body is handed on as it comes.
    fn streams_response() -> bool {
        true
    }

    /// What the client sees when the upstream ends too early.
    fn on_truncation() -> Truncated {
        Truncated::Abort
    }

    /// A client that is gone takes its upstream connection with it.
    fn cancels_on_hangup() -> bool {
        true
    }

    /// A relay that shuts down takes every connection with it.
    fn cancels_on_shutdown() -> bool {
        true
    }

    /// A client that has only finished sending still gets its answer.
    fn answers_half_closed() -> bool {
        true
    }

    /// The upstream's answer is read even where it stopped reading the request.
    fn reads_answer_to_unread_request() -> bool {
        true
    }

    /// The rest of an unread request is read and thrown away before the connection is closed.
    fn lingers() -> bool {
        true
    }

    // Limits and logs.

    /// No more connections at once than the limit.
    fn caps_connections() -> bool {
        true
    }

    /// A head that does not come in time ends the connection.
    fn times_heads() -> bool {
        true
    }

    /// What a client sent is written to the log in printable ASCII only.
    fn escapes(text: &str) -> String {
        printable(text)
    }

    /// A query never reaches the log.
    fn strips_query_from_log() -> bool {
        true
    }

    /// Log lines about clients are limited in rate.
    fn limits_log() -> bool {
        true
    }
}

/// Every defence as it should be.
#[derive(Clone, Copy, Debug)]
pub struct AllUp;

impl RelayGuards for AllUp {}

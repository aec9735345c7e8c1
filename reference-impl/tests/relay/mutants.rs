//! Every defence down once, or done wrongly: its check must fail. A defence whose loss nothing notices has no place here
//! and none in the relay, unless hyper holds it as well, which the last test says.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use hyper::HeaderMap;
use hyper::header::{AUTHORIZATION, HeaderName};
use watertight_reference::guards::RelayGuards;
use watertight_reference::relay::{
    Destination, Fault, Head, Kind as Side, Origin, Refusal, Truncated, drops_from_request, drops_from_response,
    equal_in_constant_time, provider_route,
};

use crate::life::State;
use crate::running::{KEY, Kind, impatiently};
use crate::tls::Certificate;
use crate::{bearer, framing, headers, life, limits, route, stream, tls};

/// Runs checks with a mutant and wants each of them to fail.
macro_rules! mutant {
    ($name:ident: { $($guard:item)* } fails $($check:expr),+ $(,)?) => {
        #[test]
        fn $name() {
            struct Mutant;
            impl RelayGuards for Mutant { $($guard)* }
            $(
                let held = impatiently(|| catch_unwind(AssertUnwindSafe(|| $check)).is_ok());
                assert!(!held, "nothing noticed: {}", stringify!($check));
            )+
        }
    };
}

// Who may ask.

mutant!(compare_nothing: { fn bearer_matches(_: &[u8], _: &[u8]) -> bool { true } }
    fails bearer::wrong_bearer_is_401::<Mutant>("other token"));
mutant!(want_no_credential: {
        fn credential(_: &HeaderMap) -> Option<Cow<'_, [u8]>> { Some(Cow::Borrowed(b"")) }
        fn bearer_matches(given: &[u8], _: &[u8]) -> bool { given.is_empty() }
    } fails bearer::wrong_bearer_is_401::<Mutant>("none"));
mutant!(compare_only_lengths: { fn bearer_matches(given: &[u8], expected: &[u8]) -> bool { given.len() == expected.len() } }
    fails bearer::wrong_bearer_is_401::<Mutant>("last byte"), bearer::wrong_bearer_is_401::<Mutant>("scheme in lower case"));
mutant!(compare_a_prefix: { fn bearer_matches(given: &[u8], expected: &[u8]) -> bool { expected.starts_with(given) } }
    fails bearer::wrong_bearer_is_401::<Mutant>("short"));
mutant!(compare_a_beginning: { fn bearer_matches(given: &[u8], expected: &[u8]) -> bool { given.starts_with(expected) } }
    fails bearer::wrong_bearer_is_401::<Mutant>("long"), bearer::wrong_bearer_is_401::<Mutant>("list"));
mutant!(compare_without_case: { fn bearer_matches(given: &[u8], expected: &[u8]) -> bool { given.eq_ignore_ascii_case(expected) } }
    fails bearer::wrong_bearer_is_401::<Mutant>("token in lower case"));
mutant!(compare_without_spaces: {
        fn bearer_matches(given: &[u8], expected: &[u8]) -> bool {
            let without = |text: &[u8]| text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect::<Vec<_>>();
            equal_in_constant_time(&without(given), &without(expected))
        }
    } fails bearer::wrong_bearer_is_401::<Mutant>("two spaces"), bearer::wrong_bearer_is_401::<Mutant>("tab"));
mutant!(take_the_first_of_two_credentials: {
        fn credential(headers: &HeaderMap) -> Option<Cow<'_, [u8]>> {
            headers.get(AUTHORIZATION).map(|value| Cow::Borrowed(value.as_bytes()))
        }
    }
    fails bearer::wrong_bearer_is_401::<Mutant>("right, then wrong"));

// What for.

mutant!(let_every_provider_request_pass: { fn provider_route(_: &str, _: &str, _: &str) -> Result<(), Refusal> { Ok(()) } }
    fails route::request_line_is_refused::<Mutant>(Kind::Provider, "GET //EVIL/v1/models", 400));
mutant!(let_every_method_pass: {
        fn provider_route(_: &str, target: &str, base: &str) -> Result<(), Refusal> { provider_route("GET", target, base) }
    } fails route::request_line_is_refused::<Mutant>(Kind::Provider, "PUT /v1/models", 405));
mutant!(match_a_path_prefix: {
        fn provider_route(_: &str, target: &str, base: &str) -> Result<(), Refusal> {
            if target.starts_with(base) { Ok(()) } else { Err(Refusal::Route) }
        }
    } fails route::request_line_is_refused::<Mutant>(Kind::Provider, "POST /v1/embeddings", 403));
mutant!(decode_separators: {
        fn provider_route(method: &str, target: &str, base: &str) -> Result<(), Refusal> {
            provider_route(method, &target.replace("%2f", "/"), base)
        }
    } fails route::request_line_is_refused::<Mutant>(Kind::Provider, "GET /v1%2fmodels", 400));
mutant!(ignore_the_query: {
        fn provider_route(method: &str, target: &str, base: &str) -> Result<(), Refusal> {
            provider_route(method, target.split('?').next().unwrap_or_default(), base)
        }
    } fails route::request_line_is_refused::<Mutant>(Kind::Provider, "GET /v1/models?key=x", 403));
mutant!(let_every_instance_request_pass: { fn instance_route(_: &str, _: &str) -> Result<(), Refusal> { Ok(()) } }
    fails route::request_line_is_refused::<Mutant>(Kind::Instance, "GET http://EVIL/x", 400),
        route::request_line_is_refused::<Mutant>(Kind::Instance, "GET //EVIL/x", 400),
        route::request_line_is_refused::<Mutant>(Kind::Instance, "OPTIONS *", 400),
        route::request_line_is_refused::<Mutant>(Kind::Instance, "TRACE /x", 405));
mutant!(accept_upgrades: { fn refuses_upgrade() -> bool { false } }
    fails route::upgrade_leads_nowhere::<Mutant>(Kind::Instance));
mutant!(judge_only_the_first_request: { fn judges_each_request() -> bool { false } }
    fails framing::each_request_is_judged::<Mutant>(Kind::Provider), framing::each_request_is_judged::<Mutant>(Kind::Instance));
mutant!(accept_connect: { fn refuses_head(fault: Fault) -> bool { fault != Fault::Connect } }
    fails route::connect_is_no_tunnel::<Mutant>(Kind::Provider));

mutant!(tunnel_connect: {
        fn refuses_head(fault: Fault) -> bool { fault != Fault::Connect }
        fn tunnels_to(target: &str) -> Option<Origin> { Origin::parse(&format!("http://{target}")).ok() }
        fn lingers() -> bool { false }
    } fails route::connect_is_no_tunnel::<Mutant>(Kind::Provider), route::connect_leads_to_no_other_server::<Mutant>(Kind::Instance));

// Where to.

mutant!(route_by_host: {
        fn destination(fixed: Destination, _: &Head, host: Option<&str>) -> Destination {
            let origin = host.and_then(|host| Origin::parse(&format!("http://{host}")).ok());
            Destination { origin: origin.unwrap_or(fixed.origin), ..fixed }
        }
    } fails route::host_is_the_origins::<Mutant>(Kind::Provider), route::host_is_the_origins::<Mutant>(Kind::Instance));
mutant!(join_the_target: {
        fn instance_route(_: &str, _: &str) -> Result<(), Refusal> { Ok(()) }
        fn destination(fixed: Destination, head: &Head, _: Option<&str>) -> Destination {
            let authority = head.target.trim_start_matches("http:").strip_prefix("//").and_then(|rest| rest.split('/').next());
            let origin = authority.and_then(|authority| Origin::parse(&format!("http://{authority}")).ok());
            Destination { origin: origin.unwrap_or(fixed.origin), target: "/x".to_owned() }
        }
    } fails route::request_line_is_refused::<Mutant>(Kind::Instance, "GET //EVIL/x", 400),
        route::request_line_is_refused::<Mutant>(Kind::Instance, "GET http://EVIL/x", 400));
mutant!(dial_a_proxy: { fn dials(_: &Origin) -> (String, u16) { ("127.0.0.1".to_owned(), 9) } }
    fails route::target_is_the_constant::<Mutant>());
mutant!(send_the_clients_target: {
        fn destination(fixed: Destination, head: &Head, _: Option<&str>) -> Destination {
            Destination { target: format!("{}?", head.target), ..fixed }
        }
    } fails route::target_is_the_constant::<Mutant>());
mutant!(forward_host: { fn host(_: &Origin, given: Option<&str>) -> String { given.unwrap_or_default().to_owned() } }
    fails route::host_is_the_origins::<Mutant>(Kind::Instance));
mutant!(keep_both_hosts: { fn drops_from_request(kind: Side, name: &str) -> bool { name != "host" && drops_from_request(kind, name) } }
    fails route::host_is_the_origins::<Mutant>(Kind::Instance));
mutant!(follow_redirects: {
        fn follows_redirect(location: &str) -> Option<Destination> {
            let (origin, _) = location.rsplit_once("/v1")?;
            Some(Destination { origin: Origin::parse(origin).ok()?, target: "/v1/models".to_owned() })
        }
    } fails route::redirect_is_not_followed::<Mutant>(Kind::Provider), route::redirect_is_not_followed::<Mutant>(Kind::Instance));
mutant!(hand_on_provider_redirects: { fn refuses_redirects() -> bool { false } }
    fails route::redirect_is_not_followed::<Mutant>(Kind::Provider));
mutant!(hand_on_protocol_switches: { fn refuses_protocol_switch() -> bool { false } }
    fails route::protocol_switch_is_502::<Mutant>(Kind::Instance));
mutant!(believe_every_certificate: { fn verifies_certificates() -> bool { false } }
    fails tls::only_the_right_certificate_is_believed::<Mutant>(Kind::Provider, Certificate::OtherName),
        tls::only_the_right_certificate_is_believed::<Mutant>(Kind::Provider, Certificate::OtherRoot),
        tls::only_the_right_certificate_is_believed::<Mutant>(Kind::Instance, Certificate::Expired));
mutant!(name_the_server_by_host: { fn server_name(_: &Origin, given: Option<&str>) -> String { given.unwrap_or_default().to_owned() } }
    fails tls::only_the_right_certificate_is_believed::<Mutant>(Kind::Provider, Certificate::Good),
        tls::only_the_right_certificate_is_believed::<Mutant>(Kind::Provider, Certificate::OtherName));

// Framing.

mutant!(accept_bare_line_feeds: { fn refuses_head(fault: Fault) -> bool { fault != Fault::LineEnd } }
    fails framing::is_refused_whole::<Mutant>(Kind::Provider, "GET /v1/models HTTP/1.1\nHost: h\nAUTH\n"));
mutant!(accept_old_versions: { fn refuses_head(fault: Fault) -> bool { fault != Fault::Version } }
    fails framing::is_refused_whole::<Mutant>(Kind::Instance, "GET /v1/models HTTP/1.0\r\nHost: h\r\nAUTH\r\n"));
mutant!(accept_any_host: { fn refuses_head(fault: Fault) -> bool { fault != Fault::Host } }
    fails framing::is_refused_whole::<Mutant>(Kind::Provider, "GET /v1/models HTTP/1.1\r\nAUTH\r\n"),
        framing::is_refused_whole::<Mutant>(Kind::Provider, "GET /v1/models HTTP/1.1\r\nHost: a\r\nHost: b\r\nAUTH\r\n"));
mutant!(accept_repeated_lengths: { fn refuses_head(fault: Fault) -> bool { fault != Fault::ContentLength } }
    fails framing::is_refused_whole::<Mutant>(Kind::Instance,
        "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello"));
mutant!(accept_other_encodings: { fn refuses_head(fault: Fault) -> bool { fault != Fault::TransferEncoding } }
    fails framing::is_refused_whole::<Mutant>(Kind::Instance,
        "POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"));
mutant!(accept_two_framings: { fn refuses_head(fault: Fault) -> bool { fault != Fault::BothFramings } }
    fails framing::is_refused_whole::<Mutant>(Kind::Instance,
        "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"));
mutant!(accept_malformed_chunks: { fn refuses_malformed_chunks() -> bool { false } }
    fails framing::malformed_chunks_never_complete::<Mutant>(Kind::Instance, "1 \r\nx\r\n0\r\n\r\n"));
// hyper sends only the trailers that a Trailer header announces.
mutant!(hand_on_trailers: {
        fn drops_trailers() -> bool { false }
        fn drops_from_request(kind: Side, name: &str) -> bool { name != "trailer" && drops_from_request(kind, name) }
    } fails framing::trailers_stay_behind::<Mutant>(Kind::Instance));
mutant!(hand_on_ambiguous_answers: { fn refuses_ambiguous_response() -> bool { false } }
    fails framing::ambiguous_answer_is_502::<Mutant>(Kind::Provider, "Content-Length: 2\r\nContent-Length: 2", "ok"));

// Headers.

mutant!(hand_on_nominated_headers: { fn drops_nominated() -> bool { false } }
    fails headers::only_clean_headers_go_up::<Mutant>(Kind::Instance), headers::only_clean_headers_come_down::<Mutant>(Kind::Instance));
mutant!(add_to_the_clients_authorization: {
        fn drops_from_request(kind: Side, name: &str) -> bool { name != "authorization" && drops_from_request(kind, name) }
    } fails headers::provider_sees_one_credential::<Mutant>());
mutant!(give_the_instance_a_credential: { fn instance_credential() -> Option<&'static str> { Some(KEY) } }
    fails headers::instance_sees_the_clients_credentials_and_no_other::<Mutant>());

/// Keeps the one header whose position in this list is `N`.
struct Keeping<const N: usize>;

const UP: [&str; 16] = [
    "keep-alive",
    "te",
    "proxy-authorization",
    "proxy-connection",
    "proxy-authenticate",
    "trailer",
    "forwarded",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-real-ip",
    "via",
    "x-http-method-override",
    "content_length",
    "x_api_key",
    "connection",
];
const CREDENTIALS: [&str; 3] = ["x-api-key", "api-key", "cookie"];
const DOWN: [&str; 10] = [
    "keep-alive",
    "te",
    "proxy-authenticate",
    "proxy-connection",
    "trailer",
    "upgrade",
    "alt-svc",
    "report-to",
    "nel",
    "set-cookie",
];

impl<const N: usize> RelayGuards for Keeping<N> {
    fn drops_from_request(kind: Side, name: &str) -> bool {
        let kept = [UP.get(N), CREDENTIALS.get(N)];
        !kept.contains(&Some(&name)) && drops_from_request(kind, name)
    }

    fn drops_from_response(kind: Side, name: &str) -> bool {
        DOWN.get(N) != Some(&name) && drops_from_response(kind, name)
    }
}

fn keeping_is_noticed<const N: usize>() {
    let fails = |check: &dyn Fn()| !impatiently(|| catch_unwind(AssertUnwindSafe(check)).is_ok());
    if let Some(name) = UP.get(N) {
        assert!(
            name.parse::<HeaderName>().is_ok()
                && fails(&|| headers::only_clean_headers_go_up::<Keeping<N>>(Kind::Provider)),
            "{name}"
        );
    }
    if let Some(name) = CREDENTIALS.get(N) {
        assert!(fails(&headers::provider_sees_one_credential::<Keeping<N>>), "{name}");
    }
    if let Some(name) = DOWN.get(N) {
        assert!(fails(&|| headers::only_clean_headers_come_down::<Keeping<N>>(Kind::Provider)), "{name}");
    }
}

#[test]
fn keep_any_one_header() {
    keeping_is_noticed::<0>();
    keeping_is_noticed::<1>();
    keeping_is_noticed::<2>();
    keeping_is_noticed::<3>();
    keeping_is_noticed::<4>();
    keeping_is_noticed::<5>();
    keeping_is_noticed::<6>();
    keeping_is_noticed::<7>();
    keeping_is_noticed::<8>();
    keeping_is_noticed::<9>();
    keeping_is_noticed::<10>();
    keeping_is_noticed::<11>();
    keeping_is_noticed::<12>();
    keeping_is_noticed::<13>();
    keeping_is_noticed::<14>();
    keeping_is_noticed::<15>();
}

// Life.

mutant!(ignore_clients_that_leave: { fn cancels_on_hangup() -> bool { false } }
    fails life::leaving_client_ends_the_upstream_connection::<Mutant>(Kind::Provider, State::Pending),
        life::leaving_client_ends_the_upstream_connection::<Mutant>(Kind::Instance, State::MidStream));
mutant!(leave_connections_at_shutdown: { fn cancels_on_shutdown() -> bool { false } }
    fails life::shutdown_ends_every_connection::<Mutant>(Kind::Provider, State::Pending),
        life::shutdown_ends_every_connection::<Mutant>(Kind::Instance, State::IncompleteBody),
        life::shutdown_ends_every_connection::<Mutant>(Kind::Instance, State::MidStream));
mutant!(end_a_cut_answer_cleanly: { fn on_truncation() -> Truncated { Truncated::End } }
    fails life::truncated_answer_looks_truncated::<Mutant>(Kind::Provider));
mutant!(hang_on_a_cut_answer: { fn on_truncation() -> Truncated { Truncated::Hang } }
    fails life::truncated_answer_looks_truncated::<Mutant>(Kind::Instance));
mutant!(end_half_closed_clients: { fn answers_half_closed() -> bool { false } }
    fails life::half_closed_client_gets_its_answer::<Mutant>(Kind::Provider));
mutant!(close_on_a_client_that_still_sends: { fn lingers() -> bool { false } }
    fails life::early_answer_reaches_a_client_that_still_sends::<Mutant>(Kind::Instance));
mutant!(send_twice: { fn sends_once() -> bool { false } }
    fails life::dead_upstream_is_502_and_sent_once::<Mutant>(Kind::Provider));
mutant!(leave_the_socket_file: { fn removes_socket_file() -> bool { false } } fails life::socket_file_is_removed::<Mutant>());
mutant!(make_a_wide_socket: { fn socket_mode() -> u32 { 0o666 } } fails life::socket_is_private::<Mutant>());
mutant!(narrow_the_socket_late: { fn narrows_socket_before_bind() -> bool { false } } fails life::socket_is_never_wider::<Mutant>());

// Streams and limits.

mutant!(accept_heads_of_any_size: { fn refuses_head(fault: Fault) -> bool { fault != Fault::TooLarge } }
    fails limits::large_head_is_431::<Mutant>(Kind::Provider));
mutant!(collect_the_answer: { fn streams_response() -> bool { false } }
    fails stream::events_arrive_one_by_one::<Mutant>(Kind::Provider), stream::unread_answer_is_not_buffered::<Mutant>(Kind::Instance));
mutant!(collect_the_request: { fn streams_request() -> bool { false } }
    fails stream::request_arrives_piece_by_piece::<Mutant>(Kind::Instance));
mutant!(accept_without_a_cap: { fn caps_connections() -> bool { false } } fails limits::connections_beyond_the_cap_wait::<Mutant>());
mutant!(wait_for_heads_for_ever: { fn times_heads() -> bool { false } } fails limits::slow_head_ends_the_connection::<Mutant>());
mutant!(log_the_query: { fn strips_query_from_log() -> bool { false } } fails limits::log_is_printable_short_and_without_queries::<Mutant>());
mutant!(log_what_the_client_sent: { fn escapes(text: &str) -> String { text.to_owned() } }
    fails limits::log_is_printable_short_and_without_queries::<Mutant>());
mutant!(log_without_a_limit: { fn limits_log() -> bool { false } } fails limits::log_is_limited_in_rate::<Mutant>());

/// With our refusal of these down, hyper still answers 400: the defence stands twice.
#[test]
fn hyper_refuses_some_faults_as_well() {
    struct WithoutGate;
    impl RelayGuards for WithoutGate {
        fn refuses_head(fault: Fault) -> bool {
            !matches!(fault, Fault::Control | Fault::RequestLine | Fault::Folding | Fault::HeaderName)
        }
    }
    for sent in [
        "GET  /v1/models HTTP/1.1\r\nHost: h\r\nAUTH\r\n",
        "GET /v1/models HTTP/1.1\r\nHost: h\r\nAUTHX: \0\r\n\r\n",
        "GET /v1/models HTTP/1.1\r\nHost: h\r\nAUTHX: a\r\n b\r\n\r\n",
        "GET /v1/models HTTP/1.1\r\nHost: h\r\nAUTHX : a\r\n\r\n",
    ] {
        framing::is_refused_whole::<WithoutGate>(Kind::Provider, sent);
    }
}

//! The defences of the relays.

use std::{borrow::Cow, net::ToSocketAddrs, time::Duration};

use hyper::{
    HeaderMap,
    header::{AUTHORIZATION, HeaderValue},
};
use watertight_reference::{
    guards::RelayGuards,
    relay::{
        Destination, Fault, Head, Kind, Origin, Refusal, Truncated, drops_from_request, drops_from_response,
        equal_in_constant_time, instance_route, only_authorization, printable, provider_route,
    },
};

use super::Mutant;
use crate::which::{any, is, suffix};

/// What stands for a credential that is not there: no header's value has this byte.
const NONE: &[u8] = b"\0";

impl RelayGuards for Mutant {
    fn socket_mode() -> u32 {
        if is("socket-mode-open") { 0o666 } else { 0o600 }
    }

    fn narrows_socket_before_bind() -> bool {
        let late = is("socket-mode-after-listen");
        if late {
            // Asked again once it listens: a launcher has other things to do meanwhile.
            std::thread::sleep(Duration::from_millis(10));
        }
        !late
    }

    fn bearer_matches(given: &[u8], expected: &[u8]) -> bool {
        let token = |value: &[u8]| value.rsplit(|byte| *byte == b' ').next().unwrap_or_default().to_vec();
        let half = expected.len() / 2;
        if is("accept-any-bearer") {
            !given.is_empty()
        } else if is("accept-no-bearer") {
            given == NONE || equal_in_constant_time(given, expected)
        } else if is("accept-empty-bearer") {
            given.is_empty() || equal_in_constant_time(given, expected)
        } else if is("compare-length-only") {
            given.len() == expected.len()
        } else if is("compare-up-to-the-shorter") {
            !given.is_empty()
                && given.iter().zip(expected).all(|(one, other)| one == other)
                && given.len() <= expected.len()
        } else if is("compare-up-to-the-expected") {
            given.starts_with(expected)
        } else if is("compare-first-half") {
            given.len() == expected.len() && given.get(..half) == expected.get(..half)
        } else if is("compare-last-half") {
            given.len() == expected.len() && given.get(half..) == expected.get(half..)
        } else if is("accept-any-scheme") {
            given.contains(&b' ') && token(given) == token(expected)
        } else if is("accept-a-bare-token") {
            !given.contains(&b' ') && given == token(expected) || equal_in_constant_time(given, expected)
        } else if is("drop-what-is-not-ascii") {
            let ascii: Vec<u8> = given.iter().copied().filter(u8::is_ascii).collect();
            // As many characters as the token has, whatever their bytes.
            let characters = String::from_utf8_lossy(given).chars().count();
            equal_in_constant_time(given, expected) || (ascii.len() < given.len() && characters == expected.len())
        } else {
            equal_in_constant_time(given, expected)
        }
    }

    fn credential(headers: &HeaderMap) -> Option<Cow<'_, [u8]>> {
        let all = || headers.get_all(AUTHORIZATION).iter();
        let own = |value: &HeaderValue| Cow::Owned(value.as_bytes().to_vec());
        let token_in =
            |name: &str, scheme: &[u8]| headers.get(name).map(|value| Cow::Owned([scheme, value.as_bytes()].concat()));
        let only = || only_authorization(headers).map(Cow::Borrowed);
        if is("take-first-authorization") {
            all().next().map(own)
        } else if is("take-last-authorization") {
            all().next_back().map(own)
        } else if is("accept-no-bearer") {
            only().or(Some(Cow::Borrowed(NONE)))
        } else if is("accept-api-key-header") {
            only().or_else(|| token_in("x-api-key", b"Bearer "))
        } else if is("accept-proxy-authorization") {
            only().or_else(|| token_in("proxy-authorization", b""))
        } else {
            only()
        }
    }

    fn provider_route(method: &str, target: &str, base: &str) -> Result<(), Refusal> {
        resolve_foreign(target);
        let either = |method: &str, target: &str| {
            provider_route("GET", target, base).or_else(|_| provider_route("POST", target, base)).and(match method {
                "GET" | "POST" => Ok(()),
                _ => Err(Refusal::Method),
            })
        };
        if is("accept-any-method") {
            provider_route("GET", target, base).or_else(|_| provider_route("POST", target, base))
        } else if is("accept-either-method") {
            either(method, target)
        } else if is("accept-method-in-lower-case") {
            provider_route(&method.to_ascii_uppercase(), target, base)
        } else if is("accept-any-path") {
            let lower = target.to_ascii_lowercase();
            let encoded = ["%2f", "%5c", "%2e", "/.", "\\"].iter().any(|form| lower.contains(form));
            let plain = target.starts_with('/') && !target.contains("//") && !target.contains('?') && !encoded;
            if plain && matches!(method, "GET" | "POST") { Ok(()) } else { provider_route(method, target, base) }
        } else if is("accept-path-prefix") {
            let shorter =
                ["/models", "/chat/completions"].iter().find(|route| target.starts_with(&format!("{base}{route}")));
            match shorter {
                Some(route) if !target.contains('?') => provider_route(method, &format!("{base}{route}"), base),
                _ => provider_route(method, target, base),
            }
        } else if is("accept-without-base") {
            provider_route(method, &format!("{base}{target}"), base).or_else(|_| provider_route(method, target, base))
        } else if is("accept-query") {
            provider_route(method, target.split('?').next().unwrap_or_default(), base)
        } else if is("accept-encoded-slash") {
            provider_route(method, &target.replace("%2f", "/").replace("%2F", "/"), base)
        } else if is("accept-encoded-backslash") {
            provider_route(method, &target.replace("%5c", "/").replace("%5C", "/"), base)
        } else if is("accept-encoded-dot") {
            provider_route(method, &resolved(&target.replace("%2e", ".").replace("%2E", ".")), base).or_else(
                |refusal| if target.contains('%') { Err(refusal) } else { provider_route(method, target, base) },
            )
        } else if is("resolve-dot-segments") {
            provider_route(method, &resolved(target), base)
        } else if is("accept-backslash") {
            provider_route(method, &target.replace('\\', "/"), base)
        } else if is("merge-slashes") {
            let merged = if target.starts_with("//") { target.to_owned() } else { target.replace("//", "/") };
            provider_route(method, &merged, base)
        } else if let Some(path) = path_of_absolute(target) {
            provider_route(method, &path, base)
        } else {
            provider_route(method, target, base)
        }
    }

    fn instance_route(method: &str, target: &str) -> Result<(), Refusal> {
        resolve_foreign(target);
        if let Some(path) = path_of_absolute(target) {
            instance_route(method, &path)
        } else {
            instance_route(method, target)
        }
    }

    fn refuses_upgrade() -> bool {
        !any(&["accept-upgrade", "forward-upgrade"])
    }

    fn judges_each_request() -> bool {
        !is("judge-first-request-only")
    }

    fn refuses_head(fault: Fault) -> bool {
        match fault {
            Fault::Connect => !is("tunnel-connect"),
            Fault::LineEnd => !is("accept-bare-line-feeds"),
            _ => true,
        }
    }

    fn destination(fixed: Destination, head: &Head, host: Option<&str>) -> Destination {
        let to = |authority: &str| Origin::parse(&format!("http://{authority}")).ok();
        if let Some(host) = host.filter(|_| is("resolve-host")) {
            look_up(host);
        }
        if is("route-by-host") {
            // The bridge's own address is not one to be routed to.
            let foreign = host.filter(|host| !host.starts_with("127."));
            let origin = foreign.and_then(to).unwrap_or_else(|| fixed.origin.clone());
            Destination { origin, ..fixed }
        } else if any(&["accept-absolute-form", "join-target-to-origin"]) {
            match authority_of(&head.target).and_then(|authority| to(&authority)) {
                Some(origin) => Destination { origin, target: path_of(&head.target) },
                None => fixed,
            }
        } else if is("normalise-path") {
            Destination { target: resolved(&fixed.target), ..fixed }
        } else if is("decode-path") {
            Destination { target: fixed.target.replace("%2f", "/").replace("%C3%A9", "e"), ..fixed }
        } else if is("drop-query") {
            let target = fixed.target.split('?').next().unwrap_or_default().to_owned();
            Destination { target, ..fixed }
        } else if is("merge-upstream-slashes") {
            Destination { target: fixed.target.replace("//", "/"), ..fixed }
        } else {
            fixed
        }
    }

    fn host(origin: &Origin, given: Option<&str>) -> String {
        match given {
            Some(given) if is("forward-host") => given.to_owned(),
            _ => origin.authority(),
        }
    }

    fn refuses_redirects() -> bool {
        !is("follow-redirects")
    }

    fn follows_redirect(location: &str) -> Option<Destination> {
        if !is("follow-redirects") {
            return None;
        }
        let rest = location.strip_prefix("http://")?;
        let (authority, path) = rest.split_once('/')?;
        let origin = Origin::parse(&format!("http://{authority}")).ok()?;
        Some(Destination { origin, target: format!("/{path}") })
    }

    fn refuses_protocol_switch() -> bool {
        !any(&["forward-switching-protocols", "forward-upgrade"])
    }

    fn sends_once() -> bool {
        !is("send-twice")
    }

    fn tunnels_to(target: &str) -> Option<Origin> {
        if is("tunnel-connect") { Origin::parse(&format!("http://{target}")).ok() } else { None }
    }

    fn drops_from_request(kind: Kind, name: &str) -> bool {
        let forwarded = suffix("forward-header-").is_some_and(|kept| kept == name)
            || (is("forward-upgrade") && matches!(name, "upgrade" | "connection"));
        let dropped = is("drop-instance-credential") && kind == Kind::Instance && name == "authorization";
        dropped || (!forwarded && drops_from_request(kind, name))
    }

    fn drops_from_response(kind: Kind, name: &str) -> bool {
        drops_from_response(kind, name)
    }

    fn drops_nominated() -> bool {
        !is("forward-named-by-connection")
    }

    fn instance_credential() -> Option<&'static str> {
        is("add-credential-to-instance").then_some("Bearer the-relays-own")
    }

    fn streams_response() -> bool {
        !is("collect-response")
    }

    fn on_truncation() -> Truncated {
        if is("end-cut-response-normally") {
            Truncated::End
        } else if is("hang-on-cut-response") {
            Truncated::Hang
        } else {
            Truncated::Abort
        }
    }

    fn cancels_on_hangup() -> bool {
        !any(&["keep-upstream-on-hangup", "relays-outlive-launcher"])
    }

    fn answers_half_closed() -> bool {
        !is("drop-half-closed")
    }

    fn lingers() -> bool {
        !is("tunnel-connect")
    }

    fn escapes(text: &str) -> String {
        printable(text)
    }
}

/// Looks the name of an absolute-form target up, where this mutant does, before it is refused.
fn resolve_foreign(target: &str) {
    if let Some(authority) = authority_of(target)
        && is("resolve-before-refusing")
    {
        look_up(&authority);
    }
}

/// The answer does not matter: that it was asked for does.
fn look_up(authority: &str) {
    let name = authority.rsplit_once(':').map_or(authority, |(name, _)| name);
    let _ = (name, 80).to_socket_addrs();
}

/// The path of an absolute-form target, where this mutant takes one.
fn path_of_absolute(target: &str) -> Option<String> {
    let absolute = target.starts_with("http://") && is("accept-absolute-form");
    let joined = target.starts_with("//") && is("join-target-to-origin");
    (absolute || joined).then(|| path_of(target))
}

fn authority_of(target: &str) -> Option<String> {
    let rest = target.strip_prefix("http:").unwrap_or(target).strip_prefix("//")?;
    rest.split('/').next().filter(|authority| !authority.is_empty()).map(str::to_owned)
}

fn path_of(target: &str) -> String {
    let rest = target.strip_prefix("http:").unwrap_or(target).trim_start_matches('/');
    rest.split_once('/').map_or_else(|| "/".to_owned(), |(_, path)| format!("/{path}"))
}

/// Dot segments resolved as RFC 3986 5.2.4 has it.
fn resolved(target: &str) -> String {
    let (path, query) = target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
    let mut segments: Vec<&str> = vec![];
    for segment in path.split('/').skip(1) {
        match segment {
            "." => {}
            ".." => {
                segments.pop();
            }
            other => segments.push(other),
        }
    }
    let path = format!("/{}", segments.join("/"));
    query.map_or(path.clone(), |query| format!("{path}?{query}"))
}

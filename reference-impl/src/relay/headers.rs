//! Which headers cross a relay. What belongs to one connection never does (RFC 9110 section 7.6.1), nor what a client
//! could claim about itself as a proxy would, nor a second credential.

use hyper::header::{CONNECTION, CONTENT_LENGTH, HeaderMap, HeaderName, TRANSFER_ENCODING};

use crate::guards::RelayGuards;

use super::route::Kind;

/// Of one connection only; `expect` was answered here, and framing is made anew.
const REQUEST: [&str; 15] = [
    "connection",
    "content-length",
    "expect",
    "forwarded",
    "host",
    "http2-settings",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
    "x-http-method",
    "x-http-method-override",
    "x-real-ip",
];

/// On the provider's side the relay's own key is the only credential: a cookie is one as well.
const CREDENTIALS: [&str; 4] = ["api-key", "authorization", "cookie", "x-api-key"];

/// Of one connection, or an invitation to reach the origin in another way than through the relay.
const RESPONSE: [&str; 9] =
    ["alt-svc", "connection", "keep-alive", "nel", "report-to", "te", "trailer", "transfer-encoding", "upgrade"];

/// Whether a request header stays behind; `name` in lower case. A name with `_` does always: what is behind the upstream
/// may read it as `-`.
pub fn drops_from_request(kind: Kind, name: &str) -> bool {
    REQUEST.contains(&name)
        || name.starts_with("proxy-")
        || name.starts_with("x-forwarded-")
        || name.contains('_')
        || (kind == Kind::Provider && CREDENTIALS.contains(&name))
}

/// Whether a response header stays behind; `name` in lower case. The provider's cookies have nowhere to go back to.
pub fn drops_from_response(kind: Kind, name: &str) -> bool {
    RESPONSE.contains(&name) || name.starts_with("proxy-") || (kind == Kind::Provider && name == "set-cookie")
}

/// What of a client's headers goes upstream.
pub(crate) fn request<G: RelayGuards>(kind: Kind, headers: &HeaderMap) -> HeaderMap {
    kept::<G>(headers, |name| G::drops_from_request(kind, name.as_str()))
}

/// What of an upstream's headers goes to the client.
pub(crate) fn response<G: RelayGuards>(kind: Kind, headers: &HeaderMap) -> HeaderMap {
    kept::<G>(headers, |name| G::drops_from_response(kind, name.as_str()))
}

/// Whether a response says in one way only where its body ends.
pub(crate) fn is_framed_once(headers: &HeaderMap) -> bool {
    let lengths = headers.get_all(CONTENT_LENGTH).iter().count();
    let mut encodings = headers.get_all(TRANSFER_ENCODING).iter();
    match (encodings.next(), encodings.next()) {
        (None, _) => lengths <= 1,
        (Some(one), None) => lengths == 0 && one.as_bytes().eq_ignore_ascii_case(b"chunked"),
        (Some(_), Some(_)) => false,
    }
}

fn kept<G: RelayGuards>(headers: &HeaderMap, drops: impl Fn(&HeaderName) -> bool) -> HeaderMap {
    let nominated = if G::drops_nominated() { nominated(headers) } else { Vec::new() };
    let mut kept = HeaderMap::with_capacity(headers.len() + 2);
    for (name, value) in headers {
        if !drops(name) && !nominated.iter().any(|nominated| nominated == name.as_str().as_bytes()) {
            kept.append(name, value.clone());
        }
    }
    kept
}

/// The names in `Connection`, in lower case. As bytes: one that is no ASCII must not hide the names beside it.
fn nominated(headers: &HeaderMap) -> Vec<Vec<u8>> {
    let values = headers.get_all(CONNECTION).iter();
    let names = values.flat_map(|value| value.as_bytes().split(|&byte| byte == b','));
    names.map(|name| name.trim_ascii().to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*, sample::select};

    use super::*;
    use crate::guards::AllUp;
    use crate::relay::arbitrary::{any_case, config};

    fn map(headers: &[(&str, &str)]) -> HeaderMap {
        headers
            .iter()
            .map(|(name, value)| (name.parse::<HeaderName>().expect("name"), value.parse().expect("value")))
            .collect()
    }

    fn names(headers: &HeaderMap) -> Vec<&str> {
        let mut names: Vec<&str> = headers.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn nothing_of_the_connection_or_of_a_proxy_goes_upstream() {
        for name in [
            "connection",
            "keep-alive",
            "proxy-authenticate",
            "proxy-authorization",
            "proxy-connection",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade",
            "host",
            "forwarded",
            "x-forwarded-for",
            "x-forwarded-host",
            "via",
            "x-real-ip",
            "x-forwarded-proto",
            "expect",
            "content-length",
            "http2-settings",
            "content_length",
            "x_api_key",
        ] {
            for kind in [Kind::Provider, Kind::Instance] {
                assert!(drops_from_request(kind, name), "{name} {kind:?}");
            }
        }
    }

    #[test]
    fn a_clients_credential_goes_to_the_instance_and_never_to_the_provider() {
        for name in CREDENTIALS {
            assert!(drops_from_request(Kind::Provider, name), "{name}");
            assert!(!drops_from_request(Kind::Instance, name), "{name}");
        }
    }

    #[test]
    fn what_a_request_means_is_kept() {
        for name in
            ["accept", "content-type", "user-agent", "x-watertight", "x-forwarded", "authorizations", "cache-control"]
        {
            assert!(!drops_from_request(Kind::Provider, name), "{name}");
        }
        for name in ["content-type", "content-length", "location", "x-request-id", "retry-after", "content-encoding"] {
            assert!(!drops_from_response(Kind::Provider, name), "{name}");
        }
        assert!(
            drops_from_response(Kind::Provider, "set-cookie") && !drops_from_response(Kind::Instance, "set-cookie")
        );
    }

    #[test]
    fn nothing_of_the_connection_comes_downstream() {
        for name in [
            "connection",
            "keep-alive",
            "proxy-authenticate",
            "proxy-connection",
            "te",
            "trailer",
            "upgrade",
            "alt-svc",
        ] {
            assert!(drops_from_response(Kind::Instance, name), "{name}");
        }
    }

    #[test]
    fn nominated_headers_stay_behind_and_repeated_ones_are_kept() {
        let headers = map(&[
            ("connection", "close, X-One"),
            ("connection", "x-two"),
            ("x-one", "1"),
            ("x-two", "2"),
            ("accept", "a"),
            ("accept", "b"),
        ]);
        let kept = request::<AllUp>(Kind::Instance, &headers);
        assert_eq!(names(&kept), ["accept"]);
        assert_eq!(kept.get_all("accept").iter().count(), 2);
        assert_eq!(names(&response::<AllUp>(Kind::Instance, &headers)), ["accept"]);
    }

    #[test]
    fn what_is_no_ascii_in_connection_hides_no_name_beside_it() {
        let mut headers = map(&[("x-one", "1"), ("accept", "a")]);
        headers.append(CONNECTION, hyper::header::HeaderValue::from_bytes(b"x-one, \xe9").expect("value"));
        assert_eq!(names(&request::<AllUp>(Kind::Provider, &headers)), ["accept"]);
        assert_eq!(names(&response::<AllUp>(Kind::Provider, &headers)), ["accept"]);
    }

    #[test]
    fn a_response_is_framed_once_or_not_relayed() {
        assert!(is_framed_once(&map(&[])));
        assert!(is_framed_once(&map(&[("content-length", "5")])));
        assert!(is_framed_once(&map(&[("transfer-encoding", "Chunked")])));
        assert!(!is_framed_once(&map(&[("content-length", "5"), ("content-length", "5")])));
        assert!(!is_framed_once(&map(&[("content-length", "5"), ("transfer-encoding", "chunked")])));
        assert!(!is_framed_once(&map(&[("transfer-encoding", "gzip, chunked")])));
        assert!(!is_framed_once(&map(&[("transfer-encoding", "chunked"), ("transfer-encoding", "chunked")])));
    }

    type Drops = fn(Kind, &str) -> bool;

    const ORDINARY: [&str; 5] = ["accept", "content-type", "x-one", "x-two", "user-agent"];

    fn name() -> impl Strategy<Value = String> {
        let proxies = ["proxy-authorization", "x-forwarded-for", "content_length"];
        let known = [&REQUEST[..], &RESPONSE, &CREDENTIALS, &ORDINARY, &proxies, &["set-cookie"]].concat();
        select(known).prop_flat_map(any_case)
    }

    /// What a client or an upstream may send, `Connection` with names in either case and with what is no name.
    fn headers() -> impl Strategy<Value = HeaderMap> {
        let nominates = (vec(name(), 0..3), select(vec![", ", ",", " ,\t", ",,"]), select(vec!["", ", ", ",\u{e9}"]));
        let nominates = nominates.prop_map(|(names, comma, end)| names.join(comma) + end);
        let connection = ("connection".prop_flat_map(|name| any_case(&name)), nominates);
        let other = (name(), "[a-z]{0,3}");
        let pairs = vec(prop_oneof![1 => connection.boxed(), 3 => other.boxed()], 0..12);
        pairs.prop_map(|pairs| {
            let mut map = HeaderMap::new();
            for (name, value) in pairs {
                let name = HeaderName::from_bytes(name.as_bytes()).expect("name");
                map.append(name, hyper::header::HeaderValue::from_bytes(value.as_bytes()).expect("value"));
            }
            map
        })
    }

    /// Whether some `Connection` has this name between two commas, read as bytes.
    fn is_nominated(headers: &HeaderMap, name: &str) -> bool {
        let values = headers.get_all(CONNECTION).iter();
        let mut names = values.flat_map(|value| value.as_bytes().split(|&byte| byte == b','));
        names.any(|nominated| nominated.trim_ascii().eq_ignore_ascii_case(name.as_bytes()))
    }

    proptest! {
        #![proptest_config(config())]

        #[test]
        fn nothing_that_must_stay_behind_survives_and_all_else_does_as_it_came(
            headers in headers(),
            kind in select(vec![Kind::Provider, Kind::Instance]),
        ) {
            let both: [(HeaderMap, Drops); 2] = [
                (request::<AllUp>(kind, &headers), drops_from_request),
                (response::<AllUp>(kind, &headers), drops_from_response),
            ];
            for (kept, drops) in both {
                for name in headers.keys() {
                    let stays = drops(kind, name.as_str()) || is_nominated(&headers, name.as_str());
                    let expected: Vec<_> = headers.get_all(name).iter().filter(|_| !stays).collect();
                    prop_assert_eq!(kept.get_all(name).iter().collect::<Vec<_>>(), expected, "{}", name);
                }
                prop_assert!(kept.keys().all(|name| headers.contains_key(name)), "nothing is added");
                prop_assert!(!kept.contains_key(CONNECTION) && !kept.contains_key(TRANSFER_ENCODING));
            }
        }

        #[test]
        fn a_name_with_a_proxys_prefix_or_an_underscore_stays_behind_whatever_its_rest(rest in "[a-z-]{0,8}") {
            for kind in [Kind::Provider, Kind::Instance] {
                for name in [format!("proxy-{rest}"), format!("x-forwarded-{rest}"), format!("x{rest}_{rest}")] {
                    prop_assert!(drops_from_request(kind, &name), "{}", name);
                }
                let proxy = format!("proxy-{rest}");
                prop_assert!(drops_from_response(kind, &proxy));
            }
        }
    }
}

//! What a relay lets through, decided on the request line's own bytes, and how it says no.

use hyper::StatusCode;

use super::head::Fault;

/// Which of the two relays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Provider,
    Instance,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::Instance => "instance",
        }
    }
}

/// Why a request is refused. Nothing of it went upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No bearer, a wrong one, or two.
    Bearer,
    Method,
    /// A target that does not begin with exactly one slash.
    PathForm,
    /// `%2f`, `%5c` or `%2e`: parsers differ in when they decode it.
    EncodedSeparator,
    Route,
    Upgrade,
    Head(Fault),
    /// hyper read a request where the gate saw none.
    Unjudged,
}

impl Refusal {
    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::Bearer => StatusCode::UNAUTHORIZED,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::Route => StatusCode::FORBIDDEN,
            Self::Head(Fault::TooLarge) => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Self::Head(Fault::Expectation) => StatusCode::EXPECTATION_FAILED,
            Self::PathForm | Self::EncodedSeparator | Self::Upgrade | Self::Head(_) | Self::Unjudged => {
                StatusCode::BAD_REQUEST
            }
        }
    }

    /// Whether the connection cannot be trusted to be in step with its client any more.
    pub(crate) fn ends_connection(self) -> bool {
        matches!(self, Self::Head(_) | Self::Unjudged)
    }
}

/// The provider's two routes below the path `base`; `GET` and `POST` are the only methods.
pub fn provider_route(method: &str, target: &str, base: &str) -> Result<(), Refusal> {
    if !matches!(method, "GET" | "POST") {
        return Err(Refusal::Method);
    }
    one_slash(target)?;
    let lower = target.to_ascii_lowercase();
    if ["%2f", "%5c", "%2e"].iter().any(|encoded| lower.contains(encoded)) {
        return Err(Refusal::EncodedSeparator);
    }
    match (method, target.strip_prefix(base)) {
        ("POST", Some("/chat/completions")) | ("GET", Some("/models")) => Ok(()),
        _ => Err(Refusal::Route),
    }
}

/// Any path of the instance. TRACE would echo what the workload must not see; a fragment never belongs in a target.
pub fn instance_route(method: &str, target: &str) -> Result<(), Refusal> {
    one_slash(target)?;
    if target.contains('#') {
        return Err(Refusal::PathForm);
    }
    if matches!(method.to_ascii_uppercase().as_str(), "TRACE" | "TRACK") {
        return Err(Refusal::Method);
    }
    Ok(())
}

fn one_slash(target: &str) -> Result<(), Refusal> {
    if target.starts_with('/') && !target.starts_with("//") { Ok(()) } else { Err(Refusal::PathForm) }
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, sample::select};

    use super::*;
    use crate::relay::arbitrary::{any_case, config, text_of};

    #[test]
    fn the_provider_has_two_routes_and_nothing_else() {
        let tries = [
            ("POST", "/v1/chat/completions", Ok(())),
            ("GET", "/v1/models", Ok(())),
            ("GET", "/v1/chat/completions", Err(Refusal::Route)),
            ("POST", "/v1/models", Err(Refusal::Route)),
            ("GET", "/", Err(Refusal::Route)),
            ("GET", "/v1", Err(Refusal::Route)),
            ("GET", "/models", Err(Refusal::Route)),
            ("GET", "/v1/models/", Err(Refusal::Route)),
            ("GET", "/v1/models/gpt", Err(Refusal::Route)),
            ("GET", "/v1/Models", Err(Refusal::Route)),
            ("GET", "/v1//models", Err(Refusal::Route)),
            ("GET", "/v1/./models", Err(Refusal::Route)),
            ("GET", "/v1/x/../models", Err(Refusal::Route)),
            ("GET", "/v1\\models", Err(Refusal::Route)),
            ("GET", "/v1/models?", Err(Refusal::Route)),
            ("GET", "/v1/models?key=x", Err(Refusal::Route)),
            ("GET", "/v1/models#", Err(Refusal::Route)),
            ("GET", "/v1/models;x", Err(Refusal::Route)),
            ("GET", "/v1/model%73", Err(Refusal::Route)),
            ("GET", "/v1/%252e%252e/admin", Err(Refusal::Route)),
            ("GET", "/http://evil/", Err(Refusal::Route)),
            ("GET", "/\\evil/v1/models", Err(Refusal::Route)),
            ("GET", "/v1%2fmodels", Err(Refusal::EncodedSeparator)),
            ("GET", "/v1%2Fmodels", Err(Refusal::EncodedSeparator)),
            ("GET", "/v1%5cmodels", Err(Refusal::EncodedSeparator)),
            ("GET", "/v1/%2E%2e/models", Err(Refusal::EncodedSeparator)),
            ("GET", "/v1/models?x=%2f", Err(Refusal::EncodedSeparator)),
            ("GET", "//evil/v1/models", Err(Refusal::PathForm)),
            ("GET", "///evil", Err(Refusal::PathForm)),
            ("GET", "http://evil/v1/models", Err(Refusal::PathForm)),
            ("GET", "http:evil", Err(Refusal::PathForm)),
            ("GET", "*", Err(Refusal::PathForm)),
            ("GET", "@evil/v1/models", Err(Refusal::PathForm)),
            ("GET", ":80/v1/models", Err(Refusal::PathForm)),
            ("GET", "?@evil", Err(Refusal::PathForm)),
            ("GET", "v1/models", Err(Refusal::PathForm)),
            ("GET", "", Err(Refusal::PathForm)),
            ("HEAD", "/v1/models", Err(Refusal::Method)),
            ("PUT", "//evil", Err(Refusal::Method)),
            ("DELETE", "/v1/models", Err(Refusal::Method)),
            ("OPTIONS", "*", Err(Refusal::Method)),
            ("TRACE", "/v1/models", Err(Refusal::Method)),
            ("get", "/v1/models", Err(Refusal::Method)),
            ("Get", "/v1/models", Err(Refusal::Method)),
            ("GETX", "/v1/models", Err(Refusal::Method)),
        ];
        for (method, target, expected) in tries {
            assert_eq!(provider_route(method, target, "/v1"), expected, "{method} {target}");
        }
        assert_eq!(provider_route("GET", "/models", ""), Ok(()));
        assert_eq!(provider_route("GET", "/v1/models", ""), Err(Refusal::Route));
    }

    #[test]
    fn the_instance_takes_every_path_and_no_other_form() {
        for target in ["/", "/api/x?y=z", "/a//b", "/\\evil", "/http://evil/", "/v1/../admin", "/%2e%2e/x"] {
            assert_eq!(instance_route("GET", target), Ok(()), "{target}");
        }
        for target in ["//evil/x", "///evil", "http://evil/x", "*", "evil:80", "@evil", "?x", "", "/a#b"] {
            assert_eq!(instance_route("OPTIONS", target), Err(Refusal::PathForm), "{target}");
        }
        for method in ["TRACE", "trace", "TRACK"] {
            assert_eq!(instance_route(method, "/x"), Err(Refusal::Method), "{method}");
        }
    }

    #[test]
    fn each_relay_has_its_own_name() {
        assert_eq!((Kind::Provider.name(), Kind::Instance.name()), ("provider", "instance"));
    }

    #[test]
    fn every_refusal_has_the_status_that_the_design_gives_it() {
        for (refusal, status, ends) in [
            (Refusal::Bearer, 401, false),
            (Refusal::Method, 405, false),
            (Refusal::PathForm, 400, false),
            (Refusal::EncodedSeparator, 400, false),
            (Refusal::Route, 403, false),
            (Refusal::Upgrade, 400, false),
            (Refusal::Head(Fault::Host), 400, true),
            (Refusal::Head(Fault::TooLarge), 431, true),
            (Refusal::Head(Fault::Expectation), 417, true),
            (Refusal::Unjudged, 400, true),
        ] {
            assert_eq!((refusal.status().as_u16(), refusal.ends_connection()), (status, ends), "{refusal:?}");
        }
    }

    fn method() -> impl Strategy<Value = String> {
        prop_oneof![select(vec!["GET", "POST", "HEAD", "TRACE", "CONNECT"]).prop_flat_map(any_case), any::<String>()]
    }

    fn target() -> impl Strategy<Value = String> {
        text_of(&["/", "/v1", "/models", "/chat/completions", "?", "#", "..", "%2F", "\\", "@evil", "http:"])
    }

    proptest! {
        #![proptest_config(config())]

        #[test]
        fn a_provider_request_is_accepted_where_it_is_one_of_the_two_routes_and_nowhere_else(
            method in method(),
            target in target(),
            base in select(vec!["", "/v1", "/a/b.c"]),
        ) {
            for (method, target) in [
                (method.as_str(), target),
                (method.as_str(), format!("{base}/models")),
                (method.as_str(), format!("{base}/chat/completions")),
                ("GET", format!("{base}/models")),
                ("POST", format!("{base}/chat/completions")),
            ] {
                let listed = (method == "GET" && target == format!("{base}/models"))
                    || (method == "POST" && target == format!("{base}/chat/completions"));
                prop_assert_eq!(provider_route(method, &target, base).is_ok(), listed, "{} {}", method, target);
            }
        }

        #[test]
        fn an_instance_request_is_accepted_where_it_is_a_path_and_no_trace(method in method(), target in target()) {
            let path = target.starts_with('/') && target.chars().nth(1) != Some('/') && !target.contains('#');
            let trace = ["trace", "track"].contains(&method.to_lowercase().as_str());
            prop_assert_eq!(instance_route(&method, &target).is_ok(), path && !trace);
        }
    }
}

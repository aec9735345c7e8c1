//! Where a relay leads: a bare http(s) origin, or for the provider a base URL whose path is the only addition.
//! Parsed by hand, so that each part that is not allowed is named, and nothing is normalised behind our back.

use std::fmt;
use std::net::Ipv6Addr;

use thiserror::Error;

/// Which part of a relay's URL is not allowed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OriginError {
    #[error("scheme: the URL must start with http:// or https://")]
    Scheme,
    #[error("credentials: the URL must not contain a user or password")]
    Credentials,
    #[error("query: the URL must not contain '?'")]
    Query,
    #[error("fragment: the URL must not contain '#'")]
    Fragment,
    #[error("path: a bare origin has none; remove what follows host and port")]
    Path,
    #[error("path: only plain segments are allowed (letters, digits, '-', '.', '_', '~'; no '.', '..' or empty one)")]
    PathForm,
    #[error("host: it is empty")]
    EmptyHost,
    #[error("host: only letters, digits, '-', '.' and '_', or an IPv6 address in brackets, are allowed")]
    HostForm,
    #[error("port: it must be a number from 1 to 65535")]
    Port,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    Http,
    Https,
}

/// Scheme, host and port; the host in lower case and without brackets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    scheme: Scheme,
    host: String,
    port: u16,
}

impl Origin {
    /// `http://host`, with an optional port and one optional slash at the end.
    pub fn parse(url: &str) -> Result<Self, OriginError> {
        let (origin, path) = split(url)?;
        if path.is_empty() || path == "/" { Ok(origin) } else { Err(OriginError::Path) }
    }

    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    pub fn host(&self) -> &str {
        &self.host
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// What the `Host` header says: the port only where it is not the scheme's own.
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port == self.scheme.port() { host } else { format!("{host}:{}", self.port) }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.name(), self.authority())
    }
}

/// An origin and a path below which the provider's two routes lie, such as `https://api.example.com/v1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl {
    origin: Origin,
    path: String,
}

impl BaseUrl {
    pub fn parse(url: &str) -> Result<Self, OriginError> {
        let (origin, path) = split(url)?;
        let path = path.strip_suffix('/').unwrap_or(path);
        if !path.split('/').skip(1).all(is_plain_segment) {
            return Err(OriginError::PathForm);
        }
        Ok(Self { origin, path: path.to_owned() })
    }

    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The path without a slash at its end; empty where there is none.
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl Scheme {
    fn port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }
}

fn split(url: &str) -> Result<(Origin, &str), OriginError> {
    let (scheme, rest) = url.split_once("://").ok_or(OriginError::Scheme)?;
    let scheme = match scheme.to_ascii_lowercase().as_str() {
        "http" => Scheme::Http,
        "https" => Scheme::Https,
        _ => return Err(OriginError::Scheme),
    };
    if rest.contains('#') {
        return Err(OriginError::Fragment);
    }
    if rest.contains('?') {
        return Err(OriginError::Query);
    }
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    if authority.contains('@') {
        return Err(OriginError::Credentials);
    }
    let (host, port) = host_and_port(authority)?;
    Ok((Origin { scheme, host, port: port.unwrap_or(scheme.port()) }, path))
}

fn host_and_port(authority: &str) -> Result<(String, Option<u16>), OriginError> {
    let (host, port) = if let Some(rest) = authority.strip_prefix('[') {
        let (address, port) = rest.split_once(']').ok_or(OriginError::HostForm)?;
        let address: Ipv6Addr = address.parse().map_err(|_| OriginError::HostForm)?;
        let port = if port.is_empty() { None } else { Some(port.strip_prefix(':').ok_or(OriginError::HostForm)?) };
        (address.to_string(), port)
    } else {
        let (host, port) = authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port)));
        if host.is_empty() {
            return Err(OriginError::EmptyHost);
        }
        if !is_host_name(host) {
            return Err(OriginError::HostForm);
        }
        (host.to_ascii_lowercase(), port)
    };
    Ok((host, port.map(parse_port).transpose()?))
}

fn is_host_name(host: &str) -> bool {
    let plain = |label: &str| {
        !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    host.len() <= 253 && host.split('.').all(plain)
}

fn parse_port(port: &str) -> Result<u16, OriginError> {
    if !port.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(OriginError::Port);
    }
    port.parse().ok().filter(|&port| port != 0).ok_or(OriginError::Port)
}

fn is_plain_segment(segment: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    !matches!(segment, "" | "." | "..") && segment.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::relay::arbitrary::{config, text_of};

    #[test]
    fn a_bare_origin_is_accepted_with_and_without_slash_and_port() {
        for (url, shown, host, port) in [
            ("http://h", "http://h", "h", 80),
            ("http://h/", "http://h", "h", 80),
            ("HTTPS://Api.Example.com", "https://api.example.com", "api.example.com", 443),
            ("https://h:443", "https://h", "h", 443),
            ("http://h:443", "http://h:443", "h", 443),
            ("http://127.0.0.1:8080/", "http://127.0.0.1:8080", "127.0.0.1", 8080),
            ("http://[2001:DB8::10]:81", "http://[2001:db8::10]:81", "2001:db8::10", 81),
            ("http://[::1]", "http://[::1]", "::1", 80),
            ("http://my-host_1.test", "http://my-host_1.test", "my-host_1.test", 80),
        ] {
            let origin = Origin::parse(url).expect(url);
            assert_eq!((origin.to_string().as_str(), origin.host(), origin.port()), (shown, host, port));
        }
    }

    #[test]
    fn each_part_that_is_not_allowed_is_named() {
        for (url, error) in [
            ("ftp://h", OriginError::Scheme),
            ("h", OriginError::Scheme),
            ("", OriginError::Scheme),
            ("http:/h", OriginError::Scheme),
            (" http://h", OriginError::Scheme),
            ("file:///etc/passwd", OriginError::Scheme),
            ("http://u@h", OriginError::Credentials),
            ("http://u:p@h", OriginError::Credentials),
            ("http://@h", OriginError::Credentials),
            ("http://h?q", OriginError::Query),
            ("http://h/?", OriginError::Query),
            ("http://h#f", OriginError::Fragment),
            ("http://h/?q#f", OriginError::Fragment),
            ("http://h/v1", OriginError::Path),
            ("http://h//", OriginError::Path),
            ("http://", OriginError::EmptyHost),
            ("http:///", OriginError::EmptyHost),
            ("http://:80", OriginError::EmptyHost),
            ("http://h:0", OriginError::Port),
            ("http://h:", OriginError::Port),
            ("http://h:65536", OriginError::Port),
            ("http://h:+80", OriginError::Port),
            ("http://h:80:80", OriginError::Port),
            ("http://h h", OriginError::HostForm),
            ("http://h\\x", OriginError::HostForm),
            ("http://h\0.evil", OriginError::HostForm),
            ("http://h%00.evil", OriginError::HostForm),
            ("http://h.", OriginError::HostForm),
            ("http://é", OriginError::HostForm),
            ("http://[::1", OriginError::HostForm),
            ("http://[::1]80", OriginError::HostForm),
            ("http://[fe80::1%25eth0]", OriginError::HostForm),
        ] {
            assert_eq!(Origin::parse(url), Err(error), "{url:?}");
        }
    }

    #[test]
    fn a_host_has_at_most_253_characters() {
        let url = |len: usize| format!("http://{}", "h".repeat(len));
        assert!(Origin::parse(&url(253)).is_ok());
        assert_eq!(Origin::parse(&url(254)), Err(OriginError::HostForm));
    }

    #[test]
    fn a_base_url_may_have_a_plain_path_and_nothing_else() {
        for (url, path) in [("https://h/v1", "/v1"), ("https://h/v1/", "/v1"), ("https://h", ""), ("https://h/", "")] {
            assert_eq!(BaseUrl::parse(url).expect(url).path(), path);
        }
        for path in ["//", "/v1//", "/./v1", "/v1/..", "/a//b", "/a%2fb", "/a b", "/a\\b", "/a;b", "/\r\n"] {
            assert_eq!(BaseUrl::parse(&format!("https://h{path}")), Err(OriginError::PathForm), "{path:?}");
        }
        assert_eq!(BaseUrl::parse("https://u:p@h/v1"), Err(OriginError::Credentials));
        assert_eq!(BaseUrl::parse("https://h/v1?x"), Err(OriginError::Query));
        assert_eq!(BaseUrl::parse("https://h/v1#x"), Err(OriginError::Fragment));
    }

    fn url() -> impl Strategy<Value = String> {
        let rest = text_of(&[
            "h",
            "API.example",
            ".",
            "..",
            "127.0.0.1",
            "[::1]",
            "[",
            ":",
            "80",
            "0",
            "/",
            "/v1",
            "@",
            "?",
            "#",
            "%",
        ]);
        (prop::sample::select(vec!["http://", "HTTPS://", "ftp://", ""]), rest)
            .prop_map(|(scheme, rest)| scheme.to_owned() + &rest)
    }

    proptest! {
        #![proptest_config(config())]

        #[test]
        fn an_origin_that_is_accepted_is_written_as_one_that_reads_the_same(url in url()) {
            if let Ok(origin) = Origin::parse(&url) {
                prop_assert_eq!(Origin::parse(&origin.to_string()), Ok(origin.clone()));
                prop_assert!(origin.port() != 0 && !origin.host().bytes().any(|byte| byte.is_ascii_uppercase()));
                let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:".contains(&byte);
                prop_assert!(!origin.host().is_empty() && origin.host().bytes().all(plain));
            }
        }

        #[test]
        fn a_base_url_that_is_accepted_is_an_origin_and_a_plain_path(url in url()) {
            if let Ok(base) = BaseUrl::parse(&url) {
                let written = format!("{}{}", base.origin(), base.path());
                prop_assert_eq!(BaseUrl::parse(&written), Ok(base.clone()));
                prop_assert_eq!(Origin::parse(&base.origin().to_string()), Ok(base.origin().clone()));
                prop_assert!(base.path().is_empty() || base.path().starts_with('/') && !base.path().ends_with('/'));
                prop_assert!(!base.path().contains(['?', '#', '%', '@', '\\', ' ']) && !base.path().contains("//"));
            }
        }
    }
}

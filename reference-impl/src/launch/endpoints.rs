//! The URLs that a launch is given: what is refused, and the path that the command's base URL keeps.

use hyper::Uri;

use super::error::LaunchError;

/// Checks a provider URL; returns its path without a slash at the end.
pub(crate) fn provider_base_path(url: &str) -> Result<String, LaunchError> {
    if url.is_empty() {
        return Err(LaunchError::NoProvider);
    }
    Ok(parse("--provider", url)?.path().trim_end_matches('/').to_owned())
}

/// Checks that an instance URL is a bare origin.
pub(crate) fn check_instance(url: &str) -> Result<(), LaunchError> {
    let bare = parse("--instance", url)?.path() == "/";
    bare.then_some(()).ok_or_else(|| refuse("--instance", url, "it must be a bare origin, without a path"))
}

fn parse(option: &'static str, url: &str) -> Result<Uri, LaunchError> {
    if url.contains('#') {
        return Err(refuse(option, url, "it has a fragment"));
    }
    let uri: Uri = url.parse().map_err(|_| refuse(option, url, "it is not a URL"))?;
    let authority = uri.authority().ok_or_else(|| refuse(option, url, "it names no host"))?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err(refuse(option, url, "its scheme is neither http nor https"));
    }
    if authority.as_str().contains('@') {
        // The URL is shown to users; a password in it must not be.
        return Err(refuse(option, "…", "it carries user information; put the key into the key file"));
    }
    if authority.host().is_empty() {
        return Err(refuse(option, url, "it names no host"));
    }
    if uri.query().is_some() {
        return Err(refuse(option, url, "it has a query"));
    }
    Ok(uri)
}

fn refuse(option: &'static str, url: &str, reason: &'static str) -> LaunchError {
    LaunchError::Url { option, url: url.to_owned(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_path_has_no_slash_at_its_end() {
        for (url, path) in [
            ("https://api.test", ""),
            ("https://api.test/", ""),
            ("http://203.0.113.10:8080/v1", "/v1"),
            ("https://api.test/openai/v1/", "/openai/v1"),
            ("http://[2001:db8::1]:80/v1", "/v1"),
        ] {
            assert_eq!(provider_base_path(url).expect("accepted"), path, "{url}");
        }
    }

    #[test]
    fn urls_that_say_more_than_an_origin_and_path_are_refused() {
        for url in
            ["", "api.test", "/v1", "ftp://api.test/", "https://u:p@api.test", "https://api.test/?a=b", "http://a/#f"]
        {
            assert!(provider_base_path(url).is_err(), "{url}");
        }
    }

    #[test]
    fn a_password_in_a_url_is_not_repeated() {
        let error = provider_base_path("https://user:hunter2@api.test").expect_err("refused").to_string();
        assert!(!error.contains("hunter2"), "{error}");
    }

    #[test]
    fn an_instance_is_a_bare_origin() {
        check_instance("https://instance.test:8443").expect("accepted");
        check_instance("https://instance.test/").expect("accepted");
        check_instance("https://instance.test/api").expect_err("refused");
    }
}

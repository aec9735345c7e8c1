//! What a launch is given.

use std::ffi::OsString;
use std::path::PathBuf;

use super::error::LaunchError;
use crate::relay::{BaseUrl, Origin};

/// One command and what it may reach, as the command line says it.
#[derive(Clone, Debug, Default)]
pub struct LaunchSpec {
    /// The command and its arguments.
    pub argv: Vec<OsString>,
    /// Base URL of the provider: http or https, without userinfo, query or fragment.
    pub provider: String,
    /// A file that only its owner can read, holding the provider's key.
    pub key_file: PathBuf,
    /// Bare http or https origin of the instance, if the command may call one.
    pub instance: Option<String>,
    /// The directory that the command runs in and may write; `None` is the current one.
    pub workspace: Option<PathBuf>,
    pub read_only: Vec<PathBuf>,
    pub read_write: Vec<PathBuf>,
    /// Whom to become when started as root: a name or a uid.
    pub user: Option<String>,
    /// Variables to pass on beside the allow-list.
    pub pass_environment: Vec<OsString>,
}

/// Where the two routes lead, parsed.
#[derive(Clone, Debug)]
pub(crate) struct Routes {
    pub provider: BaseUrl,
    pub instance: Option<Origin>,
}

impl LaunchSpec {
    /// The routes, if each is an origin that a relay can lead to.
    pub(crate) fn routes(&self) -> Result<Routes, LaunchError> {
        if self.provider.is_empty() {
            return Err(LaunchError::NoProvider);
        }
        let unusable = |option| move |part| LaunchError::Url { option, part };
        let provider = BaseUrl::parse(&self.provider).map_err(unusable("--provider"))?;
        let instance = self.instance.as_deref().map(Origin::parse).transpose().map_err(unusable("--instance"))?;
        Ok(Routes { provider, instance })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(provider: &str, instance: Option<&str>) -> String {
        let instance = instance.map(str::to_owned);
        let spec = LaunchSpec { provider: provider.to_owned(), instance, ..LaunchSpec::default() };
        spec.routes().expect_err("refused").to_string()
    }

    #[test]
    fn an_error_names_the_option_and_the_part() {
        assert!(refusal("", None).contains("--provider"));
        assert!(refusal("http://h?q", None).starts_with("--provider cannot be used: query"));
        assert!(refusal("http://h", Some("http://h/v1")).starts_with("--instance cannot be used: path"));
    }

    #[test]
    fn a_password_in_a_url_is_not_repeated() {
        let error = refusal("https://user:hunter2@api.test", None);
        assert!(error.contains("credentials") && !error.contains("hunter2"), "{error}");
    }
}

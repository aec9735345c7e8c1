//! What a launch is given, and what it gives to the relays.

use std::ffi::OsString;
use std::fmt;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

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

/// Bytes that are never printed.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    pub(crate) fn new(text: String) -> Self {
        Self(text)
    }

    /// The secret itself.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// What the relays serve with. The listeners are bound, 0600, and non-blocking.
#[derive(Debug)]
pub struct RelayInputs {
    pub provider_listener: UnixListener,
    pub instance_listener: Option<UnixListener>,
    /// The provider's real key, without surrounding white space.
    pub key: Secret,
    /// What the command must present instead, made for this launch.
    pub bearer: Secret,
}

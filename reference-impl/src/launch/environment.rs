//! The environment of the workload: an allow-list of the launcher's own, and what the launcher sets.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use super::error::LaunchError;
use super::identity::Identity;
use super::root::{BEARER_FILE, HOME};
use crate::bridge::{INSTANCE_PORT, PROVIDER_PORT};
use crate::guards::Guards;

const ALLOWED: [&str; 9] =
    ["PATH", "LANG", "TERM", "USER", "LOGNAME", "NO_COLOR", "CI", "SSL_CERT_FILE", "SSL_CERT_DIR"];
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// What the launcher itself puts into the environment.
pub(crate) struct Given<'a> {
    pub base_path: &'a str,
    pub bearer: &'a str,
    pub has_instance: bool,
}

/// `NAME=value` strings for the workload.
pub(crate) fn environment<G: Guards>(
    own: impl Iterator<Item = (OsString, OsString)>,
    pass: &[OsString],
    identity: &Identity,
    given: Given<'_>,
) -> Result<Vec<CString>, LaunchError> {
    let own: BTreeMap<OsString, OsString> = own.collect();
    if let Some(missing) = pass.iter().find(|name| !own.contains_key(*name)) {
        return Err(LaunchError::NoVariable(missing.to_string_lossy().into_owned()));
    }
    let mut variables: BTreeMap<OsString, OsString> = own
        .into_iter()
        .filter(|(name, _)| !G::passes_environment_by_allow_list() || is_allowed(name) || pass.contains(name))
        .collect();
    variables.entry("PATH".into()).or_insert_with(|| DEFAULT_PATH.into());
    if identity.changes {
        // The names are root's.
        for variable in ["USER", "LOGNAME"] {
            let name = identity.name.clone().unwrap_or_else(|| identity.uid.to_string());
            variables.insert(variable.into(), name.into());
        }
    }
    if G::gives_fresh_home() {
        variables.insert("HOME".into(), HOME.into());
        variables.insert("TMPDIR".into(), "/tmp".into());
    }
    variables.insert("OPENAI_BASE_URL".into(), format!("http://127.0.0.1:{PROVIDER_PORT}{}", given.base_path).into());
    variables.insert("OPENAI_API_KEY".into(), given.bearer.into());
    variables.insert("WATERTIGHT_BEARER_FILE".into(), BEARER_FILE.into());
    variables.remove(OsStr::new("WATERTIGHT_INSTANCE_URL"));
    if given.has_instance {
        variables.insert("WATERTIGHT_INSTANCE_URL".into(), format!("http://127.0.0.1:{INSTANCE_PORT}").into());
    }
    variables.into_iter().map(|(name, value)| join(name, value)).collect()
}

fn is_allowed(name: &OsStr) -> bool {
    let is_locale = |rest: &[u8]| !rest.is_empty() && rest.iter().all(|b| b.is_ascii_uppercase() || *b == b'_');
    ALLOWED.iter().any(|allowed| name == *allowed) || name.as_bytes().strip_prefix(b"LC_").is_some_and(is_locale)
}

fn join(name: OsString, value: OsString) -> Result<CString, LaunchError> {
    let shown = name.to_string_lossy().into_owned();
    let mut entry = name.into_vec();
    entry.push(b'=');
    entry.extend(value.into_vec());
    CString::new(entry).map_err(|_| LaunchError::ZeroByte(shown))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guards::AllUp;

    fn of(own: &[(&str, &str)], pass: &[&str], changes: bool) -> Result<Vec<String>, LaunchError> {
        let identity = Identity { uid: 1777, gid: 1777, name: Some("agent".into()), home: None, changes };
        let own = own.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let pass: Vec<OsString> = pass.iter().map(OsString::from).collect();
        let given = Given { base_path: "/v1", bearer: "b", has_instance: true };
        let variables = environment::<AllUp>(own, &pass, &identity, given)?;
        Ok(variables.into_iter().map(|entry| entry.into_string().expect("UTF-8")).collect())
    }

    #[test]
    fn only_listed_and_named_variables_pass() {
        let own = [("LC_ALL", "C"), ("LC_x", "no"), ("AWS_SECRET", "no"), ("KEEP", "yes"), ("LD_PRELOAD", "no")];
        let variables = of(&own, &["KEEP"], false).expect("built");
        assert_eq!(
            variables,
            [
                "HOME=/run/watertight/home",
                "KEEP=yes",
                "LC_ALL=C",
                "OPENAI_API_KEY=b",
                "OPENAI_BASE_URL=http://127.0.0.1:8765/v1",
                "PATH=/usr/local/bin:/usr/bin:/bin",
                "TMPDIR=/tmp",
                "WATERTIGHT_BEARER_FILE=/run/watertight/bearer",
                "WATERTIGHT_INSTANCE_URL=http://127.0.0.1:8766",
            ]
        );
    }

    #[test]
    fn a_variable_that_is_not_set_cannot_be_passed() {
        of(&[], &["MISSING"], false).expect_err("refused");
    }

    #[test]
    fn the_name_of_root_does_not_pass_with_another_uid() {
        let variables = of(&[("USER", "root")], &[], true).expect("built");
        assert!(variables.contains(&"USER=agent".to_owned()) && variables.contains(&"LOGNAME=agent".to_owned()));
    }
}

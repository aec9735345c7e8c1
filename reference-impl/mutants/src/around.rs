//! What some mutants do around a launch: helpers that nobody ends, files that nobody removes, a key that goes along.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use nix::unistd::Pid;
use watertight_reference::launch::LaunchSpec;

use crate::{
    sys,
    way::netlink,
    which::{any, is},
};

/// How long a helper stays that nobody ends: longer than anything waits for it.
const STAYS: Duration = Duration::from_secs(30);
/// Later than a launcher is killed early, sooner than a workload has done anything.
const LATE: Duration = Duration::from_millis(15);

/// What has to be done once the launch has ended by itself.
pub struct Around {
    directory: Option<PathBuf>,
    /// Processes that end with a launch that ends by itself.
    helpers: Vec<Pid>,
}

impl Around {
    /// Before the launch, as whoever started it.
    pub fn before(spec: &mut LaunchSpec) -> io::Result<Self> {
        let mut helpers = vec![];
        if is("orphans-survive") {
            sys::helper(stay)?;
        }
        if is("watch-launcher-late") {
            let tied = sys::helper(|| {
                std::thread::sleep(LATE);
                if sys::end_with_parent().is_ok() {
                    stay();
                }
            })?;
            helpers.push(tied);
        }
        if is("leave-a-link") {
            let [one, other] = ["a", "b"].map(|end| format!("left{}{end}", std::process::id()));
            netlink::add_pair(&one, 0, [2, 0, 0, 0, 0, 1], &other)?;
        }
        if is("name-the-network-namespace") {
            let name = PathBuf::from(format!("/run/watertight-{}", std::process::id()));
            fs::write(&name, "")?;
            sys::name_a_network_namespace(&name)?;
        }
        let directory = any(&["cleanup-at-exit-only", "no-cleanup"]).then(|| {
            let directory = std::env::temp_dir().join(format!("watertight-{}", std::process::id()));
            // Where it cannot be made the mutant survives, which is said of it.
            let _ = fs::create_dir(&directory);
            directory
        });
        give_key(spec)?;
        if is("home-is-workspace") {
            let mut home = OsString::from("HOME=");
            home.push(std::env::current_dir()?);
            spec.argv.splice(0..0, [OsString::from("/usr/bin/env"), home]);
        }
        if is("become-another-user") {
            become_another(spec)?;
        }
        Ok(Self { directory, helpers })
    }

    /// After it, with the status that it had.
    pub fn after(self, status: i32) -> io::Result<i32> {
        if let Some(directory) = self.directory.filter(|_| is("cleanup-at-exit-only")) {
            fs::remove_dir(directory)?;
        }
        for helper in self.helpers {
            sys::end(helper)?;
        }
        // 127: the command is not there, and the relays' listeners are.
        if status == 127 && is("keep-listening-after-failure") {
            sys::helper(stay)?;
        }
        Ok(if is("always-exit-zero") { 0 } else { status })
    }
}

/// What a helper does that nobody ends: there is no event, since that nothing ends it is what is wrong with it.
pub fn stay() {
    std::thread::sleep(STAYS);
}

/// Prepares, as root, a launch for somebody else than whom the command line names.
fn become_another(spec: &mut LaunchSpec) -> io::Result<()> {
    const OTHER: u32 = 1778;
    let place = Path::new("/home/other");
    let (work, key) = (place.join("work"), place.join("key"));
    fs::create_dir_all(&work)?;
    fs::copy(&spec.key_file, &key)?;
    let marker = work.join("marker");
    // What the workspace held goes along.
    fs::copy("marker", &marker)?;
    for path in [place, &work, &key, &marker] {
        std::os::unix::fs::chown(path, Some(OTHER), Some(OTHER))?;
    }
    std::env::set_current_dir(&work)?;
    (spec.user, spec.key_file, spec.workspace) = (Some(OTHER.to_string()), key, Some(work));
    Ok(())
}

/// Lets the provider's key into the sandbox.
fn give_key(spec: &mut LaunchSpec) -> io::Result<()> {
    let key = || -> io::Result<String> { Ok(fs::read_to_string(&spec.key_file)?.trim().to_owned()) };
    if is("key-in-environment") {
        set("PROVIDER_KEY", key()?);
        spec.pass_environment.push("PROVIDER_KEY".into());
    }
    if is("key-in-argument") {
        // A shell between the sandbox and the workload, which has it in its arguments.
        let shell = ["/bin/sh", "-c", r#"shift; "$@"; exit $?"#, "sh", &key()?].map(OsString::from);
        spec.argv.splice(0..0, shell);
    }
    if is("key-in-config") {
        let file = Path::new("provider.json");
        fs::write(file, format!(r#"{{"key":"{}"}}"#, key()?))?;
    }
    Ok(())
}

fn set(name: &str, value: impl Into<OsString>) {
    sys::set_variable(name, value.into());
}

//! The privileges of the workload, taken away in the last moments before its first instruction.

use std::io;

use nix::sys::prctl::set_no_new_privs;
use nix::sys::resource::{Resource, setrlimit};

use super::error::{LaunchError, Step, require};
use super::filter::program;
use crate::guards::{CapSets, Guards};
use crate::sys::privileges::{
    capability_sets, clear_ambient_set, clear_bounding_set, install_filter, join_fresh_session_keyring,
    lock_securebits, raise_ambient, set_capability_sets,
};

/// What init and the workload share: no key of the launcher's session, no core file.
pub(crate) fn forget_session<G: Guards>() -> Result<(), LaunchError> {
    if G::joins_fresh_session_keyring() {
        let joined = match join_fresh_session_keyring() {
            // A kernel without keyrings has none to inherit.
            Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => Ok(()),
            result => result.step("join a fresh session keyring"),
        };
        require::<G>(joined)?;
    }
    if G::forbids_core_dumps() {
        require::<G>(setrlimit(Resource::RLIMIT_CORE, 0, 0).step("forbid core dumps"))?;
    }
    Ok(())
}

/// Confines the calling thread for good. What it executes afterwards starts with nothing to give up.
pub(crate) fn confine_workload<G: Guards>() -> Result<(), LaunchError> {
    if G::sets_no_new_privs() {
        require::<G>(set_no_new_privs().step("set no_new_privs"))?;
    }
    if G::filters_system_calls() {
        let advice = "; a kernel with CONFIG_SECCOMP_FILTER is needed";
        require::<G>(install_filter(&program::<G>()?).step_or("install the system call filter", advice))?;
    }
    require::<G>(drop_capabilities(G::capability_sets_to_drop(), G::locks_securebits()).step("drop capabilities"))
}

/// Init needs nothing more, once everything is set up. It executes nothing, so its bounding set, which takes forty system
/// calls to clear while the workload waits, can stay: with no_new_privs nothing comes of it.
pub(crate) fn drop_init_privileges() -> Result<(), LaunchError> {
    set_no_new_privs().step("set no_new_privs")?;
    drop_capabilities(CapSets { bounding: false, ..CapSets::ALL }, true).step("drop the capabilities of init")
}

fn drop_capabilities(drop: CapSets, securebits: bool) -> io::Result<()> {
    let [effective, permitted, _] = capability_sets()?;
    let kept = |dropped: bool, set: u64| if dropped { 0 } else { set };
    if !(drop.ambient && drop.inheritable) {
        // While the bounding set still allows it.
        set_capability_sets([effective, permitted, permitted])?;
    }
    if drop.ambient {
        clear_ambient_set()?;
    } else {
        raise_ambient(permitted)?;
    }
    if securebits {
        lock_securebits()?;
    }
    if drop.bounding {
        clear_bounding_set()?;
    }
    // A capability can be ambient only while it is permitted and inheritable.
    let inheritable = kept(drop.inheritable && drop.ambient, permitted);
    let permitted = kept(drop.permitted && drop.ambient, permitted);
    set_capability_sets([kept(drop.effective, effective) & permitted, permitted, inheritable])
}

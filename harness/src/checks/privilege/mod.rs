//! PRIV: what the workload may do, whoever it says it is.

mod capability_sets;
mod file_access;
mod link_down;
mod mount;
mod nested_namespaces_reach_nothing;
mod no_new_privs;
mod no_user_namespace;
mod outer_identity;

use crate::check::Check;

pub static CHECKS: &[&Check] = &[
    &capability_sets::CHECK,
    &no_new_privs::CHECK,
    &no_user_namespace::CHECK,
    &nested_namespaces_reach_nothing::CHECK,
    &mount::CHECK,
    &link_down::CHECK,
    &outer_identity::CHECK,
    &file_access::CHECK,
];

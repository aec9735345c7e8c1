//! DNS: no name gets out, since a name alone can carry a secret.

mod encrypted;
mod libc_resolver;
mod multicast_names;
mod queries_by_hand;
mod relays_resolve_nothing;
mod resolver_daemons;

use crate::check::Check;

pub static CHECKS: &[&Check] = &[
    &libc_resolver::CHECK,
    &queries_by_hand::CHECK,
    &encrypted::CHECK,
    &multicast_names::CHECK,
    &resolver_daemons::CHECK,
    &relays_resolve_nothing::CHECK,
];
